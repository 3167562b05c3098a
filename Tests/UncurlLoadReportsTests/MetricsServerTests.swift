import CUncurlLinux
import Glibc
import Testing
import UncurlReactor

@testable import UncurlLoad
@testable import UncurlLoadReports

struct MetricsServerTests {
    /// A loop with a listener for scrapes of one page.
    private func withScrapes(of page: String, _ body: (EventLoop, SocketAddress) throws -> Void) throws {
        let group = try EventLoopGroup(count: 1, name: "scrapes")
        defer { group.shutdown() }
        let loop = group.loops[0]
        let started = Monitor<(listener: LoopBound<Listener>, address: SocketAddress)?>(nil)
        loop.post {
            let page = MetricsPage((page, false))
            let made = try? Listener(on: loop, at: .v4(.loopback, port: 0)) { socket in
                MetricsConnection.begin(socket, on: loop, page)
            }
            guard let listener = made else { return }
            started.update { $0 = (LoopBound(listener, on: loop), listener.address) }
        }
        let (listener, address) = try #require(started.wait(atMost: .seconds(30)) { $0 })
        try body(loop, address)
        loop.post { listener.value.close() }
    }

    private func registrations(_ loop: EventLoop) -> Int {
        let count = Monitor<Int?>(nil)
        loop.post { count.update { $0 = loop.registrations } }
        return count.wait(atMost: .seconds(30)) { $0 } ?? 0
    }

    private func connected(_ address: SocketAddress) throws -> Socket {
        let socket = try Socket(address.family)
        if try !socket.connect(to: address) {
            var ready = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
            #expect(poll(&ready, 1, 30_000) == 1)
            try socket.finishConnect()
        }
        return socket
    }

    @Test(
        "a scraper that is gone in the middle of its answer is let go of at once, and its reset is no work for anybody"
    )
    func reset() throws {
        let page = String(repeating: "x", count: 16 << 20)
        try withScrapes(of: page) { loop, address in
            let idle = registrations(loop)
            do {
                let socket = try connected(address)
                _ = try socket.write(Array("GET /metrics HTTP/1.1\r\n\r\nand more than was asked for".utf8).span)
                // The answer has begun, and is more than any socket takes.
                var ready = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
                #expect(poll(&ready, 1, 30_000) == 1)
                #expect(registrations(loop) == idle + 1)
                socket.resetOnClose()
            }
            // Its patience is ten seconds; what is heard of the peer comes before that.
            let clock = ContinuousClock()
            let limit = clock.now + .seconds(8)
            while registrations(loop) > idle, clock.now < limit { sched_yield() }
            #expect(registrations(loop) == idle)
        }
    }
}
