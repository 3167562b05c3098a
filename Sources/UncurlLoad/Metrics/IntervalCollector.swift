internal import UncurlReactor

package struct Interval: Sendable {
    /// Nanoseconds after the start of the measured part.
    package var start: UInt64
    package var end: UInt64
    /// The processor time that the host took from this machine, in nanoseconds; nil where it is not known.
    package var stolen: UInt64?
    /// The counts of what ended in the interval. `inFlight` is the growth of that number, modulo 2⁶⁴.
    package var metrics: Metrics

    package var length: UInt64 { end - start }
}

/// Joins the workers' parts on the main thread: it makes intervals as they become complete, and the sums of all.
package struct IntervalCollector {
    private let board: IntervalBoard
    /// Of each worker:
    ///
    /// - total: The sum of the counts that it has handed over.
    /// - underWay: The requests that it had under way when it last handed over counts.
    /// - isMeasuring: Whether its counts are those of the measured part.
    /// - reached: The first interval that it may still hand over a part of.
    private var workers: [(total: Metrics, underWay: UInt64, isMeasuring: Bool, reached: UInt64)]
    package private(set) var hasTakenWarmUp = false
    /// The intervals that are not complete, no two of them with a number in common.
    private var open: [Sum] = []
    private var lastEnd: UInt64 = 0
    private var stolenTime = StolenTime()
    /// The start of the measured part, once a worker of this machine has handed over an interval.
    private var origin: Instant?
    private let work: LoadKind

    /// The sum of parts. A worker that was held up hands over one part for several intervals, which makes them one.
    private typealias Sum = (numbers: ClosedRange<UInt64>, end: UInt64, metrics: Metrics)

    package init(_ board: IntervalBoard, workers: Int, work: LoadKind) {
        (self.board, self.work) = (board, work)
        stolenTime.read()
        self.workers = (0..<workers).map { _ in (Metrics(), 0, false, 0) }
    }

    /// The requests that were under way when the counts were last handed over, at least.
    package var underWay: UInt64 { workers.reduce(0) { $0 &+ $1.underWay } }

    /// Returns the intervals that have become complete, in order. Call it about once per interval.
    package mutating func collect() -> [Interval] {
        take()
        return emit(before: workers.map(\.reached).min() ?? 0)
    }

    private mutating func take() {
        stolenTime.read()
        hasTakenWarmUp = false
        for part in board.fetch() {
            if part.isWarmUp {
                hasTakenWarmUp = true
                workers[part.worker].total.merge(part.metrics)
                continue
            }
            endWarmUp(part.worker)
            workers[part.worker].total.merge(part.metrics)
            workers[part.worker].underWay = part.underWay
            origin = origin ?? part.origin
            // A last part ends within an interval.
            let last = min(max(part.next, 1) - 1, (max(part.end, 1) - 1) / board.length)
            add((part.first...max(part.first, last), part.end, part.metrics))
            workers[part.worker].reached = part.next
        }
    }

    private mutating func add(_ sum: Sum) {
        let places = open.indices.filter { open[$0].numbers.overlaps(sum.numbers) }
        guard let place = places.first else { return open.append(sum) }
        join(sum, to: place)
        for other in places.dropFirst().reversed() {
            let joined = open.remove(at: other)
            join(joined, to: place)
        }
    }

    private mutating func join(_ other: Sum, to place: Int) {
        let numbers = open[place].numbers
        let first = min(numbers.lowerBound, other.numbers.lowerBound)
        open[place].numbers = first...max(numbers.upperBound, other.numbers.upperBound)
        open[place].end = max(open[place].end, other.end)
        open[place].metrics.merge(other.metrics)
    }

    /// Ends the run: each result gets its worker's total. The counts of a worker that has not handed over its last part
    /// make the last interval.
    package mutating func finish(_ results: inout [WorkerResult], measured: UInt64) -> [Interval] {
        take()
        var rest = Metrics()
        for index in results.indices {
            endWarmUp(index)
            if workers[index].reached < .max { rest.merge(results[index].metrics) }
            workers[index].total.merge(results[index].metrics)
            results[index].metrics = workers[index].total
        }
        if !open.isEmpty || workers.contains(where: { $0.reached < .max }) {
            let last = open.map(\.numbers.upperBound).max() ?? 0
            add((last...last, measured, rest))
        }
        return emit(before: .max)
    }

    package var isOver: Bool { workers.allSatisfy { $0.reached == .max } }

    /// How many workers have ended their warm-up. Each time it grows, counts of ``total`` have begun anew.
    package var measuring: Int { workers.count { $0.isMeasuring } }

    /// The run so far, for the lines and pages that show it.
    package var total: Metrics { workers.reduce(into: Metrics()) { $0.merge($1.total) } }

    private mutating func endWarmUp(_ worker: Int) {
        guard !workers[worker].isMeasuring else { return }
        workers[worker].isMeasuring = true
        workers[worker].total = workers[worker].total.afterWarmUp(work)
    }

    private mutating func emit(before limit: UInt64) -> [Interval] {
        let complete = open.filter { $0.numbers.upperBound < limit }
        open.removeAll { $0.numbers.upperBound < limit }
        return complete.sorted { $0.numbers.lowerBound < $1.numbers.lowerBound }.compactMap { sum in
            let start = lastEnd
            // The rest of a worker that was lost has no time of its own, and counts nothing.
            guard sum.end > start else { return nil }
            lastEnd = sum.end
            return Interval(start: start, end: lastEnd, stolen: stolen(start, lastEnd), metrics: sum.metrics)
        }
    }

    private mutating func stolen(_ start: UInt64, _ end: UInt64) -> UInt64? {
        guard let origin else {
            // Another machine measures, so no reading will be needed.
            stolenTime = StolenTime()
            return nil
        }
        let until = origin.advanced(byNanoseconds: Int64(clamping: end))
        defer { stolenTime.forget(before: until) }
        return stolenTime.between(origin.advanced(byNanoseconds: Int64(clamping: start)), until)
    }
}

