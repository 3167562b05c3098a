import LoadGenerator
import LoadReports

/// The reports that are made once, at a run's end.
enum Reports {
    static func text(_ result: RunResult, _ format: ReportSink.Format) throws(UsageError) -> String {
        switch format {
        case .text: TextReport.text(result)
        case .json: JSONReport.text(result)
        case .wrk: WrkReport.text(result)
        case .html: try orUsage(report: try HTMLReport.text(result))
        case .hgrm: PercentileText.text(result.metrics.headline(result.plan.work))
        // Written as the run went on.
        case .csv, .requests, .hlog: ""
        }
    }
}
