import Glibc

@testable import UncurlReactor

/// Two ends of a connection, and blocking help for tests that need no loop.
enum Wire {
    /// A pair of unix sockets, nonblocking.
    static func pair() -> (CInt, CInt) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return (-1, -1) }
        return (ends[0], ends[1])
    }

    /// Waits until `events` hold; false after a minute.
    @discardableResult
    static func wait(_ fd: CInt, for events: Int32) -> Bool {
        var entry = pollfd(fd: fd, events: Int16(events), revents: 0)
        return poll(&entry, 1, 60_000) == 1
    }

    static func send(_ fd: CInt, _ text: String) {
        let bytes = Array(text.utf8)
        _ = write(fd, bytes, bytes.count)
    }

    /// Reads until the end of the stream, or nil on an error.
    static func readAll(_ fd: CInt) -> String? {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while wait(fd, for: POLLIN) {
            let count = read(fd, &buffer, buffer.count)
            if count == 0 { return String(decoding: all, as: UTF8.self) }
            if count < 0 { return nil }
            all += buffer[..<count]
        }
        return nil
    }
}

/// Both ends of a TCP connection.
struct Connection: ~Copyable {
    var client: Socket
    var server: Socket
}

extension Socket {
    /// Closes with RST.
    consuming func resetNow() { resetOnClose() }
}

/// A listening socket without a loop, for peers that the test drives by hand.
final class Peer {
    private let listening: OwnedFD
    let address: SocketAddress

    init(at address: SocketAddress = .loopback(), backlog: CInt = 16) throws {
        let socket = try Socket(address.family)
        try socket.bind(address)
        guard listen(socket.number, backlog) == 0 else { throw Errno.last }
        self.address = socket.localAddress ?? address
        listening = OwnedFD(taking: socket.release())
    }

    /// Waits for the next connection.
    func accept() throws -> Socket {
        guard Wire.wait(listening.number, for: POLLIN) else { throw Errno.timedOut }
        let number = Glibc.accept(listening.number, nil, nil)
        guard number >= 0 else { throw Errno.last }
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        return Socket(adopting: number)
    }

    /// A connection whose handshake is over, and the peer's end of it.
    func connected() throws -> Connection {
        let client = try Socket(address.family)
        _ = try client.connect(to: address)
        Wire.wait(client.number, for: POLLOUT)
        try client.finishConnect()
        let server = try accept()
        return Connection(client: client, server: server)
    }

    /// Fills the backlog, so that the next TCP connect hangs in its SYN and the next unix one gets EAGAIN.
    func fill() throws -> [Int32] {
        var held: [Int32] = []
        for _ in 0..<4 {
            let socket = try Socket(address.family)
            do {
                guard try !socket.connect(to: address) else {
                    held.append(socket.release())
                    continue
                }
            } catch {
                break
            }
            var entry = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
            let connected = poll(&entry, 1, 20) == 1
            held.append(socket.release())
            if !connected { break }
        }
        return held
    }
}
