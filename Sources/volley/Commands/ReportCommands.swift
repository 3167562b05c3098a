import ArgumentParser
import UncurlLoad
import UncurlLoadReports
import UncurlReactor
import UncurlText

struct MergeCommand: DocumentedCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley merge",
        abstract: "Combine the reports of a run's parts by adding their histograms, not by averaging percentiles.",
        usage: "volley merge [--format FORMAT[=FILE]] [-o FILE] REPORT…",
        discussion: """
            A report is a file of --format json, or an interval log of --format hlog. The parts come from --shard, or \
            from simultaneous runs on several machines. Exit status: that of the worst part, or 1 where a report \
            cannot be read.
            """,
        helpNames: HelpPage.names
    )

    @Option(help: .of("format", "merge")) var format: [String] = []

    @Option(name: [.customShort("o"), .long], help: .of("output", "merge")) var output: [String] = []

    @Argument(help: .of("report", "merge")) var reports: [String]

    func perform() throws(UsageError) -> Verdict {
        let (paths, sinks) = (reports, try ReportSink.parse(format, outputs: output))
        try need(!paths.isEmpty, "merge has nothing to merge: name JSON reports, or interval logs (.hlog)")
        try need(Set(paths).count == paths.count, "merge would count a report twice: name each once")
        for sink in sinks where ![.text, .json, .html, .hgrm, .hlog].contains(sink.format) {
            throw UsageError("merge writes text, json, html, hgrm and hlog, not \(sink.format.rawValue)")
        }
        let logs = paths.filter { $0.hasSuffix(".hlog") }
        guard logs.isEmpty || logs.count == paths.count else {
            throw UsageError("merge cannot combine logs with reports: name either .hlog files or JSON reports")
        }
        return logs.isEmpty ? try Self.merge(reports: paths, sinks) : try Self.merge(logs: paths, sinks)
    }

    private static func merge(reports paths: [String], _ sinks: [ReportSink]) throws(UsageError) -> Verdict {
        var reports: [SavedReport] = []
        for path in paths { reports.append(try SavedReport(path: path)) }
        if sinks.contains(where: { $0.format == .hlog }) {
            throw UsageError("merge writes hlog only from interval logs: name .hlog files")
        }
        let files = try ReportFile.open(sinks)
        let whole = try SavedReport.merged(reports)
        try ReportFile.write(files) { file throws(UsageError) in
            switch file.format {
            case .json: whole.document.text
            case .html: try whole.page()
            case .hgrm: (try whole.headline() ?? LatencyHistogram()).percentileText()
            case .text: try whole.text(in: file.style)
            case .hlog, .csv, .requests, .wrk, .markdown, .junit, .github: ""
            }
        }
        let status = whole.document["exit_status"]?.integer ?? 0
        return Verdict(rawValue: Int32(clamping: status)) ?? .good
    }

    private static func merge(logs paths: [String], _ sinks: [ReportSink]) throws(UsageError) -> Verdict {
        var logs: [(path: String, contents: HistogramLog.Contents)] = []
        for path in paths {
            let bytes = try readFile(path, for: "the log", limit: 1 << 30)
            let text = String(decoding: bytes, as: UTF8.self)
            logs.append((path, try HistogramLog.read(text, path: path)))
        }
        if let other = sinks.first(where: { [.json, .html].contains($0.format) })?.format {
            throw UsageError("interval logs contain only times: merge JSON reports for \(other.rawValue)")
        }
        let files = try ReportFile.open(sinks)
        let whole = try LogMerge(logs)
        // A merged log is complete at once, so it is written like a report.
        for file in files where file.format == .hlog {
            do throws(Errno) { try file.replace(with: whole.text) } catch { throw file.problem(error) }
        }
        try ReportFile.write(files) { file throws(UsageError) in
            switch file.format {
            case .text: return whole.table
            case .hgrm:
                let main = whole.total("corrected") ?? whole.total("raw") ?? whole.totals.first?.histogram
                return (main ?? LatencyHistogram()).percentileText()
            case .hlog, .json, .html, .csv, .requests, .wrk, .markdown, .junit, .github: return ""
            }
        }
        return .good
    }
}

struct CompareCommand: DocumentedCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley compare",
        abstract: "Compare two JSON reports, an earlier and a later one.",
        usage: "volley compare [--tolerance SHARE] [--fail-if CONDITION] BEFORE AFTER",
        discussion: """
            The intervals at the same time of both runs are compared in pairs (Student's t, corrected for the number \
            of figures), so that a drift of both runs changes nothing. A difference that chance explains at 5 %, or a \
            change within the tolerance, counts as none. "cannot tell" means that a change of 20 % is possible too. \
            Two dozen intervals per run are enough: use --interval. Errors that only one of the runs has are compared by their \
            count. Differences between the runs' settings are noted.

            In a virtual machine, what the host took of the processors' time (steal) explains a part of the \
            differences. The column "no steal" is the change without it, and it decides.

            Exit status: 0; 2 where a figure is worse or, with --fail-if, where a condition holds; 3 where volley was \
            the limit in one of the runs and errors have not increased; 1 where a report cannot be read.
            """,
        helpNames: HelpPage.names
    )

    @Option(help: .of("tolerance", "compare")) var tolerance = "2%"

    @Option(parsing: .unconditionalSingleValue, help: .of("fail-if", "compare")) var failIf: [String] = []

    @Argument(help: .of("before", "compare")) var before: String

    @Argument(help: .of("after", "compare")) var after: String

    /// Compares the reports, and writes the result. With conditions, only they decide. Without conditions, a figure
    /// decides that is worse beyond chance and tolerance. If volley was the limit, only errors count.
    func perform() throws(UsageError) -> Verdict {
        guard let share = ThresholdMetric.Kind.share.value(tolerance), (0..<10).contains(share) else {
            throw UsageError("--tolerance \(quoted(tolerance)) is no share: use one such as 3% or 0")
        }
        var thresholds: [Threshold] = []
        for text in failIf {
            let threshold = try Threshold(text, comparing: true)
            try need(
                threshold.isRelative,
                "--fail-if \(quoted(text)) is no change: compare's limits are such as p99>+10% or rps<-5%"
            )
            thresholds.append(threshold)
        }
        let comparison = try Comparison(SavedReport(path: before), SavedReport(path: after), tolerance: share)
        var text = comparison.text
        var isWorse = thresholds.isEmpty && comparison.isWorse
        var hasMoreErrors = thresholds.isEmpty && comparison.hasMoreErrors
        for threshold in thresholds {
            guard let change = try comparison.change(threshold.metric) else {
                throw UsageError(
                    "--fail-if \(quoted(threshold.text)): compare has \(comparison.rows.map(\.name).joined(separator: ", "))"
                )
            }
            guard threshold.comparison.holds(change, threshold.limit) else { continue }
            isWorse = true
            hasMoreErrors = hasMoreErrors || !threshold.metric.counted.isEmpty
            text +=
                "FAILED: \(threshold.text): \(threshold.metric.name) changed \(change.isFinite ? "by " + fixed(change * 100, 1) + " %" : "from nothing to some")\n"
        }
        try BlockingOutput.answer(text)
        if hasMoreErrors || isWorse && !comparison.isLimited { return .threshold }
        return comparison.isLimited ? .generatorLimited : .good
    }
}
