import Glibc
import ScriptedPeer
import TestSupport
import Testing
import UncurlReactor

@Suite(.ownThread)
struct RawServerTests {
    private let response = Array("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".utf8)
    private let request = "GET / HTTP/1.1\r\nhost: a\r\n\r\n"

    @Test("each connection plays its own script, and later connections the default")
    func scriptsByConnection() throws {
        let server = try RawServer.start(
            [[.send("one"), .close], [.send("two"), .close]],
            otherwise: [.send("more"), .close]
        )
        defer { server.stop() }
        for expected in ["one", "two", "more", "more"] {
            let client = try RawClient(server.address)
            #expect(try client.receiveUntilEnd() == Array(expected.utf8))
        }
        #expect(try server.waitForConnections(4).count == 4)
    }

    @Test("a request includes its content, with a length or in chunks, and the next one begins after it")
    func wholeRequests() throws {
        let server = try RawServer.start([[.receive(.request), .send("a"), .startOver]])
        defer { server.stop() }
        let client = try RawClient(server.address)
        for whole in [
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nfour", request,
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        ] {
            let steps = (server.connections.first?.stepsDone ?? 0)
            try client.send(String(whole.dropLast(1)))
            try server.waitForBytes(whole.utf8.count - 1, on: 0)
            #expect((server.connections.first?.stepsDone ?? 0) == steps)
            try client.send(String(whole.suffix(1)))
            #expect(try client.receive(1) == Array("a".utf8))
        }
    }

