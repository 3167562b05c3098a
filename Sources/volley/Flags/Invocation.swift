import LoadGenerator

/// A command line, understood: every value checked, nothing started, nothing looked up.
struct Invocation: Sendable {
    /// How much goes to standard error while a run goes on.
    enum Chatter: Hashable, Sendable {
        case progress
        /// Plots as well.
        case live
        case notes
        /// Errors only.
        case quiet
    }

    var load: LoadOptions
    var reports: [ReportSink] = [.text]
    var chatter = Chatter.quiet
    /// Milliseconds since 1970 at which to start; nil: at once.
    var startAt: UInt64?
    /// How often the run is made; the reports are of all together.
    var repeats = 1
    /// How long an interval of the reports that show a run's course is, in nanoseconds.
    var interval: UInt64 = 1_000_000_000
    /// The port of Prometheus' page; nil: there is none.
    var metricsPort: UInt16?
    /// The OpenTelemetry collector that counts are pushed to; nil: none.
    var collector: TargetURL?
    /// A condition that is broken ends the run.
    var abortsOnFail = false
    /// How long that page waits for one more scrape after the end, in nanoseconds.
    var linger: UInt64 = 0

    init(_ command: LoadCommand) throws(UsageError) {
        load = try LoadOptions(command)
        reports = try ReportSink.parse(command.format, outputs: command.output)
        chatter = command.quiet ? .quiet : command.noProgress ? .notes : command.live ? .live : .progress
        interval = try Self.interval(command.interval)
        metricsPort = try Self.metricsPort(command.prometheus)
        if let text = command.otlp {
            do throws(LoadTestError) { collector = try TargetURL(text) } catch { throw UsageError("--otlp: \(error)") }
        }
        if let text = command.linger {
            guard metricsPort != nil else { throw UsageError("--linger is about scrapes: use it with --prometheus") }
            linger = try Quantity.time(text, for: "--linger", allowingZero: true)
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
        // Until the year 5138; milliseconds beyond are no start of anything.
        guard let seconds = Double(text), seconds >= 0, seconds < 1e11 else {
            throw UsageError("--start-at \(quoted(text)) is no time: use seconds since 1970, as `date +%s` prints them")
        }
        return UInt64(seconds * 1_000)
    }

    private static func interval(_ text: String) throws(UsageError) -> UInt64 {
        let length = try Quantity.time(text, for: "--interval")
        // Below it the ticks that end intervals would be late by as much as they measure.
        guard length >= 100_000_000 else {
            throw UsageError("--interval \(quoted(text)) is too short: use 100ms or more")
        }
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
