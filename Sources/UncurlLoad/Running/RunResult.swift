import UncurlReactor

/// A finished run, from which the reports are made.
package struct RunResult: Sendable {
    /// - completed: Requests, or connections opened where these are what is measured.
    /// - completedInTime: Of these, the ones that rates include.
    /// - queuedNanoseconds: The time that the thread had work, and other threads had the core.
    package typealias Thread = (
        connections: Int, completed: UInt64, completedInTime: UInt64, cpuNanoseconds: UInt64, queuedNanoseconds: UInt64
    )

    package var plan: RunPlan
    /// The time when the first connect was due, in milliseconds since 1970.
    package var startedAt: UInt64
    /// The actual length of the measured part, in nanoseconds.
    package var measured: UInt64
    package var threads: [Thread]
    package var metrics: Metrics
    /// The measured part in intervals. Empty where none were requested.
    package var course = IntervalSeries()
    /// Each run's figures, where ``append(_:)`` put several together.
    package private(set) var runs: [RunFigures] = []
    package var notes: [String]
    package var interrupted: Bool
    /// The parts whose figures are missing, in words: the run has failed.
    package var lost: [String] = []
    package var watched: [Threshold: Double] = [:]
    /// The conditions that did not hold during the run, even without volley's own lateness.
    package var punctual: Set<Threshold> = []

    /// Puts the threads' results together. The measured time lasts from the first thread's start to the last one's end.
    package init(plan: RunPlan, startedAt: UInt64, workers: [WorkerResult], interrupted: Bool) {
        (self.plan, self.startedAt, self.interrupted) = (plan, startedAt, interrupted)
        let work = plan.options.work
        threads = workers.map {
            ($0.connections, $0.metrics.done(work), $0.metrics.doneInTime(work), $0.core.used, $0.core.queued)
        }
        metrics = workers.reduce(into: Metrics()) { $0.merge($1.metrics) }
        measured = Self.measured(workers)
        notes = plan.notes
        if metrics.done(plan.options.work) == 0, metrics[.events] == 0, metrics[.failed] == 0,
            metrics[.connectionsFailed] == 0, !interrupted
        {
            // Without this note, a silent server leaves a report of zeros and no reason.
            let what =
                metrics[.connectionsOpened] == 0 ? plan.isSecure ? "connect or TLS handshake" : "connect" : "request"
            notes.append(
                "no \(what) was answered in \(timeText(measured)), and each may take \(timeText(plan.options.timeout)): use a "
                    + "longer \(plan.options.names.of(.duration)), or a shorter \(plan.options.names.of(.timeout)) to see why"
            )
        }
        notes += limitNotes
        runs = [ownFigures]
    }

    /// Adds another run of the same plan, as if both were one run of their common length.
    package mutating func append(_ other: RunResult) {
        measured &+= other.measured
        metrics.merge(other.metrics)
        for (index, thread) in other.threads.enumerated() where threads.indices.contains(index) {
            for part in [\Thread.completed, \.completedInTime, \.cpuNanoseconds, \.queuedNanoseconds] {
                threads[index][keyPath: part] &+= thread[keyPath: part]
            }
        }
        course = other.course
        notes += other.notes.filter { !notes.contains($0) }
        interrupted = interrupted || other.interrupted
        runs += other.runs
    }

    /// Returns the time from the first start to the last end, in nanoseconds.
    package static func measured(_ workers: [WorkerResult]) -> UInt64 {
        guard let start = workers.map(\.start).min(), let end = workers.map(\.end).max() else { return 0 }
        return UInt64(clamping: end.nanoseconds(since: start))
    }

    package var verdict: Verdict {
        let verdict = Verdict(
            metrics,
            of: plan.options.work,
            interrupted: interrupted,
            generatorLimited: !generatorLimits.isEmpty,
            isOnlyLate: isOnlyLate,
            thresholds: thresholds,
            search: plan.options.search
        )
        let isWorse = [.interrupted, .threshold, .failures].contains(verdict)
        return lost.isEmpty || isWorse ? verdict : .failures
    }

    /// The result of `--fail-if`, and of a search's goal.
    package var thresholds: ThresholdOutcome {
        ThresholdOutcome(plan.options.thresholds, figures, watched: watched, punctual: punctual, plan.options.search)
    }

    /// This run's counts, and the time in which they were counted.
    package var figures: Measured {
        Measured(metrics, of: plan.options.work, in: measured, names: plan.requestNames.all)
    }

    /// Whether a trial of a search misses its goal for reasons that are not volley's.
    package func misses(_ goal: SearchGoal) -> Bool {
        let isOwnFault = !isOnlyLate || goal.holds(metrics, punctually: true)
        return !goal.holds(metrics) && (generatorLimits.isEmpty || !isOwnFault)
    }

    /// The connections a second, where connections are what is measured.
    package var connectionsPerSecond: Double? {
        plan.options.work == .handshakes ? perSecond(metrics[.connectionsOpened]) : nil
    }

    /// Returns `count` divided by the measured time in seconds. 0 for a run that ended at once.
    package func perSecond(_ count: UInt64) -> Double { figures.perSecond(count) }
}

/// The figures of one run among several of the same plan.
///
/// - perSecond: Successes a second, or connections.
/// - p50, p99: The percentiles in nanoseconds. Nil without a success.
package typealias RunFigures = (perSecond: Double, p50: UInt64?, p99: UInt64?)

