internal import UncurlLibC
import UncurlLoad
import UncurlLoadReports
import UncurlReactor

/// Everything that observes a run: the reports that are written during the run, and the display. It is used on the main
/// thread, in bounded memory whatever the length of the run.
struct RunWatch {
    private let plan: RunPlan
    private let streams: [ReportFile]
    private(set) var intervals: IntervalBoard?
    private let log: RequestLogBoard?
    private var collector: IntervalCollector?
    /// How many workers had ended their warm-up when the counts were last published.
    private var measuring = 0
    private(set) var series = IntervalSeries()
    /// The start of the current run in the reports of several runs, in nanoseconds.
    private var offset: UInt64 = 0
    private var hasBegun = false
    private var display: LiveView
    private let live: LiveMetrics
    private var text: RequestLogText
    private(set) var conditions: ThresholdWatch
    private let abortsOnFail: Bool
    private(set) var trouble: UsageError?
    private var isUnread = false

    /// - Parameter isLead: whether the counts come from other processes, which hand them over by intervals.
    init(_ invocation: Invocation, _ plan: RunPlan, files: [ReportFile], live: LiveMetrics, isLead: Bool = false) {
        (self.plan, self.live) = (plan, live)
        streams = files.filter(\.format.isStream)
        display = LiveView(isWanted: invocation.showsProgress, plots: invocation.showsPlots)
        text = RequestLogText(plan.requestNames.all)
        conditions = ThresholdWatch(plan.options.thresholds, of: plan.options.work, names: plan.requestNames.all)
        abortsOnFail = invocation.abortsOnFail
        let showsCourse = files.contains { $0.format.showsCourse }
        let isWatched = display.isShown || live.page != nil || live.collector != nil || showsCourse || isLead
        if isWatched || conditions.hasWindows || abortsOnFail {
            // A condition that holds must be noticed within a second.
            let most: UInt64 = abortsOnFail && !showsCourse ? 250_000_000 : .max
            let length = min(invocation.interval, most)
            intervals = IntervalBoard(length: length, workers: plan.threads, shape: plan.noMetrics)
        }
        log = files.contains { $0.format == .requests } ? RequestLogBoard() : nil
        collector = intervals.map { IntervalCollector($0, workers: plan.threads, work: plan.options.work) }
    }

    func board(_ allDone: @escaping @Sendable () -> Void = {}) -> WorkerBoard {
        WorkerBoard(workers: plan.threads, intervals: intervals, log: log, allDone: allDone)
    }

    /// How long the main thread may sleep, in nanoseconds.
    var span: UInt64 {
        min(max(intervals?.length ?? 1_000_000_000, 50_000_000), abortsOnFail ? 250_000_000 : 1_000_000_000)
    }

    /// Whether the run is to end: a condition of `--abort-on-fail` holds, or nothing reads a report any more.
    var isToEnd: Bool { abortsOnFail && conditions.breach != nil || isUnread }

    mutating func begin(startedAt: UInt64) {
        live.collector?.renew()
        guard !hasBegun else { return }
        hasBegun = true
        for stream in streams {
            let head =
                switch stream.format {
                case .csv: Interval.csvHead
                case .requests: RequestLogText.head
                default: HistogramLog.head(startedAt: startedAt)
                }
            attempt(stream) { () throws(Errno) in try stream.replace(with: head) }
        }
    }

    /// Makes the runs that were asked for, and returns their sum. An interrupted run, or one that lacks a part, is the
    /// last.
    mutating func measure(
        _ invocation: Invocation,
        on stage: inout RunStage,
        _ run: (_ isFirst: Bool, inout RunWatch, inout RunStage) throws(UsageError) -> RunResult
    ) throws(UsageError) -> Run.Measured {
        var result = try run(true, &self, &stage)
        for number in 1..<max(invocation.repeats, 1)
        where !result.interrupted && !isToEnd && result.lost.isEmpty {
            stage.say("run \(number) of \(invocation.repeats): \(result.lastRun)")
            renew(after: result.measured)
            let next = try run(false, &self, &stage)
            result.lost += next.lost
            result.append(next)
        }
        result.notes += result.lost + notes
        (result.watched, result.punctual) = (conditions.values, conditions.punctual)
        return (result, trouble)
    }

