/// Decides whether volley itself was the limit. An open-loop run that did not keep its schedule proves nothing about
/// the server.
package enum GeneratorLimits {
    /// The share of a thread's time above which the thread counts as busy.
    static let busy = 0.9
    /// The percentiles that volley's lateness must not change, together with those of the conditions.
    private static let told: Set<Double> = [50, 90, 99]

    /// Returns the reasons. There are none in a closed loop, which sends as much as it can.
    package static func reasons(_ result: RunResult) -> [String] {
        guard result.metrics.has(.schedule) else { return [] }
        var reasons: [String] = []
        if let reason = lateness(result.metrics, result.plan) { reasons.append(reason) }
        if let text = overload(result) { reasons.append(text) }
        return reasons
    }

    /// Whether volley was late, and in no other way the limit.
    static func isOnlyLate(_ result: RunResult) -> Bool { overload(result) == nil && !reasons(result).isEmpty }

    /// A thread that polls is always busy.
    private static func overload(_ result: RunResult) -> String? { result.plan.spin == 0 ? busiest(result) : nil }

    /// Describes the highest percentile that volley's lateness raised by more than a tenth and by more than
    /// ``RunPlan/maxLag``. Nil if there is none.
    private static func lateness(_ metrics: Metrics, _ plan: RunPlan) -> String? {
        let percentiles = told.union(plan.thresholds.compactMap(\.metric.correctedPercentile)).union(
            plan.search?.goal.percentiles ?? []
        ).sorted()
        guard let corrected = metrics[.corrected].summary(percentiles: percentiles),
            let without = metrics[.unlagged].summary(percentiles: percentiles)
        else { return nil }
        let moved = zip(corrected.percentiles, without.percentiles).filter { mine, theirs in
            let shift = mine.value - min(mine.value, theirs.value)
            return shift > max(plan.maxLag, mine.value / 10)
        }
        guard let (mine, theirs) = moved.last else { return nil }
        return
            "its own lateness made the p\(mine.name) \(Units.time(mine.value)), which would have been \(Units.time(theirs.value)): use "
            + "more threads\(plan.names.flag(.threads)), an idle machine or a lower rate"
    }

    /// Returns notes that do not affect the verdict: a busy thread in a closed loop, and requests that waited for a
    /// connection in an open loop.
    package static func notes(_ result: RunResult) -> [String] {
        var notes: [String] = []
        if !result.metrics.has(.schedule), result.plan.work == .requests, let text = busiest(result) {
            notes.append("volley may be the limit, and not the server: \(text)")
        }
        let (due, delayed) = (result.metrics[.due], result.metrics[.delayed])
        if due > 0, delayed > due / 100 {
            notes.append(
                "all connections were busy for \(fixed(Double(delayed) / Double(due) * 100, 1)) % of the "
                    + "requests when they were due: with more than \(result.plan.names[.connections]) \(result.plan.connections) they need not wait"
            )
        }
        return notes
    }

    /// Describes the thread that was busiest, with its own work or waiting for a core that others used. Nil if none was
    /// busy. Such a thread reads answers late, and its connections count as busy meanwhile. This raises latencies, but
    /// no lag.
    private static func busiest(_ result: RunResult) -> String? {
        guard result.measured > 0 else { return nil }
        let share = { (time: UInt64) in Double(time) / Double(result.measured) }
        let shares = result.threads.map { share($0.cpuNanoseconds &+ $0.queuedNanoseconds) }
        guard let index = shares.indices.max(by: { shares[$0] < shares[$1] }), shares[index] > busy else { return nil }
        let used = fixed(share(result.threads[index].cpuNanoseconds) * 100, 0)
        guard share(result.threads[index].queuedNanoseconds) > 1 - busy else {
            return "thread \(index) used \(used) % of a core: use more threads\(result.plan.names.flag(.threads))"
        }
        let wanted = fixed(min(shares[index], 1) * 100, 0)
        return "thread \(index) had work for \(wanted) % of the time, and a core for \(used) %: use an idle machine"
    }
}
