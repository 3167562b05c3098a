/// Checks conditions during a run, interval by interval: those about stretches of the run and, for an early end, those
/// about the whole. For a stretch it keeps about ten parts, so its memory does not grow with the run.
package struct ThresholdWatch: Sendable {
    /// A window that slides over the run, and the conditions about it.
    ///
    /// - parts: Consecutive intervals as one.
    private typealias Window = (length: UInt64, thresholds: [Threshold], parts: [(metrics: Metrics, length: UInt64)])

    private var windows: [Window]
    private let whole: [Threshold]
    private let work: LoadKind
    private let names: [String]
    /// For each condition about stretches the worst value, and for a broken condition the value that broke it.
    package private(set) var values: [Threshold: Double] = [:]
    /// Of the broken conditions, those that volley's own lateness did not break.
    package private(set) var punctual: Set<Threshold> = []
    /// How many requests had begun at the looks so far, and the time of each look. Only the looks that requests without
    /// an end began at are kept.
    private var begun: [(count: UInt64, time: UInt64)] = []
    /// The first broken condition, and the time, in nanoseconds after the start of the measured part.
    package private(set) var breach: (threshold: Threshold, time: UInt64)?

    /// The shortest measured time, in nanoseconds, for a condition about the whole. Before that, chance decides.
    static let shortest: UInt64 = 1_000_000_000

    package init(_ thresholds: [Threshold], of work: LoadKind, names: [String]) {
        (self.work, self.names) = (work, names)
        whole = thresholds.filter { $0.window == nil }
        let lengths = Set(thresholds.compactMap(\.window)).sorted()
        windows = lengths.map { length in (length, thresholds.filter { $0.window == length }, []) }
    }

    /// Whether conditions about stretches need the run's intervals.
    package var hasWindows: Bool { !windows.isEmpty }

    package mutating func add(_ interval: Interval) {
        for index in windows.indices {
            let covered = Self.slide(&windows[index], over: interval)
            guard covered >= windows[index].length else { continue }
            let sum = windows[index].parts.reduce(into: Metrics()) { $0.merge($1.metrics) }
            let figures = Measured(sum, of: work, in: covered, names: names)
            for threshold in windows[index].thresholds { note(threshold, figures, interval.end) }
        }
    }

    /// Adds an interval to a window, and returns the time that the window covers. Intervals within a tenth of the
    /// window share a part.
    private static func slide(_ window: inout Window, over interval: Interval) -> UInt64 {
        if let last = window.parts.last, last.length + interval.length <= window.length / 10 {
            window.parts[window.parts.count - 1].metrics.merge(interval.metrics)
            window.parts[window.parts.count - 1].length += interval.length
        } else {
            window.parts.append((interval.metrics, interval.length))
        }
        var covered = window.parts.reduce(0) { $0 + $1.length }
        while let first = window.parts.first, covered - first.length >= window.length {
            window.parts.removeFirst()
            covered -= first.length
        }
        return covered
    }

    /// Checks the conditions about the whole against the counts of the first `measured` nanoseconds. Those that require
    /// a number that may still be reached are left for the end.
    ///
    /// A request that has not ended counts with the time that it has waited for at least. Without that, nothing would
    /// be noticed of a server that has stopped to answer until its time limits pass.
    ///
    /// - Parameter underWay: The requests that are under way now, at least. With a schedule those that came due count.
    package mutating func look(at total: Metrics, measured: UInt64, underWay: UInt64 = 0) {
        let waiting = waiting(total, underWay, at: measured)
        guard breach == nil, measured >= Self.shortest else { return }
        let figures = Measured(total, of: work, in: measured, names: names, waiting: waiting)
        for threshold in whole where !threshold.isReachedInTime && threshold.fails(figures) == true {
            note(threshold, figures, measured)
        }
    }

    /// Returns the requests that had begun by earlier looks and have not ended. Those that began last are taken for the
    /// ones that wait, so that no time is too long.
    private mutating func waiting(
        _ total: Metrics,
        _ underWay: UInt64,
        at time: UInt64
    ) -> [(count: UInt64, time: UInt64)] {
        let ended = total[.completed] &+ total[.failed] &+ total[.refused] &+ total[.unsent]
        let count = total.has(.schedule) ? total[.due] : ended &+ underWay
        // The counts begin anew with the measured part, and fall where requests are withdrawn to be sent again.
        begun.removeAll { $0.count <= ended || $0.count > count || $0.time >= time }
        var (found, rest): ([(UInt64, UInt64)], UInt64) = ([], ended)
        for look in begun where look.count > rest {
            found.append((look.count - rest, time - look.time))
            rest = look.count
        }
        begun.append((count, time))
        return found
    }

    /// Prepares for another run: no stretch contains parts of both.
    package mutating func renew() {
        begun = []
        for index in windows.indices { windows[index].parts = [] }
    }

    private mutating func note(_ threshold: Threshold, _ figures: Measured, _ time: UInt64) {
        guard let value = figures.value(threshold.metric) else { return }
        values[threshold] = values[threshold].map { threshold.worse($0, value) } ?? value
        guard threshold.comparison.holds(value, threshold.limit) else { return }
        if threshold.failsPunctually(figures) { punctual.insert(threshold) }
        if breach == nil { breach = (threshold, time) }
    }
}
