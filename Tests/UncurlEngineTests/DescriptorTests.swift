import CUncurlLinux
import Glibc
import ScriptedPeer
import TestSupport
import Testing
import UncurlReactor
import UncurlTestServer

@testable import UncurlEngine

@Suite("Descriptors that run out", .ownThread, .timeLimit(.minutes(5)))
struct DescriptorTests {
    private static let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("with 64 descriptors 500 requests at once, 400 connections a host allowed, all succeed")
    func crowd() async throws {
        // In another process: its descriptors are not counted.
        let server = try TestServer.start()
        defer { server.stop() }
        let port = server.port
        await #expect(processExitsWith: .success) { [port = port as UInt16] in
            guard uncurl_set_nofile(64, 64) == 0 else { _exit(2) }
            var configuration = EngineConfiguration()
            configuration.connectionsPerHost = 400
            configuration.connections = 1000
            let engine = try EngineHarness(configuration)
            let request = try get(port, "/bytes/10")
            var pending: [Pending] = []
            for _ in 0..<500 { pending.append(await engine.begin(request)) }
            var failed = 0
            for one in pending {
                guard let error = await one.outcome().error else { continue }
                print(error)
                failed += 1
            }
            // Not exit: a leak checker at the end would want descriptors.
            _exit(failed == 0 ? 0 : 3)
        }
    }

    @Test("while 500 requests want a connection each, 64 descriptors allowed, the process can open a dozen files")
    func reserve() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let port = server.port
        await #expect(processExitsWith: .success) { [port = port as UInt16] in
            guard uncurl_set_nofile(64, 64) == 0 else { _exit(2) }
            var configuration = EngineConfiguration()
            configuration.connectionsPerHost = 400
            configuration.connections = 1000
            let engine = try EngineHarness(configuration)
            let request = try get(port, "/delay/0.2")
            var pending: [Pending] = []
            for _ in 0..<500 { pending.append(await engine.begin(request)) }
            var (failed, rounds) = (0, 0)
            while !pending.allSatisfy(\.isFinished) {
                // Sixteen, but for those of which it is just found out that they are the process's.
                let files = (0..<12).map { _ in open("/dev/null", O_RDONLY) }
                failed += files.count { $0 < 0 }
                rounds += 1
                for file in files where file >= 0 { close(file) }
                _ = await engine.statistics
            }
            for one in pending where await one.outcome().error != nil { _exit(3) }
            _exit(failed == 0 && rounds > 1 ? 0 : 4)
        }
    }

    @Test("a dial that finds no descriptor waits for one, as long as it may connect, and then tells")
    func limit() async throws {
        let gate = RawGate()
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .wait(gate), .send(Self.ok)])
        let clock = ManualClock()
        let engine = try EngineHarness(clock: clock)
        let busy = await engine.begin(try get(server.port))
        try server.wait(for: 0, "the request") { $0.stepsDone >= 1 }
        await engine.onLoop {
            $0.loop.faults = FaultPlan(failures: [
                .init(call: 1, of: .socket, with: .tooManyOpenFiles, lasts: true)
            ])
        }
        let late = await engine.begin(try get(server.port))
        await engine.passTime(by: .seconds(1), until: { late.isFinished })
        guard case .connect(let error)? = await late.outcome().error else {
            Issue.record("it was to fail for want of a descriptor")
            return
        }
        #expect(error.isResourceExhaustion)
        gate.open()
        #expect(await busy.outcome().succeeded)
        #expect(await engine.onLoop { $0.descriptorLine.isEmpty })
    }

    @Test("a dial that waits is served as soon as a descriptor comes free, wherever that was")
    func comesFree() async throws {
        let gate = RawGate()
        let server = try RawServer.start(
            [[.receive(.headEnd), .wait(gate), .send(Self.ok)]],
            otherwise: .answering(Self.ok)
        )
        let engine = try EngineHarness()
        let busy = await engine.begin(try get(server.port))
        try server.wait(for: 0, "the request") { $0.stepsDone >= 1 }
        // The third attempt finds one: the first connection is busy all along.
        await engine.onLoop {
            $0.loop.faults = FaultPlan(failures: (1...2).map { .init(call: $0, of: .socket, with: .tooManyOpenFiles) })
        }
        #expect(await engine.run(try get(server.port)).text == "ok")
        gate.open()
        #expect(await busy.outcome().succeeded)
    }

    @Test("a dial that waits for a descriptor, and that nobody needs any more, gives its place to another host")
    func surplus() async throws {
        let gate = RawGate()
        let held = try RawServer.start(otherwise: [.receive(.headEnd), .wait(gate), .send(Self.ok)])
        let other = try RawServer.start(otherwise: .answering(Self.ok))
        var configuration = EngineConfiguration()
        configuration.connections = 2
        let engine = try EngineHarness(configuration)
        let busy = await engine.begin(try get(held.port))
        try held.wait(for: 0, "the request") { $0.stepsDone >= 1 }
        await engine.onLoop {
            $0.loop.faults = FaultPlan(failures: [
                .init(call: 1, of: .socket, with: .tooManyOpenFiles, lasts: true)
            ])
        }
        let late = await engine.begin(try get(held.port))
        let starved = await engine.begin(try get(other.port))
        late.cancel()
        #expect(await late.outcome().error == .cancelled)
        await engine.onLoop { $0.loop.faults = nil }
        #expect(await starved.outcome().text == "ok")
        gate.open()
        #expect(await busy.outcome().succeeded)
    }

    @Test("an engine without idle connections of its own is given the descriptor of another's")
    func othersIdle() async throws {
        let server = try RawServer.start(otherwise: .answering(Self.ok))
        var configuration = EngineConfiguration()
        configuration.budget = ConnectionBudget(limit: 100)
        let (idle, needy) = (try EngineHarness(configuration), try EngineHarness(configuration))
        #expect(await idle.run(try get(server.port)).succeeded)
        await needy.onLoop {
            $0.loop.faults = FaultPlan(failures: [.init(call: 1, of: .socket, with: .tooManyOpenFiles)])
        }
        #expect(await needy.run(try get(server.port)).succeeded)
        #expect(await idle.statistics.idle == 0)
        #expect(configuration.budget?.open == 1)
    }

    @Test("a caller that needs a descriptor for something else gets that of an idle connection, of another loop too")
    func somethingElse() async throws {
        let server = try RawServer.start(otherwise: .answering(Self.ok))
        var configuration = EngineConfiguration()
        configuration.budget = ConnectionBudget(limit: 100)
        let (idle, needy) = (try EngineHarness(configuration), try EngineHarness(configuration))
        #expect(await idle.run(try get(server.port)).succeeded)
        let again = Gate()
        await needy.onLoop { $0.awaitDescriptor { again.open() } }
        try server.waitForEnd(of: 0)
        again.wait()
        #expect(configuration.budget?.open == 0)
    }

    @Test("idle connections of ten engines stay within their budget; busy ones are not touched")
    func budget() async throws {
        let gate = RawGate()
        let held = try RawServer.start(otherwise: [.receive(.headEnd), .wait(gate), .send(Self.ok)])
        let server = try RawServer.start(otherwise: .answering(Self.ok))
        var configuration = EngineConfiguration()
        let budget = ConnectionBudget(limit: 4)
        configuration.budget = budget
        var engines: [EngineHarness] = []
        var busy: [Pending] = []
        for _ in 0..<10 {
            let engine = try EngineHarness(configuration)
            busy.append(await engine.begin(try get(held.port)))
            engines.append(engine)
        }
        await until { budget.open == 10 }
        for engine in engines { #expect(await engine.run(try get(server.port)).succeeded) }
        var idle = 0
        for engine in engines { idle += await engine.statistics.idle }
        #expect(idle == 0 && budget.open == 10)
        gate.open()
        for one in busy { #expect(await one.outcome().succeeded) }
        idle = 0
        for engine in engines { idle += await engine.statistics.idle }
        #expect(idle <= 4 && idle == budget.open)
    }
}
