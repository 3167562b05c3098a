import LoadGenerator
import Reactor

/// What a terminal shows while a run goes on: a line, or a few with a plot; nothing where standard error is no
/// terminal.
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

    /// - Parameters:
    ///   - counted: the part of the run that `total` is of, in nanoseconds.
    ///   - elapsed: nanoseconds after the start of the run.
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
            view?.draw(series, facts: facts, names, line.next(snapshot, elapsed: elapsed, of: plan))
        } else {
            line.draw(snapshot, elapsed: elapsed, of: plan)
        }
    }

    mutating func clear() {
        view?.clear()
        line.clear()
    }
}
