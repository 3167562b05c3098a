import TestSupport
import Testing

@testable import UncurlReactor

/// Links that go up and down, in a network namespace of the test's own.
@Suite(
    "Interface monitor",
    .ownThread,
    .enabled(if: NetworkNamespace.isAllowed, "\(NetworkNamespace.refusal ?? "")"),
    .timeLimit(.minutes(5))
)
struct InterfaceMonitorTests {
    /// A monitor of a namespace on a loop of its own.
    private final class Bench: Sendable {
        let namespace: NetworkNamespace
        let group: EventLoopGroup
        let states = Shared<[NetworkState]>([])
        private let monitor: Shared<LoopBound<InterfaceMonitor>?> = Shared(nil)

        init(folder: String = LinkMedium.systemFolder) throws {
            namespace = try NetworkNamespace()
            group = try EventLoopGroup(name: "interfaces")
            let loop = group.nextLoop()
            let number = try namespace.inside { try NetlinkSocket().release() }
            loop.post { [states, monitor] in
                let made = try? InterfaceMonitor(on: loop, socket: NetlinkSocket(adopting: number), folder: folder) {
                    state in
                    states.change { $0.append(state) }
                }
                monitor.change { $0 = made.map { LoopBound($0, on: loop) } }
            }
        }

        deinit { group.shutdown() }

        func wait(for condition: (NetworkState) -> Bool) -> Bool {
            states.wait { $0.last.map(condition) ?? false }
        }

        func path(to text: String) -> NetworkPath? {
            guard let address = IPAddress(text) else { return nil }
            let answer = Shared<NetworkPath?>(nil)
            group.loops[0].post { [monitor] in
                monitor.value?.value.path(to: address) { path in answer.change { $0 = path } }
            }
            _ = answer.wait { $0 != nil }
            return answer.value
        }

        func close() { group.loops[0].post { [monitor] in monitor.value?.value.close() } }
    }

    private func connected(_ bench: Bench) throws {
        try bench.namespace.addPair("v0", "v1")
        try bench.namespace.ip("addr", "add", "10.9.0.1/24", "dev", "v0")
        try bench.namespace.ip("route", "add", "default", "via", "10.9.0.2")
    }

    @Test("an empty network is told as such; a default route by a running link makes a way out")
    func begins() throws {
        let bench = try Bench()
        #expect(bench.wait { $0.links.values.contains { $0.isLoopback } && $0.routes.isEmpty })
        try connected(bench)
        #expect(bench.wait { $0.medium(of: .v4) == .wired })
        #expect(bench.wait { $0.medium(of: .v6) == nil })
    }

    @Test("carrier, the link itself, its address and its route: without any of them there is no way out")
    func cuts() throws {
        let bench = try Bench()
        try connected(bench)
        #expect(bench.wait { $0.medium(of: .v4) == .wired })
        let ip = bench.namespace
        try ip.ip("link", "set", "v1", "down")
        #expect(bench.wait { $0.medium(of: .v4) == nil })
        try ip.ip("link", "set", "v1", "up")
        #expect(bench.wait { $0.medium(of: .v4) == .wired })
        try ip.ip("route", "del", "default")
        #expect(bench.wait { $0.medium(of: .v4) == nil && $0.routes.isEmpty })
        try ip.ip("route", "add", "default", "dev", "v0")
        #expect(bench.wait { $0.medium(of: .v4) == .wired })
        // The kernel drops the route with the link, and says nothing of it.
        try ip.ip("link", "set", "v0", "down")
        #expect(bench.wait { $0.medium(of: .v4) == nil && $0.routes.isEmpty })
        try ip.ip("link", "set", "v0", "up")
        try ip.ip("route", "add", "default", "dev", "v0")
        #expect(bench.wait { $0.medium(of: .v4) == .wired })
        try ip.ip("addr", "flush", "dev", "v0")
        #expect(bench.wait { $0.medium(of: .v4) == nil && $0.addresses.allSatisfy { $0.address.family == .v6 } })
        try ip.ip("link", "del", "v0")
        #expect(bench.wait { $0.links.count == 1 })
    }

