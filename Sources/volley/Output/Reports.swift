import UncurlLoad
import UncurlLoadReports

/// Makes the reports that are written once, at the end of a run.
enum Reports {
    static func text(_ result: RunResult, _ format: ReportSink.Format) throws(UsageError) -> String {
        switch format {
        case .text: TextReport.text(result)
        case .json: JSONReport.text(result)
        case .wrk: WrkReport.text(result)
        case .html: try orUsage(report: try HTMLReport.text(result))
        case .hgrm: PercentileText.text(result.metrics.headline(result.plan.work))
        case .markdown: MarkdownReport.text(result)
        case .junit: JUnitReport.text(result)
        case .github: try github(result)
        // These reports are written during the run.
        case .csv, .requests, .hlog: ""
        }
    }

    /// Writes annotations for the step of a workflow, and Markdown to its summary if GitHub names that file.
    private static func github(_ result: RunResult) throws(UsageError) -> String {
        if let path = Environment.value("GITHUB_STEP_SUMMARY"), !path.isEmpty {
            try Files.append(MarkdownReport.text(result), to: path, for: "GITHUB_STEP_SUMMARY")
        }
        return GitHubReport.text(result)
    }
}
