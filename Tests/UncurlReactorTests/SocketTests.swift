import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Sockets", .ownThread)
struct SocketTests {
    private let buffer = ReadBuffer()

    private func text(_ count: Int) -> String {
        buffer.withBytes(count) { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    private func write(_ socket: borrowing Socket, _ text: String) throws -> Int? {
        try socket.write(Array(text.utf8).span)
    }

    @Test("bytes arrive, and an empty socket would block")
    func bytes() throws {
        let ends = try Peer().connected()
        #expect(try ends.client.read(into: buffer) == .wouldBlock)
        #expect(try write(ends.server, "hello") == 5)
        Wire.wait(ends.client.number, for: POLLIN)
        #expect(try ends.client.read(into: buffer) == .bytes(5))
        #expect(text(5) == "hello")
    }

    @Test("two pieces leave as one")
    func gathered() throws {
        let ends = try Peer().connected()
        #expect(try ends.client.write(Array("head ".utf8).span, Array("body".utf8).span) == 9)
        Wire.wait(ends.server.number, for: POLLIN)
        #expect(try ends.server.read(into: buffer) == .bytes(9))
        #expect(text(9) == "head body")
    }

    @Test("a full socket takes nothing more, and says so without an error")
    func full() throws {
        let ends = try Peer().connected()
        let chunk = [UInt8](repeating: 1, count: 1 << 20)
        var sent = 0
        while let count = try ends.client.write(chunk.span) { sent += count }
        #expect(sent > 0)
        #expect(ends.server.probe() == .strayBytes)
    }

    @Test("a limit on what lies unread holds the sender back")
    func unreadLimit() throws {
        let taken = try [false, true].map { isLimited in
            let ends = try Peer().connected()
            if isLimited { try ends.server.limitUnread(to: 4096) }
            try ends.client.setOption(SOL_SOCKET, SO_SNDBUF, 4096)
            let chunk = [UInt8](repeating: 1, count: 4096)
            var sent = 0
            while let count = try ends.client.write(chunk.span) { sent += count }
            return sent
        }
        #expect(taken[1] > 0 && taken[1] < taken[0] / 2, "\(taken)")
    }

    @Test("after our FIN the peer may go on; after its FIN what came before is read first")
    func halfClose() throws {
        let ends = try Peer().connected()
        _ = try write(ends.client, "question")
        ends.client.shutdownWrite()
        Wire.wait(ends.server.number, for: POLLIN)
        #expect(try ends.server.read(into: buffer) == .bytes(8))
        #expect(try ends.server.read(into: buffer) == .endOfStream)
        _ = try write(ends.server, "answer")
        ends.server.shutdownWrite()
        Wire.wait(ends.client.number, for: POLLIN)
        #expect(try ends.client.read(into: buffer) == .bytes(6))
        #expect(try ends.client.read(into: buffer) == .endOfStream)
    }

    @Test("an RST reads as ECONNRESET, and writing after it never raises SIGPIPE")
    func reset() throws {
        let ends = try Peer().connected()
        ends.server.resetNow()
        let client = Socket(adopting: ends.client.release())
        Wire.wait(client.number, for: POLLIN)
        #expect(throws: Errno.connectionReset) { _ = try client.read(into: buffer) }
        #expect(throws: Errno.brokenPipe) { _ = try write(client, "x") }
    }

    @Test("a waiting error can be taken from the socket, once")
    func pendingError() throws {
        let ends = try Peer().connected()
        ends.server.resetNow()
        let client = Socket(adopting: ends.client.release())
        Wire.wait(client.number, for: POLLIN)
        #expect(client.pendingError == .connectionReset)
        #expect(client.pendingError == nil)
    }

    @Test("an idle connection is quiet, has stray bytes, or has ended")
    func probe() throws {
        let ends = try Peer().connected()
        #expect(ends.client.probe() == .quiet)
        _ = try write(ends.server, "stray")
        Wire.wait(ends.client.number, for: POLLIN)
        #expect(ends.client.probe() == .strayBytes)
        #expect(try ends.client.read(into: buffer) == .bytes(5))
        ends.server.shutdownWrite()
        Wire.wait(ends.client.number, for: POLLIN)
        #expect(ends.client.probe() == .ended)
    }

    @Test("a refused connect says so when it is finished")
    func refused() throws {
        let address = try Peer().address
        let socket = try Socket(.v4)
        if try !socket.connect(to: address) { Wire.wait(socket.number, for: POLLOUT) }
        #expect(throws: Errno.connectionRefused) { try socket.finishConnect() }
    }

    @Test("a connection to itself is a refusal: no server is there")
    func selfConnect() throws {
        let socket = try Socket(.v4)
        try socket.bind(.loopback())
        guard let own = socket.localAddress else { throw Errno.invalidArgument }
        _ = try socket.connect(to: own)
        Wire.wait(socket.number, for: POLLOUT)
        #expect(throws: Errno.connectionRefused) { try socket.finishConnect() }
        #expect(throws: Errno.connectionRefused) { try socket.finishConnect(to: own) }
    }

    @Test("a local address is where the connection comes from", arguments: [0x7F00_0001, 0x7F00_0042] as [UInt32])
    func localAddress(bits: UInt32) throws {
        let peer = try Peer()
        let socket = try Socket(.v4)
        try socket.bindLocal(.v4(IPv4Address(bits: bits), port: 0))
        _ = try socket.connect(to: peer.address)
        Wire.wait(socket.number, for: POLLOUT)
        try socket.finishConnect()
        let server = try peer.accept()
        #expect(server.peerAddress == socket.localAddress)
        guard case .v4(let address, _) = server.peerAddress else { throw Errno.invalidArgument }
        #expect(address.bits == bits)
    }

    @Test("descriptors pass from hand to hand, closed by the last")
    func adopting() throws {
        let ends = try Peer().connected()
        let moved = Socket(adopting: ends.client.release())
        #expect(try write(moved, "x") == 1)
        Wire.wait(ends.server.number, for: POLLIN)
        #expect(try ends.server.read(into: buffer) == .bytes(1))
    }
}