    @Test("what the client sends is recorded byte for byte, with its FIN")
    func records() throws {
        let server = try RawServer.start()
        defer { server.stop() }
        let before = Instant.current()
        let client = try RawClient(server.address)
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try client.send(bytes)
        client.finish()
        let record = try server.waitForEnd(of: 0)
        #expect(record.received == bytes)
        #expect(record.sawFinish && !record.sawReset)
        #expect(record.connected > before)
        #expect(record.arrivals.last?.total == bytes.count)
        #expect(
            zip(record.arrivals, record.arrivals.dropFirst()).allSatisfy { $0.time <= $1.time && $0.total < $1.total }
        )
    }

    @Test("a client's RST and its FIN are recorded separately")
    func recordsReset() throws {
        let server = try RawServer.start()
        defer { server.stop() }
        let client = try RawClient(server.address)
        try client.send("x")
        try server.waitForBytes(1, on: 0)
        client.reset()
        let record = try server.waitForEnd(of: 0)
        #expect(record.sawReset && !record.sawFinish)
        #expect(record.received == [0x78])
    }

    @Test("a response cut at any offset by FIN arrives up to that offset", arguments: [0, 1, 17, 40, 44])
    func cutByFin(offset: Int) throws {
        let server = try RawServer.start([.cutting(response, at: offset, ending: .fin)])
        defer { server.stop() }
        let client = try RawClient(server.address)
        try client.send(request)
        #expect(try client.receiveUntilEnd() == Array(response.prefix(offset)))
    }

    @Test("a response cut by RST ends in ECONNRESET")
    func cutByReset() throws {
        let server = try RawServer.start([.cutting(response, at: 20, ending: .reset)])
        defer { server.stop() }
        let client = try RawClient(server.address)
        try client.send(request)
        #expect(throws: RawClient.Failure.self) {
            _ = try client.receiveUntilEnd()
        }
        #expect(errno == ECONNRESET)
    }

    @Test("a stalled connection stops reading, so that the client's sends block")
    func stall() throws {
        let server = try RawServer.start([[.receive(.bytes(1)), .stall]])
        defer { server.stop() }
        let client = try RawClient(server.address)
        try client.send("x")
        try server.wait(for: 0, "stall") { $0.stepsDone == 2 }
        let piece = [UInt8](repeating: 0, count: 1 << 16)
        var sent = 0
        while true {
            let count = send(client.fd, piece, piece.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            if count < 0 { break }
            sent += count
            guard sent < 1 << 28 else { break }
        }
        #expect(errno == EAGAIN)
        #expect(server.received(0).count == 1)
        client.finish()
        #expect(server.connections[0].isClosed == false)
    }

    @Test("a gate holds the rest of a response back until the test opens it")
    func gate() throws {
        let gate = RawGate()
        let server = try RawServer.start([.pausing(response, at: 30, until: gate)])
        defer { server.stop() }
        let client = try RawClient(server.address)
        try client.send(request)
        #expect(try client.receive(30) == Array(response.prefix(30)))
        var one: UInt8 = 0
        #expect(recv(client.fd, &one, 1, Int32(MSG_DONTWAIT)) == -1)
        gate.open()
        #expect(try client.receive(response.count - 30) == Array(response.dropFirst(30)))
    }

    @Test("a pause keeps the next bytes back for at least its time")
    func pause() throws {
        let start = Instant.current()
        let server = try RawServer.start([[.send("a"), .pause(.milliseconds(40)), .send("b"), .close]])
        defer { server.stop() }
        let client = try RawClient(server.address)
        #expect(try client.receive(2) == [0x61, 0x62])
        #expect(Instant.current().nanoseconds(since: start) >= 40_000_000)
    }

    @Test("FIN leaves the reading side open: what the client sends after it is recorded")
    func halfClose() throws {
        let server = try RawServer.start([[.send("bye"), .finish, .receive(.endOfStream), .close]])
        defer { server.stop() }
        let client = try RawClient(server.address)
        #expect(try client.receiveUntilEnd() == Array("bye".utf8))
        try client.send("still here")
        client.finish()
        let record = try server.wait(for: 0, "close") { $0.isClosed }
        #expect(record.receivedText == "still here")
    }

    @Test("a script that starts over answers request after request, also those sent together")
    func startOver() throws {
        let server = try RawServer.start(otherwise: .answering(response))
        defer { server.stop() }
        let client = try RawClient(server.address)
        try client.send(request + request)
        #expect(try client.receive(response.count * 2) == response + response)
        try client.send(request)
        #expect(try client.receive(response.count) == response)
        #expect(server.received(0) == Array((request + request + request).utf8))
    }

    @Test("a response larger than the socket's buffers arrives whole")
    func large() throws {
        let bytes = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let server = try RawServer.start([[.send(bytes), .close]])
        defer { server.stop() }
        let client = try RawClient(server.address)
        #expect(try client.receiveUntilEnd() == bytes)
        #expect(try server.wait(for: 0, "sent") { $0.isClosed }.sentCount == bytes.count)
    }

    @Test("a flood continues while the client reads, and the server can still stop")
    func flood() throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .send("start:"), .flood(Array("abc".utf8))], [.startOver],
        ])
        let client = try RawClient(server.address)
        try client.send(request)
        #expect(try client.receive(6) == Array("start:".utf8))
        let bytes = try client.receive(300_000)
        #expect(bytes == (0..<300_000).map { UInt8(97 + $0 % 3) })
        _ = try RawClient(server.address)
        try server.waitForConnections(2)
        server.stop()
        #expect(server.connections.allSatisfy { $0.isClosed })
    }

    @Test("a wait whose event never comes throws and names the received bytes")
    func waitLimit() throws {
        let server = try RawServer.start()
        defer { server.stop() }
        let error = #expect(throws: RawServer.TimedOut.self) {
            try server.waitForConnections(1, within: .milliseconds(20))
        }
        #expect(error?.description.contains("0 came") == true)
    }

    @Test("a server that never accepts leaves a connect hanging")
    func neverAccepts() throws {
        let server = try RawServer.neverAccepting()
        defer { server.stop() }
        let socket = try Socket(.v4)
        #expect(try socket.connect(to: server.address) == false)
        var entry = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
        #expect(poll(&entry, 1, 200) == 0)
        #expect(server.connections.isEmpty)
    }

    @Test("an abstract unix socket serves scripts as well")
    func abstractUnix() throws {
        let name = try #require(UnixName(abstract: "uncurl-raw-\(getpid())"))
        let server = try RawServer.start(address: .unix(name), [[.send("hi"), .close]])
        defer { server.stop() }
        #expect(try RawClient(server.address).receiveUntilEnd() == Array("hi".utf8))
    }
}
