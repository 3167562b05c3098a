import UncurlLoad
import UncurlTestServer

/// A run from its options to its reports. It uses the main thread.
struct Run {
    private let invocation: Invocation
    private let limits: SystemLimits
    private let plan: RunPlan

    init(_ invocation: Invocation, limits: SystemLimits = .read()) throws(UsageError) {
        (self.invocation, self.limits) = (invocation, limits)
        plan = try orUsage(try RunPlan(invocation.load, limits))
    }

    /// Carries out the run. It throws every error that can be found before the first connect at that time.
    func perform() throws(UsageError) -> Verdict {
        let files = try ReportFile.open(invocation.reports)
        var stage = try RunStage(invocation, plan, limits)
        defer { stage.close() }
        for note in plan.notes { stage.say(note) }
        let measured = try measure(on: &stage, files)
        stage.finishRuns()
        return try Self.report(measured, to: files)
    }

    /// A finished run, and why a report that is written during the run is incomplete.
    typealias Measured = (result: RunResult, trouble: UsageError?)

    static func report(_ run: Measured, to files: [ReportFile]) throws(UsageError) -> Verdict {
        try ReportFile.write(files, after: run.trouble) { file throws(UsageError) in
            try file.format.text(of: run.result, in: file.style)
        }
        return run.result.verdict
    }

    /// Makes one run, which may follow others. Its reports replace those of earlier runs.
    func measure(on stage: inout RunStage, _ files: [ReportFile]) throws(UsageError) -> Measured {
        var plan = plan
        let server = try orUsage(try plan.startEmbeddedServer())
        defer { server?.stop() }
        let requests = try orUsage(try EngineRequests(plan, embedded: server?.address))
        let overflows = SystemLimits.listenOverflows()
        var watch = RunWatch(invocation, plan, files: files, live: stage.live)
        let startAt = invocation.startAt
        var measured = try watch.measure(invocation, on: &stage) { isFirst, watch, stage throws(UsageError) in
            let board = watch.board { SignalWait.wake() }
            let (start, interrupted) = try stage.run(
                plan,
                requests,
                board,
                startAt: isFirst ? startAt : nil,
                span: watch.span,
                begin: { watch.begin(startedAt: $0) }
            ) { elapsed in
                watch.turn(elapsed: elapsed)
                return watch.isToEnd
            }
            return watch.result(board, startedAt: start, interrupted: interrupted)
        }
        let isLocal = invocation.load.targetsThisMachine
        let note = SystemLimits.overflowNote(since: overflows, now: SystemLimits.listenOverflows(), isLocal: isLocal)
        let count = server.map { "the embedded server counted \($0.requestCount) requests in all" }
        measured.result.notes += [note, count].compactMap(\.self)
        return measured
    }
}

extension SystemLimits {
    /// The connects that this machine's listeners dropped because their accept queues were full, since the start of the
    /// machine or of its network namespace. Such a connect is repeated after one, three and seven seconds, which looks
    /// like a slow server. Nil where `/proc` does not have the count.
    static func listenOverflows(path: String = "/proc/net/netstat") -> UInt64? {
        (try? readFile(path, limit: 1 << 16)).flatMap { listenOverflows(in: String(decoding: $0, as: UTF8.self)) }
    }

    /// Parses pairs of lines: the names of a group, then its numbers in the same order.
    static func listenOverflows(in text: String) -> UInt64? {
        let rows = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.first == "TcpExt:" }
        guard rows.count == 2, let column = rows[0].firstIndex(of: "ListenOverflows"), column < rows[1].count
        else { return nil }
        return UInt64(rows[1][column])
    }

    /// A note about connects that were dropped since `before`. Nil if there were none, or if the server is on another
    /// machine, whose queues are unknown.
    static func overflowNote(since before: UInt64?, now: UInt64?, isLocal: Bool) -> String? {
        guard isLocal, let before, let now, now > before else { return nil }
        return
            "\(grouped(now - before)) connects met a full accept queue on this machine (ListenOverflows) and were tried "
            + "again after a second or more: give the server a longer backlog, or use --connect-rate"
    }
}

