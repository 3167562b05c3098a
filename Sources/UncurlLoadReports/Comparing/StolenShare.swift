/// How far the processor time that the host took explains the difference between two runs.
///
/// Where the host takes the processor, answers are late whatever the server does. Within a run the figures of the
/// intervals show what a share of stolen time costs: the slope of the regression line of both runs, each about its own
/// means (analysis of covariance). What this line explains is subtracted before the runs are compared.
struct StolenShare: Sendable {
    /// What the rest says of a difference; nil for too few intervals.
    let test: PairedTest?
    /// The change of the intervals' mean without what stolen time explains; nil where it explains nothing.
    let change: Double?

    /// - Parameters:
    ///   - isCost: Whether stolen time can only raise the figure; otherwise it can only lower it.
    ///   - tolerance: The share that a change must exceed.
    init(_ old: [IntervalSample], _ new: [IntervalSample], isCost: Bool, tolerance: Double) {
        var (products, squares) = (0.0, 0.0)
        for run in [old, new] {
            let (value, stolen) = (Comparison.mean(run.map(\.value)), Comparison.mean(run.map(\.stolen)))
            for sample in run {
                products += (sample.value - value) * (sample.stolen - stolen)
                squares += (sample.stolen - stolen) * (sample.stolen - stolen)
            }
        }
        let regression = squares > 0 ? products / squares : 0
        let slope = isCost ? max(0, regression) : min(0, regression)
        // The slope is an estimate. The more the runs' shares differ, the more of the difference depends on it.
        let distance = Comparison.mean(old.map(\.stolen)) - Comparison.mean(new.map(\.stolen))
        let sampling = 1 / Double(max(old.count, 1)) + 1 / Double(max(new.count, 1))
        let doubt = squares > 0 ? (1 + distance * distance / squares / sampling).squareRoot() : 1
        let (before, after) = (Self.rest(old, slope), Self.rest(new, slope))
        test = PairedTest(before, after, tolerance: tolerance, doubt: doubt)
        let (early, late) = (Comparison.mean(before.map(\.value)), Comparison.mean(after.map(\.value)))
        let isExplained = slope != 0 && test != nil && early > 0 && late > 0
        change = isExplained ? Comparison.change(early, late) : nil
    }

    private static func rest(_ samples: [IntervalSample], _ slope: Double) -> [IntervalSample] {
        samples.map { sample in
            var sample = sample
            sample.value -= slope * sample.stolen
            return sample
        }
    }

    /// The shares of stolen time in the intervals, each with a part of its neighbours' shares. The kernel counts in
    /// ticks of 10 ms, and a tick often counts in the next interval. The part is half for intervals of 0.1 s, and less
    /// for longer ones.
    static func smoothed(_ intervals: [(share: Double, seconds: Double)]) -> [Double] {
        intervals.indices.map { index in
            let neighbors = [index - 1, index + 1].filter(intervals.indices.contains).map { intervals[$0].share }
            let weight = min(0.5, 0.05 / intervals[index].seconds)
            return intervals[index].share + neighbors.reduce(0, +) * weight
        }
    }
}
