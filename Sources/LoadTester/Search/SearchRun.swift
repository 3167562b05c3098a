import Reactor

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
        try bench.lookUpNames(&signals)
        // An hour of trials is not for a report that nobody can write.
        let files = try ReportFile.open(options.reports)
        var search = RateSearch(from: start)
        var lines: [String] = []
        var limitedAt: Rate?
        var last: RunResult?
        while true {
            switch search.step {
            case .trial(let rate):
                let result = try bench.run(at: profile(rate)) { signals.wait(nanoseconds: 0) == .interrupted }
                last = result
                if result.interrupted {
                    lines.append("the search was interrupted: this is what its last run had come to")
                    return try report(result, lines, to: files, &signals)
                }
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
                var final = options
                final.profile = profile(rate)
                final.inputs.notes += lines
                final.inputs.notes.append(
                    "the highest rate with \(goal.text) is \(rate), within 5 %; this is another run at it"
                )
                var run = try Run(final, limits: .read())
                let verdict = try run.perform()
                // Then the server may take more than was found.
                guard let limitedAt, limitedAt.perSecond <= rate.perSecond * RateSearch.precision, verdict == .good
                else {
                    return verdict
                }
                return .generatorLimited
            case .none:
                guard let last else { throw UsageError("--search-max: no rate keeps \(goal.text): nothing was tried") }
                lines.append("no rate keeps \(goal.text): this is the last run that was tried")
                _ = try report(last, lines, to: files, &signals)
                return last.generatorLimits.isEmpty ? .threshold : .generatorLimited
            }
        }
    }

    /// A search without a result still says what it saw.
    private func report(
        _ result: RunResult,
        _ lines: [String],
        to files: [ReportFile],
        _ signals: inout SignalWait
    ) throws(UsageError) -> Verdict {
        var result = result
        result.notes += lines
        signals.finish()
        try ReportFile.write(files) { format throws(UsageError) in try Reports.text(result, format) }
        return result.verdict
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