/// `--search-max`: runs at one rate after another until it knows the highest rate that keeps the goal, then reports a
/// run at that rate.
extension Run {
    func search(for goal: SearchGoal, from start: Rate) throws(UsageError) -> Verdict {
        // A report that cannot be written is an error before the first trial.
        let files = try ReportFile.open(invocation.reports)
        var stage = try RunStage(invocation, plan, limits)
        defer { stage.close() }
        let limits = limits
        return try search(for: goal, from: start, on: &stage, files) { trial, _, stage throws(UsageError) in
            try Run(trial, limits: limits).measure(on: &stage, files)
        }
    }

    /// Carries out the search.
    ///
    /// - Parameters:
    ///   - files: The search's reports. Those that are written during a run replace the ones of the run before, since
    ///     any run may be the last.
    ///   - measure: Makes a run at a rate, in this process or in processes that it leads.
    func search(
        for goal: SearchGoal,
        from start: Rate,
        on stage: inout RunStage,
        _ files: [ReportFile],
        by measure: (_ trial: Invocation, _ rate: Rate, inout RunStage) throws(UsageError) -> Run.Measured
    ) throws(UsageError) -> Verdict {
        for note in plan.notes { stage.say(note) }
        var search = RateSearch(from: start, notBelow: Rate(nearest: 1e9 / Double(trialLength)))
        var lines: [String] = []
        var last: Run.Measured?
        while case .trial(let rate) = search.step {
            var trial = trial(of: goal, at: rate, search.isLimitedAbove)
            // Only the run that may confirm a rate is repeated.
            if !search.isConfirming { trial.repeats = 1 }
            let measured = try measure(trial, rate, &stage)
            last = measured
            if measured.result.interrupted || !measured.result.lost.isEmpty {
                lines.append("the search was interrupted: these are the figures of its last run")
                return try report(measured, lines, to: files, &stage)
            }
            let verdict = Self.judge(measured.result, goal)
            lines.append(Self.line(rate, measured.result, goal, verdict))
            stage.say(lines[lines.count - 1])
            search.record(verdict)
        }
        guard let last else { throw UsageError("--search-max: no rate keeps \(goal.text): nothing was tried") }
        if case .found(let rate) = search.step {
            let words = Self.words(search)
            lines.append("the highest rate with \(goal.text) is \(rate), \(words); this is the last run at it")
            if goal.isUnclear(last.result.metrics) {
                let seconds = (Double(goal.needed) / rate.perSecond).rounded(.up)
                lines.append(
                    "that is unclear: such a goal needs trials of \(grouped(goal.needed)) requests: use "
                        + "-d \(fixed(seconds, 0))s"
                )
            }
            return try report(last, lines, to: files, &stage)
        }
        lines.append("no rate keeps \(goal.text): this is the last run that was tried")
        let verdict = try report(last, lines, to: files, &stage)
        return verdict == .good ? .threshold : verdict
    }

    /// The duration of a trial in nanoseconds.
    private var trialLength: UInt64 { invocation.load.duration ?? 10_000_000_000 }

    private func trial(of goal: SearchGoal, at rate: Rate, _ isLimitedAbove: Bool) -> Invocation {
        var trial = invocation
        trial.load.search = goal
        trial.load.search?.isLimitedAbove = isLimitedAbove
        // A trial of too few requests for the goal is longer, up to ten times.
        let needed = UInt64(clamping: Int((Double(goal.needed) * 1e9 / rate.perSecond).rounded(.up)))
        let length = max(trialLength, min(needed, trialLength.multipliedReportingOverflow(by: 10).partialValue))
        trial.load.profile = LoadProfile(rate: rate, duration: length)
        if trial.load.duration != nil { trial.load.duration = length }
        return trial
    }

    private func report(
        _ measured: Run.Measured,
        _ lines: [String],
        to files: [ReportFile],
        _ stage: inout RunStage
    ) throws(UsageError) -> Verdict {
        var measured = measured
        measured.result.notes += lines
        stage.finishRuns()
        return try Self.report(measured, to: files)
    }

    /// Judges a trial for ``RateSearch/record(_:)``. A trial that keeps the goal is good even if volley was late: the
    /// latency includes the lateness.
    static func judge(_ result: RunResult, _ goal: SearchGoal) -> Bool? {
        goal.holds(result.metrics) ? true : result.misses(goal) ? false : nil
    }

    private static func words(_ search: RateSearch) -> String {
        guard search.uncertainty.isFinite else { return "and none above it was tried" }
        let span = "within \(fixed((search.uncertainty * 100).rounded(.up), 0)) %"
        guard search.isLimitedAbove else { return span }
        return "\(span) of one that was missed when volley was the limit, so that the server may take more"
    }

