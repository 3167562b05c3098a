import Glibc
import Synchronization
import TestSupport
import Testing
import UncurlReactor

@testable import UncurlTestServer

@Suite(.ownThread)
struct TestServerTests {
    private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("a request over a socket gets its response, exactly")
    func exactBytes() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let client = try RawClient(server.address)
        try client.send(get)
        // A Date is as long as every other.
        let response = try client.receive(home.utf8.count + 25)
        #expect(undated(response) == home)
        #expect(server.requestCount == 1)
        #expect(server.connectionsAccepted == 1)
        #expect(server.bytesReceived == UInt64(get.utf8.count))
        #expect(server.url("/x") == "http://127.0.0.1:\(server.port)/x")
    }

    @Test("Date is the time of day")
    func date() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let client = try RawClient(server.address)
        var years: Set<String> = []
        for path in ["/", "/get"] {
            try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            let date = try #require(RawClient.field("date", in: try client.receiveResponse().head))
            years.insert(String(date.split(separator: " ")[3]))
        }
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        #expect(years == [String(1900 + parts.tm_year)])
    }

    @Test("a pipeline is answered in order and in full, however it is cut", arguments: [1, 100, 10_000])
    func pipeline(size: Int) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let client = try RawClient(server.address)
        let lengths = (0..<200).map { $0 * 7 % 300 }
        let requests = Array(lengths.map { "GET /bytes/\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined().utf8)
        for start in stride(from: 0, to: requests.count, by: size) {
            try client.send(Array(requests[start..<min(start + size, requests.count)]))
        }
        for length in lengths {
            #expect(try client.receiveResponse().body == [UInt8].random(length, seed: 0))
        }
        #expect(server.requestCount == 200)
        #expect(server.responsesSent == 200)
    }

    @Test("the counters are exact under 64 connections on two loops")
    func countersExact() throws {
        let server = try TestServer.start(loops: 2)
        defer { server.stop() }
        let clients = try (0..<64).map { _ in try RawClient(server.address) }
        for round in 0..<10 {
            for client in clients { try client.send(String(repeating: get, count: 1 + round % 3)) }
            for client in clients {
                for _ in 0..<(1 + round % 3) { #expect(try client.receiveResponse().body.count == 19) }
            }
        }
        let requests: UInt64 = 64 * (4 * 1 + 3 * 2 + 3 * 3)
        #expect(server.requestCount == requests)
        #expect(server.responsesSent == requests)
        #expect(server.connectionsAccepted == 64)
        #expect(server.bytesReceived == requests * UInt64(get.utf8.count))
        #expect(server.bytesSent == requests * UInt64(home.utf8.count + 25))
        try clients[0].send("GET /count HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try clients[0].receiveResponse().body == Array("\(requests + 1)\n".utf8))
    }

    @Test("a refusal is read to its end although the client went on sending")
    func lingers() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let client = try RawClient(server.address)
        try client.send("POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n")
        try client.send([UInt8](repeating: 0, count: 500_000))
        let response = try client.receiveUntilEnd()
        #expect(undated(response).hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
        client.finish()
    }

    @Test("an endless upload after a refusal is cut off")
    func lingerIsBounded() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let client = try RawClient(server.address)
        #expect(throws: RawClient.Failure.self) {
            try client.send("BAD\r\n\r\n")
            for _ in 0..<2000 { try client.send([UInt8](repeating: 0, count: 65536)) }
        }
    }

    @Test("/echo sends a large body back while it comes, and holds little of it")
    func echoLarge() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let client = try RawClient(server.address)
        let body = [UInt8].random(4_000_000, seed: 9)
        let sender = Worker {
            try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n")
            try client.send(body)
        }
        let (head, echoed) = try client.receiveResponse()
        try sender.join()
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(echoed == body)
    }

    @Test("an echo that the client does not read stops the server's reading: neither side grows without bound")
    func echoBackPressure() throws {
        let server = try TestServer.start()
        defer { server.stop(within: .zero) }
        let client = try RawClient(server.address)
        try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 1, count: 65536) + Array("\r\n".utf8)
        var accepted = 0
        while accepted < 1 << 28 {
            var entry = pollfd(fd: client.fd, events: Int16(POLLOUT), revents: 0)
            guard poll(&entry, 1, 200) == 1 else { break }
            let count = send(client.fd, chunk, chunk.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            if count < 0 { continue }
            accepted += count
        }
        // What both kernels' buffers hold (net.ipv4.tcp_wmem and tcp_rmem: 4 and 6 MiB each way) and little more.
        #expect(accepted < 64 << 20)
        // One read at most lies in the server, unsent.
        #expect(Int(server.bytesReceived) - Int(server.bytesSent) < 300_000)
    }

    @Test("an endless response stops while the client does not read, and goes on when it does")
    func responseBackPressure() throws {
        let server = try TestServer.start()
        defer { server.stop(within: .zero) }
        let client = try RawClient(server.address)
        try client.send("GET /infinite HTTP/1.1\r\nHost: a\r\n\r\n")
        var (last, same) = (UInt64(0), 0)
        while same < 5 {
            var entry = pollfd(fd: client.fd, events: 0, revents: 0)
            poll(&entry, 1, 20)
            same = server.bytesSent == last ? same + 1 : 0
            last = server.bytesSent
        }
        #expect(last < 64 << 20)
        #expect(server.responsesSent == 0)
        _ = try client.receive(Int(last) + 1_000_000)
        #expect(server.bytesSent > last)
    }

    @Test("a client that half-closes still gets its delayed response")
    func halfClose() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let client = try RawClient(server.address)
        try client.send("GET /delay/0.05 HTTP/1.1\r\nHost: a\r\n\r\n")
        client.finish()
        #expect(undated(try client.receiveUntilEnd()).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test("an idle connection ends after the idle time, a half-sent request is told 408 first")
    func idleTimeout() throws {
        var options = ServerOptions()
        options.idleTimeout = .seconds(1)
        let server = try TestServer.start(options: options)
        defer { server.stop() }
        let idle = try RawClient(server.address)
        let half = try RawClient(server.address)
        try half.send("GET / HTTP/1.1\r\nHo")
        #expect(try idle.receiveUntilEnd().isEmpty)
        #expect(undated(try half.receiveUntilEnd()).hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }

    @Test("a graceful stop lets a delayed response finish, ends idle connections, and refuses new ones")
    func gracefulStop() throws {
        let server = try TestServer.start(loops: 2)
        let idle = try (0..<8).map { _ in try RawClient(server.address) }
        for client in idle {
            try client.send(get)
            _ = try client.receiveResponse()
        }
        let busy = try RawClient(server.address)
        try busy.send("GET /delay/1 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(Eventually.holds { server.requestCount == 9 })
        let stopper = Worker { server.stop(within: .seconds(60)) }
        let response = try busy.receiveUntilEnd()
        #expect(undated(response).contains("\r\nConnection: close\r\n"))
        #expect(undated(response).hasSuffix("}\n"))
        for client in idle { #expect(try client.receiveUntilEnd().isEmpty) }
        try stopper.join()
        #expect(throws: RawClient.Failure.self) { _ = try RawClient(server.address) }
        #expect(server.responsesSent == 9)
        server.stop()
    }

    @Test("a stop aborts at its deadline what would never end")
    func abortAtDeadline() throws {
        let server = try TestServer.start()
        let client = try RawClient(server.address)
        try client.send("GET /never HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(Eventually.holds { server.requestCount == 1 })
        let start = Instant.current()
        server.stop(within: .milliseconds(50))
        let span = Instant.current().nanoseconds(since: start)
        #expect((40_000_000..<30_000_000_000).contains(span))
        #expect(throws: RawClient.Failure.self) { _ = try client.receiveUntilEnd() }
        #expect(errno == ECONNRESET)
    }

    @Test("/never sends nothing, and notices that its client has closed")
    func never() throws {
        let server = try TestServer.start()
        let client = try RawClient(server.address)
        try client.send("GET /never HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(Eventually.holds { server.requestCount == 1 })
        client.end()
        // With its only connection gone the server has nothing to wait for.
        let start = Instant.current()
        server.stop(within: .seconds(60))
        #expect(Instant.current().nanoseconds(since: start) < 30_000_000_000)
        #expect(server.bytesSent == 0)
    }

    @Test("a freeze delays every connection once")
    func freeze() throws {
        let server = try TestServer.start(loops: 2)
        defer { server.stop() }
        let client = try RawClient(server.address)
        let start = Instant.current()
        server.freeze(for: .milliseconds(80))
        try client.send(get)
        _ = try client.receiveResponse()
        #expect(Instant.current().nanoseconds(since: start) >= 70_000_000)
        try client.send("GET /freeze?ms=30 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.receiveResponse().body == Array("thawed\n".utf8))
    }

    @Test("/reset ends in ECONNRESET and /truncate in FIN before the announced length")
    func faults() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let cut = try RawClient(server.address)
        try cut.send("GET /truncate?after=1000 HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try cut.receiveHead()
        #expect(RawClient.field("content-length", in: head) == "1000000")
        #expect(try cut.receiveUntilEnd() == [UInt8].random(1000, seed: 0))
        let reset = try RawClient(server.address)
        try reset.send("GET /reset HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(throws: RawClient.Failure.self) { _ = try reset.receiveUntilEnd() }
        #expect(errno == ECONNRESET)
    }

    @Test("unix sockets serve, by path and by abstract name, with several loops")
    func unixSockets() throws {
        let path = "/tmp/uncurl-test-\(getpid()).sock"
        for name in [UnixName(path: path), UnixName(abstract: "uncurl-test-\(getpid())")] {
            let server = try TestServer.start(loops: 2, address: .unix(try #require(name)))
            for _ in 0..<4 {
                let client = try RawClient(server.address)
                try client.send("GET /ip HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.receiveResponse().body == Array("{\n  \"origin\": \"unix\"\n}\n".utf8))
            }
            #expect(server.requestCount == 4)
            server.stop()
        }
        #expect(access(path, F_OK) == -1)
    }

    @Test("a port in use is an error, not a second listener, whatever the number of loops", arguments: [1, 2])
    func portInUse(loops: Int) throws {
        let server = try TestServer.start(loops: loops)
        defer { server.stop() }
        for other in 1...2 {
            #expect(throws: Errno.addressInUse) { _ = try TestServer.start(loops: other, address: server.address) }
        }
    }

    @Test("a released server closes its port")
    func letGo() throws {
        var server: TestServer? = try TestServer.start()
        let address = try #require(server?.address)
        server = nil
        #expect(throws: RawClient.Failure.self) { _ = try RawClient(address) }
    }
}

/// A thread for the half of a test that must not wait for the other.
final class Worker: @unchecked Sendable {
    private var thread = pthread_t()
    private let body: () throws -> Void
    private var failure: (any Error)?

    init(_ body: @escaping () throws -> Void) {
        self.body = body
        pthread_create(
            &thread,
            nil,
            { argument in
                let worker = Unmanaged<Worker>.fromOpaque(argument!).takeRetainedValue()
                do { try worker.body() } catch { worker.failure = error }
                return nil
            },
            Unmanaged.passRetained(self).toOpaque()
        )
    }

    func join() throws {
        pthread_join(thread, nil)
        if let failure { throw failure }
    }
}
