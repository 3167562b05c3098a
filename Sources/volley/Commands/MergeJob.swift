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