extension RunResult {
    private var ownFigures: RunFigures {
        let summary = metrics.headline(plan.options.work).summary(percentiles: [50, 99])
        return (connectionsPerSecond ?? perSecond(metrics.successesInTime), summary?[50], summary?[99])
    }

    /// The figures of the last run, in words.
    package var lastRun: String {
        guard let run = runs.last else { return "" }
        let unit = plan.options.work == .requests ? "successes/s" : "connections/s"
        let times = [("p50", run.p50), ("p99", run.p99)].map { "\($0) \($1.map { timeText($0) } ?? "-")" }
        return "\(fixed(run.perSecond, 2)) \(unit), " + times.joined(separator: ", ")
    }

    /// A table of several runs with the spread of their figures. It is empty for one run.
    package var runTable: [String] {
        guard runs.count > 1 else { return [] }
        let rows: [(String, [Double], (Double) -> String)] = [
            ("per second", runs.map(\.perSecond), { fixed($0, 2) }),
            ("p50", runs.compactMap { $0.p50.map { Double($0) } }, { timeText($0) }),
            ("p99", runs.compactMap { $0.p99.map { Double($0) } }, { timeText($0) }),
        ]
        let columns = ["least", "median", "most", "spread"].map { right($0, 12) }.joined()
        return [left("\(runs.count) runs", 12) + columns]
            + rows.compactMap { name, values, text in
                guard let least = values.min(), let most = values.max() else { return nil }
                let median = values.median
                let spread = median > 0 ? fixed((most - least) / median * 100, 1) + " %" : "-"
                let cells = [least, median, most].map(text) + [spread]
                return left("  " + name, 12) + cells.map { right($0, 12) }.joined()
            }
    }
}

/// Whether volley itself was the limit. An open-loop run that did not keep its schedule proves nothing about the
/// server.
extension RunResult {
    /// The share of a thread's time above which the thread counts as busy.
    private static let busy = 0.9
    /// The percentiles that volley's lateness must not change, together with those of the conditions.
    private static let told: Set<Double> = [50, 90, 99]

    /// Why volley, and not the server, limited the figures. Empty if volley kept up, and in a closed loop, which sends
    /// as much as it can.
    package var generatorLimits: [String] {
        guard metrics.has(.schedule) else { return [] }
        return [lateness, overload].compactMap(\.self)
    }

    private var isOnlyLate: Bool { overload == nil && !generatorLimits.isEmpty }

    /// A thread that polls is always busy.
    private var overload: String? { plan.options.spin == 0 ? busiest : nil }

    /// Describes the highest percentile that volley's lateness raised by more than a tenth and by more than
    /// ``LoadOptions/maxLag``. Nil if there is none.
    private var lateness: String? {
        let percentiles = Self.told.union(plan.options.thresholds.compactMap(\.metric.correctedPercentile)).union(
            plan.options.search?.percentiles ?? []
        ).sorted()
        guard let corrected = metrics[.corrected].summary(percentiles: percentiles),
            let without = metrics[.unlagged].summary(percentiles: percentiles)
        else { return nil }
        let moved = zip(corrected.percentiles, without.percentiles).filter { mine, theirs in
            let shift = mine.value - min(mine.value, theirs.value)
            return shift > max(plan.options.maxLag, mine.value / 10)
        }
        guard let (mine, theirs) = moved.last else { return nil }
        let name = LatencyHistogram.name(ofPercentile: mine.percentile)
        return
            "its own lateness made the p\(name) \(timeText(mine.value)), which would have been \(timeText(theirs.value)): use "
            + "more threads\(plan.options.names.flag(.threads)), an idle machine or a lower rate"
    }

    /// Returns notes that do not affect the verdict: a busy thread in a closed loop, and requests that waited for a
    /// connection in an open loop.
    package var limitNotes: [String] {
        var notes: [String] = []
        if !metrics.has(.schedule), plan.options.work == .requests, let text = busiest {
            notes.append("volley may be the limit, and not the server: \(text)")
        }
        let (due, delayed) = (metrics[.due], metrics[.delayed])
        if due > 0, delayed > due / 100 {
            notes.append(
                "all connections were busy for \(fixed(Double(delayed) / Double(due) * 100, 1)) % of the "
                    + "requests when they were due: with more than \(plan.options.names.of(.connections)) \(plan.options.connections) they need not wait"
            )
        }
        return notes
    }

    /// Describes the thread that was busiest, with its own work or waiting for a core that others used. Nil if none was
    /// busy. Such a thread reads answers late, and its connections count as busy meanwhile. This raises latencies, but
    /// no lag.
    private var busiest: String? {
        guard measured > 0 else { return nil }
        let share = { (time: UInt64) in Double(time) / Double(measured) }
        let shares = threads.map { share($0.cpuNanoseconds &+ $0.queuedNanoseconds) }
        guard let index = shares.indices.max(by: { shares[$0] < shares[$1] }), shares[index] > Self.busy else {
            return nil
        }
        let used = fixed(share(threads[index].cpuNanoseconds) * 100, 0)
        guard share(threads[index].queuedNanoseconds) > 1 - Self.busy else {
            return "thread \(index) used \(used) % of a core: use more threads\(plan.options.names.flag(.threads))"
        }
        let wanted = fixed(min(shares[index], 1) * 100, 0)
        return "thread \(index) had work for \(wanted) % of the time, and a core for \(used) %: use an idle machine"
    }
}
