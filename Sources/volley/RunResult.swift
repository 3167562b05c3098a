/// A finished run: what the reports are made of.
struct RunResult: Sendable {
    struct Thread: Sendable, Hashable {
        var connections: Int
        var completed: UInt64
        var cpuNanoseconds: UInt64
    }

    var plan: RunPlan
    /// Milliseconds since 1970, when the first connect was due.
    var startedAt: UInt64
    /// Length of the measured part as it turned out, in nanoseconds.
    var measured: UInt64
    var threads: [Thread]
    var tally: Tally
    var notes: [String]
    var interrupted: Bool

    var verdict: Verdict { Verdict(tally, interrupted: interrupted) }

    /// `count` spread over the measured time; 0 for a run that was over at once.
    func perSecond(_ count: UInt64) -> Double {
        measured == 0 ? 0 : Double(count) / (Double(measured) / 1e9)
    }
}
