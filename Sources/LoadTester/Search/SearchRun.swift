import Reactor
import TestServer

/// `--search-max`: runs at one rate after another until it knows the highest that keeps the goal, then reports a run at that.
package struct SearchRun {
    private let options: Options
    private let goal: SearchGoal
    private let start: Rate
    private let limits: SystemLimits
    private let preflight: Preflight

    /// - Parameter start: the first rate to try.
    package init(_ options: Options, goal: SearchGoal, from start: Rate) throws(UsageError) {
        (self.options, self.goal, self.start) = (options, goal, start)
        limits = .read()
        preflight = try Preflight(options, limits)
    }

    package func perform() throws(UsageError) -> Verdict {
        // An hour of trials is not for a report that nobody can write.
        let files = try ReportFile.open(options.reports)
        var stage = try RunStage(options, preflight, limits)
        defer { stage.close() }
        // Of the trials, what is looked at while they go on; the reports are the last run's.
        var watch = RunWatch(options, RunPlan(options, preflight), files: [], metrics: stage.metrics)
        var watched: UInt64 = 0
        var search = RateSearch(from: start)
        var lines: [String] = []
        var limitedAt: Rate?
        var last: RunResult?
        while true {
            switch search.step {
            case .trial(let rate):
                let result = try tried(rate, on: &stage, &watch)
                watched &+= result.measured
                watch.renew(after: watched)
                last = result
                if result.interrupted {
                    lines.append("the search was interrupted: this is what its last run had come to")
                    return try report(result, lines, to: files, &stage)
                }
                let isLimited = !result.generatorLimits.isEmpty
                if isLimited { limitedAt = min(limitedAt ?? rate, rate) }
                let isGood = !isLimited && goal.holds(result.tally)
                let line = Self.line(rate, result, isGood ? "good" : isLimited ? "volley was the limit" : "not good")
                lines.append(line)
                stage.say(line)
                search.record(isGood: isGood)
            case .found(let rate):
                var final = at(rate)
                final.inputs.notes += lines
                final.inputs.notes.append(
                    "the highest rate with \(goal.text) is \(rate), within 5 %; this is another run at it"
                )
                let verdict = try Run(final, limits: limits).perform(on: &stage, files)
                // Then the server may take more than was found.
                guard let limitedAt, limitedAt.perSecond <= rate.perSecond * RateSearch.precision, verdict == .good
                else {
                    return verdict
                }
                return .generatorLimited
            case .none:
                guard let last else { throw UsageError("--search-max: no rate keeps \(goal.text): nothing was tried") }
                lines.append("no rate keeps \(goal.text): this is the last run that was tried")
                _ = try report(last, lines, to: files, &stage)
                return last.generatorLimits.isEmpty ? .threshold : .generatorLimited
            }
        }
    }

    /// A run at a rate, against a server of its own if it is ours.
    private func tried(
        _ rate: Rate,
        on stage: inout RunStage,
        _ watch: inout RunWatch
    ) throws(UsageError) -> RunResult {
        var plan = RunPlan(at(rate), preflight)
        let server = try plan.startEmbeddedServer()
        defer { server?.stop() }
        let requests = try EngineRequests(plan, embedded: server?.address)
        return try stage.run(plan, requests, &watch)
    }

    private func at(_ rate: Rate) -> Options {
        var options = options
        options.profile = LoadProfile(rate: rate, duration: options.duration ?? 10_000_000_000)
        return options
    }

    /// A search without a result still says what it saw.
    private func report(
        _ result: RunResult,
        _ lines: [String],
        to files: [ReportFile],
        _ stage: inout RunStage
    ) throws(UsageError) -> Verdict {
        var result = result
        result.notes += lines
        stage.finishRuns()
        try ReportFile.write(files) { format throws(UsageError) in try Reports.text(result, format) }
        return result.verdict
    }

    private static func line(_ rate: Rate, _ result: RunResult, _ verdict: String) -> String {
        let p99 = result.tally.schedule?.corrected.summary(percentiles: [99])?[99]
        return "search: \(fixed(rate.perSecond, 1))/s, p99 \(p99.map { Units.time($0) } ?? "unknown"), "
            + "\(grouped(result.tally.errors)) errors: \(verdict)"
    }
}
