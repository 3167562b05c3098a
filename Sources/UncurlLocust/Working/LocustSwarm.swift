import CUncurlLinux
import UncurlEngine
package import UncurlLoad
import UncurlReactor

/// One test of a master: workers that keep one connection busy per user, or hold a rate. It belongs to the main thread.
final class LocustSwarm {
    let plan: RunPlan
    private let group: EventLoopGroup
    private let resolver: Resolver
    private let workers: [RemoteWorker]
    private let workerBoard: WorkerBoard
    private var collector: IntervalCollector
    private let target: LoadOptions
    /// Whether response times are told as coarsely as by Locust's own workers.
    private let isCoarse: Bool
    /// The start in microseconds since 1970.
    private let startedAt: UInt64
    /// The most users that the machine has been found to have room for.
    private var room: Int
    private(set) var total = Metrics()

    /// The length of an interval, and so the time between two reports to the master.
    private static let interval: UInt64 = 1_000_000_000

    /// Starts the swarm. It throws every error that can be found before the start, for the master's page.
    init(
        _ target: LoadOptions,
        isCoarse: Bool,
        _ order: LocustSpawn,
        _ signals: inout SignalWait
    ) throws(UsageError) {
        (self.target, self.isCoarse) = (target, isCoarse)
        let options = try target.following(order)
        let requests: EngineRequests
        do throws(LoadTestError) {
            let limits = SystemLimits.read()
            plan = try RunPlan(options, limits)
            try plan.prepareDescriptors(limits)
            try options.security.loadRoots()
            group = try plan.startLoops()
            (requests, resolver) = try Self.prepare(plan, on: group, &signals)
        } catch {
            throw .load(error, target.names)
        }
        let board = IntervalBoard(length: Self.interval, workers: plan.threads, shape: plan.noMetrics)
        workerBoard = WorkerBoard(workers: plan.threads, intervals: board) { SignalWait.wake() }
        collector = IntervalCollector(board, workers: plan.threads, work: plan.options.work)
        let job = WorkerSetup(plan: plan, requests: requests, resolver: resolver, workerBoard: workerBoard)
        workers = RemoteWorker.makeAll(job, on: group)
        room = plan.options.connections
        startedAt = UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME) / 1_000)
        let begun = Instant.current()
        for worker in workers { worker.start(at: begun) }
        try follow(order)
    }

    /// Prepares the requests, and a resolver that knows the hosts. If either fails, the threads end.
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

    /// Whether an order is for this target, and this test's way of timing requests.
    func fits(_ order: LocustSpawn) throws(UsageError) -> Bool {
        let options = try target.following(order)
        let url = options.target?.text ?? plan.url
        return url == plan.url && (options.profile == nil) == (plan.options.profile == nil)
    }

    /// Applies the number of users in the order or, in a run with a rate, their share of the rate.
    ///
    /// More users than the machine can hold are refused, and the load remains as it was.
    func follow(_ order: LocustSpawn) throws(UsageError) {
        let rate: Rate? = plan.options.profile == nil ? nil : try target.rate(order) ?? .zero
        if order.users > room { try makeRoom(for: order) }
        for (index, worker) in workers.enumerated() {
            let part = Shard.part(order.users, index, of: workers.count)
            if let rate { worker.setRate(rate, connections: part) } else { worker.setConnections(part) }
        }
    }

    private func makeRoom(for order: LocustSpawn) throws(UsageError) {
        let options = try target.following(order)
        do throws(LoadTestError) {
            let limits = SystemLimits.read()
            try RunPlan(options, limits).prepareDescriptors(limits)
        } catch {
            throw .load(error, target.names)
        }
        room = options.connections
    }

    /// Sends no more requests. ``report()`` returns the remaining counts when ``isOver``.
    func retire() { for worker in workers { worker.retire() } }

    func stop() { for worker in workers { worker.stop() } }

    var isOver: Bool { workerBoard.finished != nil }

    private func stats(of intervals: [Interval]) -> LocustStats {
        var stats = LocustStats(
            name: plan.options.request.target,
            method: plan.options.request.method,
            isCoarse: isCoarse,
            names: plan.requestNames.all
        )
        for interval in intervals { stats.add(interval.metrics, unix: second(interval.end)) }
        return stats
    }

    /// The counts since the last report; nil if no interval has ended.
    func report() -> LocustStats? {
        let intervals = collector.collect()
        return intervals.isEmpty ? nil : stats(of: intervals)
    }

    /// Ends the threads, and returns the remaining counts. Called when ``isOver``.
    func end() -> LocustStats {
        var results = workerBoard.finished ?? []
        let stats = stats(of: collector.finish(&results, measured: RunResult.measured(results)))
        group.shutdown()
        resolver.shutdown()
        total = results.reduce(into: Metrics()) { $0.merge($1.metrics) }
        return stats
    }

    /// The second since 1970 that an interval counts for: the one that contains its end, or a moment just before it.
    private func second(_ end: UInt64) -> UInt64 { (startedAt + end / 1_000 - min(500_000, end / 1_000)) / 1_000_000 }
}

/// The target of a worker in a master's test: that of its own command line, whose options these are, unless the
/// locustfile's arguments replace it.
extension LoadOptions {
    package func following(_ order: LocustSpawn) throws(UsageError) -> LoadOptions {
        var options = self
        if let url = try url(order) {
            let target: TargetURL
            do throws(LoadTestError) { target = try TargetURL(url) } catch { throw .load(error, names) }
            guard !target.isSecure || options.security.target != nil else { throw .notReadyForTLS(url: url) }
            let known = options.target?.hostField ?? "localhost"
            options.request = options.request.retargeted(to: target, unlessOtherThan: known)
            options.target = target
            if !target.isSecure { options.security = SecurityOptions() }
        }
        guard options.target != nil else { throw .noTarget }
        options.isSwarm = true
        (options.duration, options.requests, options.warmup) = (nil, nil, 0)
        let users = max(order.users, order.allUsers ?? 0, 1)
        options.connections = max(users, options.threads)
        options.profile = try rate(order).map { LoadProfile(rate: $0, duration: LoadOptions.longest) }
        guard options.profile == nil || options.pipeline == 1 else { throw .pipelinedRate(names) }
        return options
    }

    /// The URL: `target_url`, or the command line's, or the locustfile's host.
    private func url(_ order: LocustSpawn) throws(UsageError) -> String? {
        if let url = order.option("target_url") { return url }
        if target != nil { return nil }
        guard let host = order.host, !host.isEmpty else { return nil }
        return host.drop { $0 != ":" }.hasPrefix("://") ? host : "http://" + host
    }

    /// This worker's share of `target_rate`, by its users; nil where no rate was asked for.
    func rate(_ order: LocustSpawn) throws(UsageError) -> Rate? {
        guard let text = order.option("target_rate"), text != "0" else { return nil }
        let whole = try Rate(text, for: "target_rate")
        guard let all = order.allUsers, all > 0 else { throw .unknownUsers }
        guard order.users > 0 else { return .zero }
        return Rate(nearest: whole.perSecond * Double(order.users) / Double(all))
    }
}

extension LocustSpawn {
    /// The users of all workers together, once all have started.
    var allUsers: Int? {
        for name in ["num_users", "users"] {
            if let count = options[name]?.count, count > 0 { return min(count, Self.userLimit) }
        }
        return nil
    }
}