    private static func line(
        _ rate: Rate,
        _ result: RunResult,
        _ goal: SearchGoal,
        _ isGood: Bool?
    ) -> String {
        let verdict =
            switch isGood {
            case true? where goal.isUnclear(result.metrics): "good, of too few requests to know"
            case true?: result.generatorLimits.isEmpty ? "good" : "good, though volley was late"
            case false?: "not good"
            case nil: "not good, and volley was the limit"
            }
        let p99 = result.metrics[.corrected].summary(percentiles: [99])?[99]
        return "search: \(fixed(rate.perSecond, 1))/s, p99 \(p99.map { timeText($0) } ?? "unknown"), "
            + "\(grouped(result.metrics.errors)) errors: \(verdict)"
    }
}

/// Finds the highest rate that keeps a goal: it doubles the rate, then bisects, then confirms the result by another
/// run. It only decides which rate is tried next; the caller makes the runs.
///
/// ```
///   bracketing ──bad / good ≤ 1.05──▶ confirming ──good twice──▶ found
///                                       │     ▲
///                                       └─bad─┘ a lower rate: 5 % lower, then 10 %, 21 %, 46 % …
/// ```
struct RateSearch: Sendable {
    enum Step: Hashable, Sendable {
        case trial(Rate)
        /// The highest rate that was good twice.
        case found(Rate)
        case none
    }

    /// The search ends when the first bad rate is at most this factor above the last good one.
    static let precision = 1.05
    /// The most trials: enough for a factor of 2^20 and the bisection. Without this limit, a search on a machine of
    /// changing speed might never end.
    static let trialLimit = 48

    private var good: Double?
    private var bad: Double?
    private var rate: Double
    /// While a rate is confirmed: how often it was good, and the divisor of the rate if it is not good again.
    private var confirming: (goods: Int, drop: Double)?
    private var trials = 0
    private var wasUnclear = false
    /// Whether a higher rate was missed while volley was the limit: then the server may take more.
    private(set) var isLimitedAbove = false
    /// The search does not go below this rate, in requests per second.
    private let lowest: Double

    /// - Parameters:
    ///   - lowest: The rate at which a trial has one request. A lower rate would not even have that.
    init(from rate: Rate, notBelow lowest: Rate) {
        self.rate = rate.perSecond
        self.lowest = min(lowest.perSecond, rate.perSecond)
    }

    var step: Step {
        if isDone { return .found(Rate(nearest: rate)) }
        guard trials < Self.trialLimit, rate >= lowest, rate <= Rate.highest.perSecond else {
            return good.map { .found(Rate(nearest: $0)) } ?? .none
        }
        return .trial(Rate(nearest: rate))
    }

    /// Whether the next trial is the last if it is good.
    var isConfirming: Bool { confirming?.goods == 1 }

    private var isDone: Bool { confirming?.goods == 2 }

    /// How far the highest good rate may be above the found one, as a share of the found one. Infinite if no rate was
    /// bad.
    var uncertainty: Double { bad.map { $0 / rate - 1 } ?? .infinity }

    /// Records the result of the last trial. An unclear trial is repeated once.
    ///
    /// - Parameter isGood: Nil if the goal was missed, but volley was the limit, so that nothing is known of this rate.
    mutating func record(_ isGood: Bool?) {
        trials += 1
        wasUnclear = isGood == nil && !wasUnclear
        if wasUnclear { return }
        if isGood != true { isLimitedAbove = isGood == nil }
        let isGood = isGood == true
        guard let (goods, drop) = confirming else { return bracket(isGood) }
        if isGood {
            confirming = (goods + 1, drop)
        } else {
            // A rate that was good once and bad once is not reliable. Each such rate lowers the next by a larger step,
            // so that the search ends soon where results vary.
            (good, bad) = (nil, rate)
            confirming = (0, drop * drop)
            rate /= drop
        }
    }

    private mutating func bracket(_ isGood: Bool) {
        if isGood { good = rate } else { bad = rate }
        switch (good, bad) {
        case (let good?, let bad?) where bad / good <= Self.precision:
            confirming = (1, Self.precision)
            rate = good
        case (let good?, let bad?): rate = (good * bad).squareRoot()
        case (let good?, nil): rate = good * 2
        case (nil, _): rate /= 2
        }
    }
}
