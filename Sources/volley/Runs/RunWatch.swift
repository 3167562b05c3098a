import LoadGenerator
import LoadReports
import Reactor

/// Everything that looks at a run while it goes on: the reports that are written as it goes, and what is shown. On the main thread, in
/// bounded memory however long it lasts.
struct RunWatch {
    private let plan: RunPlan
    private let streams: [ReportFile]
    private(set) var intervals: IntervalBoard?
    let log: RequestLogBoard?
    private var collector: IntervalCollector?
    private(set) var series = IntervalSeries()
    /// Where the present run begins in the reports of several, in nanoseconds.
    private var offset: UInt64 = 0
    private var hasBegun = false
    private var display: LiveDisplay
    private let metricsServer: MetricsServer?
    private var text: RequestLogText
    /// The first report that could not be written; the run goes on, and says so at its end.
    private(set) var trouble: UsageError?

    init(_ invocation: Invocation, _ plan: RunPlan, files: [ReportFile], metricsServer: MetricsServer?) {
        (self.plan, self.metricsServer) = (plan, metricsServer)
        streams = files.filter(\.format.isStream)
        display = LiveDisplay(
            isWanted: invocation.chatter == .progress || invocation.chatter == .live,
            plots: invocation.chatter == .live
        )
        text = RequestLogText(plan.requestNames.all)
        let isWatched = display.isShown || metricsServer != nil || files.contains { $0.format.showsCourse }
        intervals =
            !isWatched
            ? nil
            : IntervalBoard(
                length: invocation.interval,
                workers: plan.threads,
                shape: plan.metricsShape
            )
        log = files.contains { $0.format == .requests } ? RequestLogBoard() : nil
        collector = intervals.map { IntervalCollector($0, workers: plan.threads, work: plan.work) }
    }

    /// How long the main thread may sleep, in nanoseconds.
    var span: UInt64 { min(max(intervals?.length ?? 1_000_000_000, 50_000_000), 1_000_000_000) }

    /// - Parameter startedAt: milliseconds since 1970.
    mutating func begin(startedAt: UInt64) {
        guard !hasBegun else { return }
        hasBegun = true
        for stream in streams {
            let head =
                switch stream.format {
                case .csv: IntervalCSV.head
                case .requests: RequestLogText.head
                case .hlog: HistogramLog.head(startedAt: startedAt)
                case .text, .json, .wrk, .html, .hgrm: ""
                }
            attempt { () throws(UsageError) in try stream.replace(with: head) }
        }
    }

    /// Another run follows, in the same reports; those before it took so long together.
    mutating func renew(after measured: UInt64) {
        offset = measured
        guard let old = intervals else { return }
        let board = IntervalBoard(length: old.length, workers: plan.threads, shape: plan.metricsShape)
        intervals = board
        collector = IntervalCollector(board, workers: plan.threads, work: plan.work)
    }

    /// To be called about once a ``span``; `elapsed` counts from the start of the run, in nanoseconds.
    mutating func turn(elapsed: UInt64) {
        writeLog()
        guard var collector else { return }
        take(collector.collect())
        self.collector = collector
        guard display.isShown || metricsServer != nil else { return }
        let total = collector.total
        display.draw(RunSnapshot(total, of: plan.work), total.names, series, elapsed: elapsed, of: plan)
        metricsServer?.publish(total, of: plan)
    }

    /// Between the last letter from a worker and the first report; the results get what was handed over before.
    mutating func finish(_ results: inout [WorkerResult], measured: UInt64) {
        writeLog()
        if var collector {
            take(collector.finish(&results, measured: measured))
            self.collector = collector
            metricsServer?.publish(collector.total, of: plan)
        }
        display.clear()
    }

    /// What the report must say about what was watched.
    var notes: [String] {
        guard let lost = log?.lost, lost > 0 else { return [] }
        return ["the log of requests lost \(lost) lines: its file takes them too slowly"]
    }

    private mutating func take(_ intervals: [Interval]) {
        for var interval in intervals {
            interval.start &+= offset
            interval.end &+= offset
            series.add(interval, of: plan.work)
            for stream in streams {
                let lines =
                    switch stream.format {
                    case .csv: IntervalCSV.lines(interval, of: plan)
                    case .hlog: HistogramLog.lines(interval, of: plan)
                    case .requests, .text, .json, .wrk, .html, .hgrm: ""
                    }
                if !lines.isEmpty { attempt { () throws(UsageError) in try stream.append(lines) } }
            }
        }
    }

    private mutating func writeLog() {
        guard let log, let file = streams.first(where: { $0.format == .requests }) else { return }
        for chunk in log.fetch() {
            do throws(UsageError) { try file.append(text.lines(chunk).span) } catch { trouble = trouble ?? error }
        }
    }

    private mutating func attempt(_ write: () throws(UsageError) -> Void) {
        do throws(UsageError) { try write() } catch { trouble = trouble ?? error }
    }
}
