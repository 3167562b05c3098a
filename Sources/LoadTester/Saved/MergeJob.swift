import Reactor

/// `volley merge`: reports of a run's parts become one, in any form.
package struct MergeJob {
    private let paths: [String]
    private let sinks: [ReportSink]

    package init(_ paths: [String], _ sinks: [ReportSink]) throws(UsageError) {
        (self.paths, self.sinks) = (paths, sinks)
        guard !paths.isEmpty else {
            throw UsageError("merge has nothing to merge: name JSON reports, or interval logs (.hlog)")
        }
        guard Set(paths).count == paths.count else {
            throw UsageError("merge would count a report twice: name each once")
        }
        for sink in sinks where sink.format.isStream && sink.format != .hlog || sink.format == .wrk {
            throw UsageError("merge writes text, json, html, hgrm and hlog, not \(sink.format.rawValue)")
        }
    }

    package func perform() throws(UsageError) -> Verdict {
        let logs = paths.filter { $0.hasSuffix(".hlog") }
        guard logs.isEmpty || logs.count == paths.count else {
            throw UsageError("merge cannot put logs and reports together: name either .hlog files or JSON reports")
        }
        return logs.isEmpty ? try mergeReports() : try mergeLogs()
    }

    private func mergeReports() throws(UsageError) -> Verdict {
        var reports: [SavedReport] = []
        for path in paths { reports.append(try SavedReport(path: path)) }
        let files = try ReportFile.open(sinks)
        let whole = try ReportMerge.merge(reports)
        for file in files {
            switch file.format {
            case .json: try file.replace(with: whole.document.text)
            case .html: try file.replace(with: HTMLReport.page(whole.document))
            case .hgrm: try file.replace(with: PercentileText.text(whole.headline() ?? LatencyHistogram()))
            case .text: try file.replace(with: SavedReportText.text(whole))
            case .hlog: throw UsageError("merge makes a log of logs alone: name .hlog files")
            case .csv, .requests, .wrk: break
            }
        }
        let status = whole.document["exit_status"]?.integer ?? 0
        return Verdict(rawValue: Int32(clamping: status)) ?? .good
    }

    private func mergeLogs() throws(UsageError) -> Verdict {
        var logs: [(path: String, contents: HistogramLog.Contents)] = []
        for path in paths {
            let bytes = try Files.read(path, for: "the log", limit: 1 << 30)
            logs.append((path, try HistogramLog.read(String(decoding: bytes, as: UTF8.self), path: path)))
        }
        let whole = LogMerge(logs)
        for file in try ReportFile.open(sinks) {
            switch file.format {
            case .text: try file.replace(with: whole.table)
            case .hlog: try file.replace(with: whole.text)
            case .hgrm:
                let main =
                    whole.totals["corrected"] ?? whole.totals["raw"] ?? whole.tags.first.flatMap { whole.totals[$0] }
                try file.replace(with: PercentileText.text(main ?? LatencyHistogram()))
            case .json, .html: throw UsageError("logs hold times alone: merge JSON reports for \(file.format.rawValue)")
            case .csv, .requests, .wrk: break
            }
        }
        return .good
    }
}
