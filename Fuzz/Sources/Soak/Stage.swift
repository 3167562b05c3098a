import UncurlEngine
import UncurlHTTP1
import UncurlReactor

/// An engine on a loop of its own and a walk on it, seen from the main thread.
final class Stage {
    struct Snapshot: Sendable {
        var tally = Walk.Tally()
        var pauses = 0
        var underWay = 0
        var statistics = EngineStatistics()
        var registrations = 0
        var timers = 0
    }

    private struct Set: Sendable {
        let engine: LoopBound<Engine>
        let walk: LoopBound<Walk>
    }

    private let group: EventLoopGroup
    private let set: Set
    private let over = Monitor(false)
    private var loop: EventLoop { group.loops[0] }

    struct LoopEnded: Error {}

    init(
        _ configuration: EngineConfiguration,
        parallel: Int,
        seed: UInt64,
        limit: Int = .max,
        meddles: Bool,
        errand: @escaping @Sendable (UInt64, inout Dice) throws -> Errand
    ) throws {
        group = try EventLoopGroup(count: 1, name: "soak")
        let loop = group.loops[0]
        let made = Monitor<Set?>(nil)
        let over = over
        loop.post {
            let engine = Engine(on: loop, configuration: configuration)
            let walk = Walk(engine, seed: seed, limit: limit, meddles: meddles, errand: errand) {
                over.update { $0 = true }
            }
            walk.start(parallel)
            made.update { $0 = Set(engine: LoopBound(engine, on: loop), walk: LoopBound(walk, on: loop)) }
        }
        guard let set = made.wait(atMost: .seconds(60), until: { $0 }) else { throw LoopEnded() }
        self.set = set
    }

    var snapshot: Snapshot {
        let answer = Monitor<Snapshot?>(nil)
        let set = set
        loop.post {
            let (engine, walk) = (set.engine.value, set.walk.value)
            let snapshot = Snapshot(
                tally: walk.tally,
                pauses: walk.pauses,
                underWay: walk.underWay,
                statistics: engine.statistics,
                registrations: engine.loop.registrations,
                timers: engine.loop.armedTimers
            )
            answer.update { $0 = snapshot }
        }
        return answer.wait(atMost: .seconds(60), until: { $0 }) ?? Snapshot()
    }

    /// Begins nothing more.
    func end() {
        let set = set
        loop.post { set.walk.value.end() }
    }

    /// False: something is still under way after `limit`.
    func isOver(within limit: Duration) -> Bool { over.wait(atMost: limit, until: { $0 ? true : nil }) ?? false }

    /// Shuts the engine down and says what it has left behind on its loop.
    func shutdown() -> Snapshot {
        let done = Monitor(false)
        let set = set
        loop.post { set.engine.value.shutdown { done.update { $0 = true } } }
        _ = done.wait(atMost: .seconds(10), until: { $0 ? true : nil })
        let rest = snapshot
        group.shutdown()
        return rest
    }
}
