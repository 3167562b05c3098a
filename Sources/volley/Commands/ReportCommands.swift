import UncurlLoad
import UncurlLoadReports
import UncurlReactor
import UncurlText

/// `volley merge`: combines the reports of a run's parts, and writes the result in any format.
struct MergeJob {
    private let paths: [String]
    private let sinks: [ReportSink]

    init(_ paths: [String], _ sinks: [ReportSink]) throws(UsageError) {
        (self.paths, self.sinks) = (paths, sinks)
        guard !paths.isEmpty else {
            throw UsageError("merge has nothing to merge: name JSON reports, or interval logs (.hlog)")
        }
        guard Set(paths).count == paths.count else {
            throw UsageError("merge would count a report twice: name each once")
        }
        for sink in sinks where ![.text, .json, .html, .hgrm, .hlog].contains(sink.format) {
            throw UsageError("merge writes text, json, html, hgrm and hlog, not \(sink.format.rawValue)")
        }
    }

    func perform() throws(UsageError) -> Verdict {
        let logs = paths.filter { $0.hasSuffix(".hlog") }
        guard logs.isEmpty || logs.count == paths.count else {
            throw UsageError("merge cannot combine logs with reports: name either .hlog files or JSON reports")
        }
        return logs.isEmpty ? try mergeReports() : try mergeLogs()
    }

    private func mergeReports() throws(UsageError) -> Verdict {
        var reports: [SavedReport] = []
        for path in paths { reports.append(try orUsage(report: try SavedReport(path: path))) }
        if sinks.contains(where: { $0.format == .hlog }) {
            throw UsageError("merge writes hlog only from interval logs: name .hlog files")
        }
        let files = try ReportFile.open(sinks)
        let whole = try orUsage(report: try ReportMerge.merge(reports))
        try ReportFile.write(files) { format throws(UsageError) in
            switch format {
            case .json: whole.document.text
            case .html: try orUsage(report: try HTMLReport.page(whole.document))
            case .hgrm: PercentileText.text(try orUsage(report: try whole.headline()) ?? LatencyHistogram())
            case .text: try orUsage(report: try SavedReportText.text(whole))
            case .hlog, .csv, .requests, .wrk, .markdown, .junit, .github: ""
            }
        }
        let status = whole.document["exit_status"]?.integer ?? 0
        return Verdict(rawValue: Int32(clamping: status)) ?? .good
    }

    private func mergeLogs() throws(UsageError) -> Verdict {
        var logs: [(path: String, contents: HistogramLog.Contents)] = []
        for path in paths {
            let bytes = try Files.read(path, for: "the log", limit: 1 << 30)
            let text = String(decoding: bytes, as: UTF8.self)
            logs.append((path, try orUsage(report: try HistogramLog.read(text, path: path))))
        }
        if let other = sinks.first(where: { [.json, .html].contains($0.format) })?.format {
            throw UsageError("interval logs contain only times: merge JSON reports for \(other.rawValue)")
        }
        let files = try ReportFile.open(sinks)
        let whole = try orUsage(report: try LogMerge(logs))
        // A merged log is complete at once, so it is written like a report.
        for file in files where file.format == .hlog {
            do throws(ReportProblem) { try file.replace(with: whole.text) } catch { throw UsageError("\(error)") }
        }
        try ReportFile.write(files) { format throws(UsageError) in
            switch format {
            case .text: return whole.table
            case .hgrm:
                let main = whole.total("corrected") ?? whole.total("raw") ?? whole.totals.first?.histogram
                return PercentileText.text(main ?? LatencyHistogram())
            case .hlog, .json, .html, .csv, .requests, .wrk, .markdown, .junit, .github: return ""
            }
        }
        return .good
    }
}

/// `volley compare`: compares an earlier report with a later one.
struct CompareJob {
    private let old: String
    private let new: String
    private let tolerance: Double
    private let thresholds: [Threshold]

    /// - Parameter tolerance: A share such as `3%`.
    init(_ old: String, _ new: String, tolerance: String, thresholds: [String]) throws(UsageError) {
        (self.old, self.new) = (old, new)
        guard let share = ThresholdMetric.Kind.share.value(tolerance), (0..<10).contains(share) else {
            throw UsageError("--tolerance \(quoted(tolerance)) is no share: use one such as 3% or 0")
        }
        self.tolerance = share
        var parsed: [Threshold] = []
        for text in thresholds {
            let threshold = try Threshold(text, comparing: true)
            guard threshold.isRelative else {
                throw UsageError(
                    "--fail-if \(quoted(text)) is no change: compare's limits are such as p99>+10% or rps<-5%"
                )
            }
            parsed.append(threshold)
        }
        self.thresholds = parsed
    }

    /// Compares the reports, and writes the result. With conditions, only they decide. Without conditions, a figure
    /// decides that is worse beyond chance and tolerance. If volley was the limit, only errors count.
    func perform() throws(UsageError) -> Verdict {
        let comparison = try orUsage(
            report: try Comparison(SavedReport(path: old), SavedReport(path: new), tolerance: tolerance)
        )
        var text = comparison.text
        var isWorse = thresholds.isEmpty && comparison.isWorse
        var hasMoreErrors = thresholds.isEmpty && comparison.hasMoreErrors
        for threshold in thresholds {
            guard let change = try orUsage(report: try comparison.change(threshold.metric)) else {
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
        do throws(Errno) {
            try BlockingOutput.writeAll(text, to: BlockingOutput.standard)
        } catch {
            throw UsageError("standard output cannot be written: \(error): open it")
        }
        if hasMoreErrors || isWorse && !comparison.isLimited { return .threshold }
        return comparison.isLimited ? .generatorLimited : .good
    }
}