    @Test("IPv6 has its own way out")
    func version6() throws {
        let bench = try Bench()
        try bench.namespace.addPair("v0", "v1")
        try bench.namespace.ip("addr", "add", "2001:db9::1/64", "dev", "v0", "nodad")
        try bench.namespace.ip("-6", "route", "add", "default", "via", "2001:db9::2")
        #expect(bench.wait { $0.medium(of: .v6) == .wired && $0.medium(of: .v4) == nil })
    }

    @Test("the way to an address is the kernel's word")
    func paths() throws {
        let bench = try Bench()
        try connected(bench)
        try bench.namespace.ip("link", "set", "lo", "up")
        try bench.namespace.ip("route", "add", "unreachable", "192.0.2.0/24")
        #expect(bench.wait { $0.medium(of: .v4) == .wired && $0.links.values.contains { $0.isLoopback && $0.isUp } })
        let link = bench.states.value.last?.links.values.first { $0.name == "v0" }?.index
        #expect(bench.path(to: "203.0.113.9") == link.map { .link($0) })
        #expect(bench.path(to: "10.9.0.1") == .local && bench.path(to: "127.0.0.1") == .local)
        #expect(bench.path(to: "192.0.2.7") == NetworkPath.none)
        #expect(bench.path(to: "2001:db9::7") == NetworkPath.none)
    }

    @Test("drivers say what they are made of")
    func media() throws {
        let folder = TemporaryFile()
        folder.remove()
        _ = try EndedProgram("/bin/mkdir", ["-p", folder.path + "/v0", folder.path + "/w0"])
        defer { _ = try? EndedProgram("/bin/rm", ["-r", folder.path]) }
        _ = try EndedProgram("/bin/sh", ["-c", "echo DEVTYPE=wlan > \(folder.path)/v0/uevent"])
        _ = try EndedProgram("/bin/sh", ["-c", "echo DEVTYPE=wwan > \(folder.path)/w0/uevent"])
        let bench = try Bench(folder: folder.path)
        try connected(bench)
        #expect(bench.wait { $0.medium(of: .v4) == .wireless })
        try bench.namespace.addPair("w0", "w1")
        try bench.namespace.ip("addr", "add", "10.8.0.1/24", "dev", "w0")
        try bench.namespace.ip("route", "add", "default", "via", "10.8.0.2", "metric", "5")
        try bench.namespace.ip("link", "set", "v1", "down")
        #expect(bench.wait { $0.medium(of: .v4) == .cellular })
    }

    @Test("more news than the socket holds are no loss: the tables are read again")
    func overrun() throws {
        let bench = try Bench()
        try connected(bench)
        #expect(bench.wait { $0.medium(of: .v4) == .wired })
        // The loop is held while the kernel has more to say than fits.
        let (held, go) = (Gate(), Gate())
        bench.group.loops[0].post {
            held.open()
            go.wait()
        }
        held.wait()
        let batch = TemporaryFile()
        for index in 0..<3_000 { batch.append(Array("route add 10.10.\(index / 250).\(index % 250)/32 dev v0\n".utf8)) }
        batch.append(Array("route del default\n".utf8))
        try bench.namespace.ip("-batch", batch.path)
        go.open()
        #expect(bench.wait { $0.medium(of: .v4) == nil && $0.routes.isEmpty })
    }

    @Test("a closed monitor says nothing more")
    func closed() throws {
        let bench = try Bench()
        #expect(bench.wait { !$0.links.isEmpty })
        bench.close()
        let done = Gate()
        bench.group.loops[0].post { done.open() }
        done.wait()
        let count = bench.states.value.count
        try connected(bench)
        let turned = Gate()
        bench.group.loops[0].post { turned.open() }
        turned.wait()
        #expect(bench.states.value.count == count && bench.group.loops[0].isCurrent == false)
    }
}
