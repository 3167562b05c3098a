import UncurlLoad

/// A checked command line. Nothing has been started or looked up.
struct Invocation: Sendable {
    var load: LoadOptions
    var reports: [ReportSink] = [.text]
    /// What is written to standard error during a run besides errors: notes, a line of the progress, and plots.
    var showsNotes = false
    var showsProgress = false
    var showsPlots = false
    /// The time of the start in milliseconds since 1970; nil starts at once.
    var startAt: UInt64?
    /// The number of runs; the reports cover all of them together.
    var repeats = 1
    /// The length of an interval in reports with a run's course, in nanoseconds.
    var interval: UInt64 = 1_000_000_000
    var metricsPort: UInt16?
    var collector: TargetURL?
    var abortsOnFail = false
    /// How long the Prometheus page waits for one more scrape after the end, in nanoseconds.
    var linger: UInt64 = 0

    init(_ command: LoadCommand) throws(UsageError) {
        load = try LoadOptions(command)
        reports = try ReportSink.parse(command.format, outputs: command.output)
        showsNotes = !command.quiet
        showsProgress = showsNotes && !command.noProgress
        showsPlots = showsProgress && command.live
        interval = try Self.interval(command.interval)
        metricsPort = try Self.metricsPort(command.prometheus)
        if let text = command.otlp {
            do throws(LoadTestError) { collector = try TargetURL(text) } catch { throw UsageError("--otlp: \(error)") }
        }
        if let text = command.linger {
            guard metricsPort != nil else { throw UsageError("--linger is about scrapes: use it with --prometheus") }
            linger = try UInt64(time: text, for: "--linger", allowingZero: true)
        }
        abortsOnFail = command.abortOnFail
        guard !abortsOnFail || !load.thresholds.isEmpty else {
            throw UsageError("--abort-on-fail is about conditions: use it with --fail-if")
        }
        repeats = try LoadOptions.count(command.repeats, for: "--repeat", limit: 1_000)
        startAt = try command.startAt.map { text throws(UsageError) in try Self.instant(text) }
        guard load.work == .requests || !reports.contains(where: { $0.format == .wrk }) else {
            throw UsageError("--format wrk has no words for --handshake-only: use text or json")
        }
        guard command.pace.searchMax == nil || startAt == nil else {
            throw UsageError("--search-max makes many runs, and --start-at says when one starts: leave it out")
        }
        if command.live, command.quiet || command.noProgress {
            throw UsageError(
                "--live and \(command.quiet ? "--quiet" : "--no-progress") exclude each other: leave one out"
            )
        }
    }

    private static func instant(_ text: String) throws(UsageError) -> UInt64 {
        // Up to the year 5138. A later time is a mistake, such as a time in milliseconds.
        guard let seconds = Double(text), seconds >= 0, seconds < 1e11 else {
            throw UsageError("--start-at \(quoted(text)) is no time: use seconds since 1970, as `date +%s` prints them")
        }
        return UInt64(seconds * 1_000)
    }

    private static func interval(_ text: String) throws(UsageError) -> UInt64 {
        let length = try UInt64(time: text, for: "--interval")
        // In shorter intervals, the ticks that end them would be late by as much as they measure.
        try need(length >= 100_000_000, "--interval \(quoted(text)) is too short: use 100ms or more")
        return length
    }

    private static func metricsPort(_ text: String?) throws(UsageError) -> UInt16? {
        guard let text else { return nil }
        guard let port = UInt16(text) else {
            throw UsageError("--prometheus \(quoted(text)) is no port: use a number from 0 to 65535")
        }
        return port
    }
}
