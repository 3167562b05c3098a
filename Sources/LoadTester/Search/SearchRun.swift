import Reactor
import TestServer

/// `--search-max`: runs at one rate after another until it knows the highest that keeps the goal, then reports a run at that.
package struct SearchRun {
    private let options: Options
    private let goal: SearchGoal
    private let start: Rate

    /// - Parameter start: the first rate to try.
    package init(_ options: Options, goal: SearchGoal, from start: Rate) {
        (self.options, self.goal, self.start) = (options, goal, start)
    }

    package func perform() throws(UsageError) -> Verdict {
        var signals = SignalWait()
        let bench = try LoadBench(options)
        var search = RateSearch(from: start)
        var lines: [String] = []
        var limitedAt: Rate?
        while true {
            switch search.step {
            case .trial(let rate):
                let result = try bench.run(at: profile(rate)) { signals.wait(nanoseconds: 0) == .interrupted }
                if result.interrupted { return .interrupted }
                let isLimited = !result.generatorLimits.isEmpty
                if isLimited { limitedAt = min(limitedAt ?? rate, rate) }
                let isGood = !isLimited && goal.holds(result.tally)
                let line = Self.line(rate, result, isGood ? "good" : isLimited ? "volley was the limit" : "not good")
                lines.append(line)
                if options.chatter != .quiet {
                    try? BlockingOutput.writeAll("volley: \(line)\n", to: BlockingOutput.errors)
                }
                search.record(isGood: isGood)
            case .found(let rate):
                var last = options
                last.profile = profile(rate)
                last.inputs.notes += lines
                last.inputs.notes.append(
                    "the highest rate with \(goal.text) is \(rate), within 5 %; this is another run at it"
                )
                var run = try Run(last, limits: .read())
                let verdict = try run.perform()
                // Then the server may take more than was found.
                guard let limitedAt, limitedAt.perSecond <= rate.perSecond * RateSearch.precision, verdict == .good
                else {
                    return verdict
                }
                return .generatorLimited
            case .none:
                throw UsageError("--search-max: no rate keeps \(goal.text): \(lines.last ?? "nothing was tried")")
            }
        }
    }

    private func profile(_ rate: Rate) -> LoadProfile {
        LoadProfile(rate: rate, duration: options.duration ?? 10_000_000_000)
    }

    private static func line(_ rate: Rate, _ result: RunResult, _ verdict: String) -> String {
        let p99 = result.tally.schedule?.corrected.summary(percentiles: [99])?[99]
        return "search: \(fixed(rate.perSecond, 1))/s, p99 \(p99.map { Units.time($0) } ?? "unknown"), "
            + "\(grouped(result.tally.errors)) errors: \(verdict)"
    }
}