/// A run's course in bounded memory: when the intervals become too many, two become one of twice the length. Their
/// histograms are merged, never their percentiles.
package struct IntervalSeries: Sendable {
    package struct Point: Sendable {
        /// Nanoseconds after the start of the measured part.
        package var start: UInt64
        package var end: UInt64
        /// The figures of an interval, in their order; nil for one that the run lacks.
        package fileprivate(set) var counts: [UInt64?]
        /// The processor time that the host took from this machine, in nanoseconds; nil where it is not known.
        package var stolen: UInt64?
        package var statuses: [(code: Int, count: UInt64)]
        /// Encoded: a few kilobytes instead of the 270 of an open one.
        fileprivate var latency: [UInt8]

        /// Failed requests, failed connects, and responses other than 2xx and 3xx.
        package fileprivate(set) var errors: UInt64
        /// Completed requests or opened connections, and those of them that rates include.
        package fileprivate(set) var completed: UInt64
        fileprivate var inTime: UInt64

        /// Completed requests or opened connections.
        package var perSecond: Double { end > start ? Double(inTime) * 1e9 / Double(end - start) : 0 }

        package var times: LatencyHistogram {
            // The bytes were encoded here, so they can be decoded.
            (try? LatencyHistogram(encoded: latency)) ?? LatencyHistogram()
        }

        package func summary(percentiles: [Double]) -> LatencyHistogram.Summary? {
            times.summary(percentiles: percentiles)
        }
    }

    /// The most points that are kept, of some 5 KB each. It is more than any page is wide.
    package static let limit = 1_200

    package static let figures = Figure.of(.intervals).filter { $0.isMember && $0.isInteger }

    package private(set) var points: [Point] = []
    /// The number of intervals in a whole point.
    private var factor = 1
    private var inLast = 0

    package init() {}

    package mutating func add(_ interval: Interval, of work: LoadKind) {
        let metrics = interval.metrics
        let measured = Measured(metrics, of: work, in: interval.length)
        let point = Point(
            start: interval.start,
            end: interval.end,
            counts: Self.figures.map { $0.integer(measured) },
            stolen: interval.stolen,
            statuses: metrics.seenStatuses,
            latency: metrics.headline(work).encoded,
            errors: metrics.errors,
            completed: metrics.done(work),
            inTime: metrics.doneInTime(work)
        )
        if inLast > 0, inLast < factor, let last = points.popLast() {
            points.append(Self.merged(last, point))
            inLast += 1
        } else {
            points.append(point)
            inLast = 1
        }
        guard points.count > Self.limit else { return }
        points = stride(from: 0, to: points.count, by: 2).map { index in
            index + 1 < points.count ? Self.merged(points[index], points[index + 1]) : points[index]
        }
        // The limit is even, so the last point has no partner and keeps its intervals.
        factor *= 2
    }

    private static func sum(_ first: UInt64?, _ second: UInt64?) -> UInt64? {
        first.map { $0 &+ (second ?? 0) } ?? second
    }

    private static func merged(_ first: Point, _ second: Point) -> Point {
        var sum = first
        sum.end = second.end
        sum.counts = zip(first.counts, second.counts).map { Self.sum($0, $1) }
        sum.errors &+= second.errors
        sum.completed &+= second.completed
        sum.inTime &+= second.inTime
        sum.stolen = Self.sum(first.stolen, second.stolen)
        let both = [first.statuses, second.statuses].joined()
        let counts = Dictionary(both.map { ($0.code, $0.count) }) { $0 &+ $1 }
        sum.statuses = counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if var latency = try? LatencyHistogram(encoded: first.latency),
            let other = try? LatencyHistogram(encoded: second.latency)
        {
            latency.merge(other)
            sum.latency = latency.encoded
        }
        return sum
    }
}