    /// Prepares for another run in the same reports. The earlier runs lasted this long together.
    mutating func renew(after measured: UInt64) {
        offset = measured
        conditions.renew()
        guard let old = intervals else { return }
        let board = IntervalBoard(length: old.length, workers: plan.threads, shape: plan.noMetrics)
        (intervals, collector) = (board, IntervalCollector(board, workers: plan.threads, work: plan.options.work))
    }

    /// Called about once per ``span``. `elapsed` is the time since the start of the run, in nanoseconds.
    mutating func turn(elapsed: UInt64) {
        writeLog()
        guard var collector else { return }
        let complete = collector.collect()
        take(complete)
        self.collector = collector
        noteBeginning(collector)
        if abortsOnFail, let last = complete.last {
            conditions.look(at: collector.total, measured: last.end, underWay: collector.underWay)
        }
        guard display.isShown || live.page != nil || live.collector != nil else { return }
        let total = collector.total
        let end = series.points.last?.end ?? 0
        display.draw(total, series, counted: end - min(offset, end), elapsed: elapsed, of: plan)
        live.page?.publish(total, of: plan)
        // The counts at the end are pushed by `finish`.
        if !collector.isOver, !complete.isEmpty || collector.hasTakenWarmUp {
            live.collector?.publish(total, of: plan)
        }
    }

    /// Makes the result of a run from the workers' last messages.
    mutating func result(_ board: WorkerBoard, startedAt: UInt64, interrupted: Bool) -> RunResult {
        var results = board.finished ?? []
        finish(&results, measured: RunResult.measured(results))
        var result = RunResult(plan: plan, startedAt: startedAt, workers: results, interrupted: interrupted)
        result.course = series
        return result
    }

    /// Adds the counts that were handed over before to the results.
    mutating func finish(_ results: inout [WorkerResult], measured: UInt64) {
        writeLog()
        if var collector {
            take(collector.finish(&results, measured: measured))
            self.collector = collector
            noteBeginning(collector)
            live.page?.publish(collector.total, of: plan)
            live.collector?.finish(collector.total, of: plan)
        }
        display.clear()
    }

    var notes: [String] {
        let lost = log?.lost ?? 0
        return [
            abortsOnFail
                ? conditions.breach.map { threshold, time in
                    "the run was ended after \(timeText(offset &+ time)), when \(threshold.text) held (--abort-on-fail)"
                } : nil, isUnread ? "the run was ended, because what read a report of it had ended" : nil,
            lost > 0 ? "the log of requests lacks \(lost) lines: its file is too slow" : nil, live.collector?.note,
        ].compactMap(\.self)
    }

    /// Notes the end of a warm-up, with which the counts begin anew.
    private mutating func noteBeginning(_ collector: IntervalCollector) {
        if plan.options.warmup > 0, collector.measuring != measuring { live.collector?.renew() }
        measuring = collector.measuring
    }

    private mutating func take(_ intervals: [Interval]) {
        for var interval in intervals {
            conditions.add(interval)
            interval.start &+= offset
            interval.end &+= offset
            series.add(interval, of: plan.options.work)
            for stream in streams where stream.format != .requests {
                let lines = stream.format == .csv ? interval.csv(of: plan) : HistogramLog.lines(interval, of: plan)
                attempt(stream) { () throws(Errno) in try stream.append(Array(lines.utf8).span) }
            }
        }
    }

    private mutating func writeLog() {
        guard let log, let file = streams.first(where: { $0.format == .requests }) else { return }
        for chunk in log.fetch() {
            let lines = text.lines(chunk)
            attempt(file) { () throws(Errno) in try file.append(lines.span) }
        }
    }

    private mutating func attempt(_ file: ReportFile, _ write: () throws(Errno) -> Void) {
        do throws(Errno) {
            try write()
        } catch {
            if trouble == nil { (trouble, isUnread) = (file.problem(error), error.code == EPIPE) }
        }
    }
}
