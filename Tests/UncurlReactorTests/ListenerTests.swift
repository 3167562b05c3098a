import CUncurlLinux
import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Listener")
struct ListenerTests {
    /// Connects without waiting; the descriptor closes with the test.
    private func dial(_ address: SocketAddress) throws -> OwnedFD {
        let socket = try Socket(address.family)
        _ = try socket.connect(to: address)
        return OwnedFD(taking: socket.release())
    }

    private func acceptsOne(at address: SocketAddress) throws -> SocketAddress {
        let bench = try LoopBench()
        let loop = bench.loop
        var accepted = 0
        let listener = try Listener(on: loop, at: address) { _ in
            accepted += 1
            loop.stop()
        }
        let client = try dial(listener.address)
        bench.run()
        _ = client.number
        #expect(accepted == 1)
        listener.close()
        listener.close()
        return listener.address
    }

    @Test("a listener accepts on IPv4 and IPv6, at the port that the kernel chose")
    func internet() throws {
        #expect(try acceptsOne(at: .loopback()).port != 0)
        #expect(try acceptsOne(at: .loopback6()).port != 0)
    }

    @Test("a listener accepts on unix names, and leaves no path behind")
    func unix() throws {
        let path = "/tmp/uncurl-listener-\(getpid()).sock"
        _ = try acceptsOne(at: .unix(try #require(UnixName(path: path))))
        #expect(access(path, F_OK) != 0)
        _ = try acceptsOne(at: .unix(try #require(UnixName(abstract: "uncurl-listener-\(getpid())"))))
    }

    @Test("a burst is accepted over as many turns as it takes")
    func burst() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        var accepted = 0
        let listener = try Listener(on: loop, at: .loopback()) { _ in
            accepted += 1
            if accepted == 200 { loop.stop() }
        }
        let clients = try (0..<200).map { _ in try dial(listener.address).release() }
        bench.run()
        for client in clients { close(client) }
        listener.close()
        #expect(accepted == 200)
    }

    @Test("a listener closed from within its own call accepts no more connections")
    func closedWithin() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        var accepted = 0
        var listener: Listener?
        listener = try Listener(on: loop, at: .loopback()) { _ in
            accepted += 1
            listener?.close()
            loop.stop()
        }
        let address = try #require(listener?.address)
        let clients = try (0..<3).map { _ in try dial(address).release() }
        bench.run()
        for client in clients { close(client) }
        // It holds its closure, and that the variable.
        listener = nil
        #expect(accepted == 1)
    }

    @Test("a taken address is refused")
    func taken() throws {
        let loop = try EventLoop()
        let listener = try Listener(on: loop, at: .loopback()) { _ in }
        defer { listener.close() }
        #expect(throws: Errno.addressInUse) { _ = try Listener(on: loop, at: listener.address) { _ in } }
        #expect(loop.registrations == 1)
    }

    @Test("two listeners share a port if both ask to")
    func sharing() throws {
        let loop = try EventLoop()
        let first = try Listener(on: loop, at: .loopback(), sharing: true) { _ in }
        let second = try Listener(on: loop, at: first.address, sharing: true) { _ in }
        #expect(first.address == second.address)
        first.close()
        second.close()
    }

    @Test("out of descriptors, newcomers are turned away instead of spinning the loop")
    func reserve() async {
        // In a process of its own: the limit would fail every other test.
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            // Something else in the process may close a descriptor meanwhile; whoever gets it keeps it.
            var accepted: [CInt] = []
            let listener = try Listener(on: loop, at: .loopback()) { accepted.append($0.release()) }
            let clients = try (0..<16).map { _ in
                let socket = try Socket(.v4)
                _ = try socket.connect(to: listener.address)
                return socket.release()
            }
            guard uncurl_set_nofile(64, 64) == 0 else { exit(2) }
            var fillers: [CInt] = []
            repeat { fillers.append(open("/dev/null", O_RDONLY)) } while fillers.last ?? -1 >= 0
            let check = Alarm()
            check.onFire = { _ in
                // The second shows that the reserve was taken back after the first.
                if listener.refused >= 2 { return loop.stop() }
                _ = loop.arm(at: loop.now, check)
            }
            _ = loop.arm(at: loop.now, check)
            // Dispatch may open a descriptor of its own in the moment in which the reserve is released, and keep it.
            _ = loop.arm(at: loop.now.advanced(by: .seconds(5)), Alarm { _ in close(fillers[0]) })
            _ = loop.arm(at: loop.now.advanced(by: .seconds(60)), Alarm { _ in exit(3) })
            loop.run()
            guard accepted.count <= 2 else { exit(4) }
            for newcomer in accepted { close(newcomer) }
            listener.close()
            // Each sees an end, turned away or not: FIN, or RST for those still in the backlog.
            guard clients.allSatisfy({ Wire.wait($0, for: POLLIN) }) else { exit(5) }
            // Not exit: a leak checker at the end would want descriptors.
            _exit(0)
        }
    }

    @Test("without even a reserve the listener pauses, and comes back")
    func pause() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            var accepted = 0
            let listener = try Listener(on: loop, at: .loopback()) { _ in
                accepted += 1
                loop.stop()
            }
            let socket = try Socket(.v4)
            _ = try socket.connect(to: listener.address)
            // Below every open descriptor: giving one up makes no room for the next.
            guard uncurl_set_nofile(3, 1_024) == 0 else { exit(2) }
            let start = uncurl_thread_cpu_ns()
            _ = loop.arm(
                at: loop.now.advanced(by: .milliseconds(60)),
                Alarm { _ in
                    guard uncurl_thread_cpu_ns() - start < 30_000_000 else { exit(3) }
                    guard uncurl_set_nofile(1_024, 1_024) == 0 else { exit(4) }
                }
            )
            _ = loop.arm(at: loop.now.advanced(by: .seconds(60)), Alarm { _ in exit(5) })
            loop.run()
            _exit(accepted == 1 ? 0 : 6)
        }
    }
}
