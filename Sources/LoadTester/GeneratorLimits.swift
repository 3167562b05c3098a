/// Whether volley itself was the limit: an open-loop run whose schedule was not kept says nothing sure of the server.
enum GeneratorLimits {
    /// Later than this by itself, volley's lateness shows in the figures of a fast server.
    static let tolerableLag: UInt64 = 1_000_000
    static let busy = 0.9

    /// Nothing in a closed loop, which asks for all there is.
    static func reasons(_ result: RunResult) -> [String] {
        guard let schedule = result.tally.schedule else { return [] }
        var reasons: [String] = []
        let corrected = schedule.corrected.summary(percentiles: [99])?[99] ?? 0
        if let lag = schedule.lag.summary(percentiles: [99])?[99], lag > max(tolerableLag, corrected / 10) {
            reasons.append(
                "it noticed 1 in 100 requests \(Units.time(lag)) or more after they were due: use more threads (-t), "
                    + "an idle machine or a lower rate"
            )
        }
        // Who polls is always busy.
        if result.plan.spin == 0, let text = busiest(result) { reasons.append(text) }
        return reasons
    }

    /// What a closed loop says instead, where it is no verdict.
    static func notes(_ result: RunResult) -> [String] {
        var notes: [String] = []
        if result.tally.schedule == nil, result.plan.work == .requests, let text = busiest(result) {
            notes.append("\(text), so that volley may be the limit and not the server")
        }
        if let schedule = result.tally.schedule, schedule.due > 0, schedule.delayed > schedule.due / 100 {
            notes.append(
                "all connections were busy for \(fixed(Double(schedule.delayed) / Double(schedule.due) * 100, 1)) % of the "
                    + "requests when they were due: with more than -c \(result.plan.connections) they need not wait here"
            )
        }
        return notes
    }

    /// The thread that had the least time to spare: work of its own, and waiting for a core that others had. What it was late for by that shows
    /// in latencies, but in no lag: answers lie unread, and connections count as busy meanwhile.
    private static func busiest(_ result: RunResult) -> String? {
        guard result.measured > 0 else { return nil }
        let share = { (time: UInt64) in Double(time) / Double(result.measured) }
        let shares = result.threads.map { share($0.cpuNanoseconds &+ $0.queuedNanoseconds) }
        guard let index = shares.indices.max(by: { shares[$0] < shares[$1] }), shares[index] > busy else { return nil }
        let used = fixed(share(result.threads[index].cpuNanoseconds) * 100, 0)
        guard share(result.threads[index].queuedNanoseconds) > 1 - busy else {
            return "thread \(index) used \(used) % of a core: use more threads (-t)"
        }
        let wanted = fixed(min(shares[index], 1) * 100, 0)
        return "thread \(index) had work for \(wanted) % of the time, and a core for \(used) %: use an idle machine"
    }
}
