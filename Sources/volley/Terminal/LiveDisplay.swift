import LoadGenerator
import Reactor

/// What a terminal shows while a run goes on: a line, or a few with a plot; nothing where standard error is no terminal.
struct LiveDisplay {
    private var line: RunProgressLine
    private var view: LiveView?

    /// - Parameters:
    ///   - isWanted: nothing is shown otherwise.
    ///   - plots: more than a line.
    init(isWanted: Bool, plots: Bool) {
        line = RunProgressLine(wanted: isWanted)
        if plots, line.isShown { view = LiveView() }
    }

    var isShown: Bool { line.isShown }

    mutating func draw(
        _ snapshot: RunSnapshot,
        _ named: [NamedMetrics],
        _ series: IntervalSeries,
        elapsed: UInt64,
        of plan: RunPlan
    ) {
        if view != nil {
            let names = Array(zip(plan.requestNames.all, named))
            view?.draw(series, names, line.next(snapshot, elapsed: elapsed, of: plan))
        } else {
            line.draw(snapshot, elapsed: elapsed, of: plan)
        }
    }

    mutating func clear() {
        view?.clear()
        line.clear()
    }
}
