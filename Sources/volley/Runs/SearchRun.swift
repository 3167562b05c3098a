import LoadGenerator
import Reactor
import TestServer

/// `--search-max`: runs at one rate after another until it knows the highest that keeps the goal, then reports a run at
/// that.
struct SearchRun {
    private let invocation: Invocation
    private let target: SearchTarget
    private let start: Rate
    private let limits: SystemLimits
    private let preflight: Preflight

    /// - Parameter start: the first rate to try.
    init(_ invocation: Invocation, goal: SearchGoal, from start: Rate) throws(UsageError) {
        (self.invocation, target, self.start) = (invocation, SearchTarget(goal), start)
        limits = .read()
        preflight = try orUsage(try Preflight(invocation.load, limits))
    }

    func perform() throws(UsageError) -> Verdict {
        // An hour of trials is not for a report that nobody can write.
        let files = try ReportFile.open(invocation.reports)
        var stage = try RunStage(invocation, preflight, limits)
        defer { stage.close() }
        // Of the trials, what is looked at while they go on; the reports are the confirmation's.
        var watch = RunWatch(
            invocation,
            RunPlan(invocation.load, preflight),
            files: [],
            live: stage.live
        )
        var watched: UInt64 = 0
        var search = RateSearch(from: start)
        var lines: [String] = []
        var last: Run.Measured?
        while case .trial(let rate) = search.step {
            let measured: Run.Measured
            if search.isConfirming {
                measured = try Run(at(rate, search.isLimitedAbove), limits: limits).measure(on: &stage, files)
            } else {
                measured = Run.Measured(result: try tried(rate, on: &stage, &watch), trouble: nil)
                watched &+= measured.result.measured
                watch.renew(after: watched)
            }
            last = measured
            if measured.result.interrupted {
                lines.append("the search was interrupted: this is what its last run had come to")
                return try report(measured, lines, to: files, &stage)
            }
            let trial = Self.trial(measured.result, target.goal)
            lines.append(Self.line(rate, measured.result, trial))
            stage.say(lines[lines.count - 1])
            search.record(trial)
        }
        guard let last else { throw UsageError("--search-max: no rate keeps \(target.goal.text): nothing was tried") }
        if case .found(let rate) = search.step {
            lines.append(
                "the highest rate with \(target.goal.text) is \(rate), \(Self.words(search)); this is the last run at it"
            )
            return try report(last, lines, to: files, &stage)
        }
        lines.append("no rate keeps \(target.goal.text): this is the last run that was tried")
        let verdict = try report(last, lines, to: files, &stage)
        return verdict == .good ? .threshold : verdict
    }

    /// A run at a rate, against a server of its own if it is ours.
    private func tried(
        _ rate: Rate,
        on stage: inout RunStage,
        _ watch: inout RunWatch
    ) throws(UsageError) -> RunResult {
        var plan = RunPlan(at(rate).load, preflight)
        let server = try orUsage(try plan.startEmbeddedServer())
        defer { server?.stop() }
        let requests = try orUsage(try EngineRequests(plan, embedded: server?.address))
        return try stage.run(plan, requests, &watch)
    }

    private func at(_ rate: Rate, _ isLimitedAbove: Bool = false) -> Invocation {
        var trial = invocation
        trial.load.search = target
        trial.load.search?.isLimitedAbove = isLimitedAbove
        trial.load.profile = LoadProfile(rate: rate, duration: invocation.load.duration ?? 10_000_000_000)
        return trial
    }

    /// What a search has come to: its last run, and how it came there.
    private func report(
        _ measured: Run.Measured,
        _ lines: [String],
        to files: [ReportFile],
        _ stage: inout RunStage
    ) throws(UsageError) -> Verdict {
        var measured = measured
        measured.result.notes += lines
        stage.finishRuns()
        return try measured.report(to: files)
    }

    /// A trial that keeps the goal is good, whatever volley was late for: its lateness is in the latency.
    static func trial(_ result: RunResult, _ goal: SearchGoal) -> RateSearch.Trial {
        if goal.holds(result.metrics) { return .good }
        return result.generatorLimits.isEmpty ? .bad : .unclear
    }

    private static func words(_ search: RateSearch) -> String {
        guard search.uncertainty.isFinite else { return "and none above it was tried" }
        let span = "within \(fixed((search.uncertainty * 100).rounded(.up), 0)) %"
        guard search.isLimitedAbove else { return span }
        return "\(span) of one that was missed when volley was the limit, so that the server may take more"
    }

    private static func line(_ rate: Rate, _ result: RunResult, _ trial: RateSearch.Trial) -> String {
        let verdict =
            switch trial {
            case .good: result.generatorLimits.isEmpty ? "good" : "good, though volley was late"
            case .bad: "not good"
            case .unclear: "not good, and volley was the limit"
            }
        let p99 = result.metrics.schedule?.corrected.summary(percentiles: [99])?[99]
        return "search: \(fixed(rate.perSecond, 1))/s, p99 \(p99.map { Units.time($0) } ?? "unknown"), "
            + "\(grouped(result.metrics.errors)) errors: \(verdict)"
    }
}
