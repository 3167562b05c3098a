import UncurlLoad
import UncurlReactor

/// The display on a terminal during a run: one line, or several lines with a plot. If standard error is not a terminal,
/// there is no display.
struct LiveDisplay {
    private var line: RunProgressLine
    private var view: LiveView?

    /// - Parameters:
    ///   - isWanted: whether anything is shown.
    ///   - plots: whether plots are shown besides the line.
    init(isWanted: Bool, plots: Bool) {
        line = RunProgressLine(wanted: isWanted)
        if plots, line.isShown { view = LiveView() }
    }

    var isShown: Bool { line.isShown }

    /// - Parameters:
    ///   - counted: the part of the run that `total` covers, in nanoseconds.
    ///   - elapsed: the time since the start of the run, in nanoseconds.
    mutating func draw(
        _ total: Metrics,
        _ series: IntervalSeries,
        counted: UInt64,
        elapsed: UInt64,
        of plan: RunPlan
    ) {
        let snapshot = RunSnapshot(total, of: plan.work)
        if view != nil {
            let names = Array(zip(plan.requestNames.all, total.names))
            let facts = { LiveFacts.lines(total, counted: counted, elapsed: elapsed, of: plan, columns: $0) }
            view?.draw(series, facts: facts, names, line.next(snapshot, series, elapsed: elapsed, of: plan))
        } else {
            line.draw(snapshot, series, elapsed: elapsed, of: plan)
        }
    }

    mutating func clear() {
        view?.clear()
        line.clear()
    }
}
