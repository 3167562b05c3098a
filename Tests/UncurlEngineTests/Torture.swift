import Synchronization
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

/// Something an engine does, done again and again with one system call failing: the first, the second, and so on until
/// a run asks for fewer. After each run nothing may be left, and the engine must still work.
struct Torture: Sendable {
    /// Runs once on the engine given and returns what became of each exchange.
    typealias Task = @Sendable (EngineHarness) async throws -> [Recorded]

    /// Far beyond what the longest task needs: a task that never gets through unharmed is a defect.
    private static let mostCalls = 1_000
    /// Names that a task may use, and nobody is asked for.
    static let host = "torture.test"

    /// How https servers are believed; nil for tasks in the clear.
    var tls: TLSContext?
    let task: Task

    /// Runs until the plan finds nothing to strike; returns how many calls the task makes.
    func run(failing errno: Errno, of kind: SystemCall? = nil) async throws -> Int {
        let whole = try await once(FaultPlan.Failure(call: .max, with: errno), nil)
        for call in 1...Torture.mostCalls {
            let failure = FaultPlan.Failure(call: call, of: kind, with: errno)
            if try await once(failure, whole.bodies).failed == 0 { return call - 1 }
        }
        Issue.record("the task makes more than \(Torture.mostCalls) calls")
        return Torture.mostCalls
    }

    private func once(
        _ failure: FaultPlan.Failure,
        _ expected: [[UInt8]]?
    ) async throws -> (failed: Int, bodies: [[UInt8]]) {
        let note: Comment = "\(failure.kind.map { "\($0) " } ?? "")call \(failure.call) meets \(failure.errno)"
        let resolver = Torture.resolver
        let engine = try EngineHarness(configuration, resolver: resolver)
        await engine.onLoop { $0.loop.faults = FaultPlan(failures: [failure]) }
        let results = try await task(engine)
        for (index, result) in results.enumerated() {
            #expect(result.outcomes == 1, note)
            if case .timedOut? = result.error { Issue.record("slept through: \(note)") }
            if let expected, result.succeeded { #expect(result.body == expected[index], note) }
        }
        let struck = await engine.onLoop { engine in
            let failed = engine.loop.faults?.failed ?? 0
            engine.loop.faults?.failures = []
            return failed
        }
        // No place in the pool has been lost, or these would wait for ever.
        for result in try await task(engine) {
            #expect(result.succeeded, "afterwards, \(note): \(result.testDescription)")
        }
        await engine.shutdown()
        #expect(await engine.remains == Remains(), note)
        let open = await engine.onLoop { engine in
            defer { engine.loop.faults = nil }
            return engine.loop.faults?.descriptors.count
        }
        #expect(open == 0, note)
        resolver.shutdown()
        return (struck, results.map(\.body))
    }

    /// One connection a host, so that a place lost would be missed; limits that make a hang a failure.
    private var configuration: EngineConfiguration {
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        configuration.tls = tls
        let limit = Duration.seconds(60)
        configuration.timeouts = Timeouts(connect: limit, poolWait: limit, idle: limit, total: nil)
        return configuration
    }

    private static var resolver: Resolver {
        var options = Resolver.Options()
        options.lookup = { _, family in family == .v4 ? [.v4(.loopback)] : [] }
        return Resolver(options: options)
    }
}
