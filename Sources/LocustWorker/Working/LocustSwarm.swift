import CLinux
import HTTPEngine
import LoadGenerator
import Reactor

/// One test of a master's: workers that keep as many connections busy as the master wants users, or hold a rate. Main
/// thread.
final class LocustSwarm {
    let plan: RunPlan
    private let group: EventLoopGroup
    private let resolver: Resolver
    private let workers: [RemoteWorker]
    private let workerBoard: WorkerBoard
    private var collector: IntervalCollector
    private let target: LocustTarget
    /// Microseconds since 1970.
    private let startedAt: UInt64
    private var last = Metrics()

    /// How long intervals are, and so how often the master hears of us.
    private static let interval: UInt64 = 1_000_000_000

    /// Everything that can be refused is refused here, in words that the master's page shows.
    init(_ target: LocustTarget, _ order: LocustSpawn, _ signals: inout SignalWait) throws(LocustProblem) {
        self.target = target
        let options = try target.options(order)
        let requests: EngineRequests
        do throws(LoadTestError) {
            let limits = SystemLimits.read()
            let preflight = try Preflight(options, limits)
            try preflight.raiseDescriptors(limits)
            plan = RunPlan(options, preflight)
            try options.security.loadRoots()
            group = try plan.startLoops()
            (requests, resolver) = try Self.prepare(plan, on: group, &signals)
        } catch {
            throw .load(error)
        }
        let board = IntervalBoard(length: Self.interval, workers: plan.threads, shape: plan.metricsShape)
        workerBoard = WorkerBoard(workers: plan.threads, intervals: board) { SignalWait.wake() }
        collector = IntervalCollector(board, workers: plan.threads, work: plan.work)
        let job = WorkerSetup(plan: plan, requests: requests, resolver: resolver, workerBoard: workerBoard)
        workers = RemoteWorker.makeAll(job, on: group)
        startedAt = UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME) / 1_000)
        let begun = Instant.current()
        for worker in workers { worker.start(at: begun) }
        try follow(order)
    }

    /// The requests, and a resolver that knows the hosts; without either the threads end.
    private static func prepare(
        _ plan: RunPlan,
        on group: EventLoopGroup,
        _ signals: inout SignalWait
    ) throws(LoadTestError) -> (EngineRequests, Resolver) {
        do throws(LoadTestError) {
            let requests = try EngineRequests(plan, embedded: nil)
            return (requests, try NameLookup.resolver(for: plan, on: group.nextLoop(), &signals))
        } catch {
            group.shutdown()
            throw error
        }
    }

    /// As many users as the order says, or the rate that they stand for.
    func follow(_ order: LocustSpawn) throws(LocustProblem) {
        if plan.profile != nil {
            let rate = try target.rate(order) ?? .zero
            for worker in workers { worker.setRate(rate) }
        } else {
            // What the machine cannot hold was refused at the start; a later order is followed as far as it goes.
            let users = min(order.users, plan.connections)
            for (index, worker) in workers.enumerated() {
                worker.setConnections(Shard.part(users, index, of: workers.count))
            }
        }
    }

    /// Sends no more; ``report()`` gives the rest once ``isOver``.
    func retire() { for worker in workers { worker.retire() } }

    /// Ends what will not end by itself.
    func stop() { for worker in workers { worker.stop() } }

    var isOver: Bool { workerBoard.finished != nil }

    /// An empty report.
    private var stats: LocustStats {
        LocustStats(
            name: target.name(plan),
            method: plan.request.method,
            grain: target.grain,
            names: plan.requestNames.all
        )
    }

    /// What has happened since the last report; nil if no interval has ended.
    func report() -> LocustStats? {
        var stats = stats
        for interval in collector.collect() { stats.add(interval.metrics, unix: second(interval.end)) }
        return stats.isEmpty ? nil : stats
    }

    /// The rest, after which the swarm is gone. To be called when ``isOver``.
    func end() -> LocustStats {
        var stats = stats
        var results = workerBoard.finished ?? []
        let measured = RunResult.measured(results)
        for interval in collector.finish(&results, measured: measured) {
            stats.add(interval.metrics, unix: second(interval.end))
        }
        group.shutdown()
        resolver.shutdown()
        last = results.reduce(into: Metrics()) { $0.merge($1.metrics) }
        return stats
    }

    /// What was counted in all, once it has ended.
    var total: Metrics { last }

    /// The second since 1970 that an interval is counted in: the one it ended in, or just before.
    private func second(_ end: UInt64) -> UInt64 { (startedAt + end / 1_000 - min(500_000, end / 1_000)) / 1_000_000 }
}
