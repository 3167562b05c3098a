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
        /// Responses by status code, those that came.
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

        /// The histogram of the times that the run is about.
        package var times: LatencyHistogram {
            // The bytes were encoded here, so they can be decoded.
            (try? HistogramCodec.decode(latency)) ?? LatencyHistogram()
        }

        package func summary(percentiles: [Double]) -> LatencyHistogram.Summary? {
            times.summary(percentiles: percentiles)
        }
    }

    /// The most points that are kept, of some 5 KB each. It is more than any page is wide.
    package static let limit = 1_200

    /// The figures of a point.
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
            statuses: metrics.statuses.indices.filter { metrics.statuses[$0] > 0 }.map { ($0, metrics.statuses[$0]) },
            latency: HistogramCodec.encode(metrics.headline(work)),
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
        if var latency = try? HistogramCodec.decode(first.latency),
            let other = try? HistogramCodec.decode(second.latency)
        {
            latency.merge(other)
            sum.latency = HistogramCodec.encode(latency)
        }
        return sum
    }
}

/// The figures of a run so far, all workers together, that are shown while it continues.
package struct RunSnapshot: Sendable, Equatable {
    package var completed: UInt64 = 0
    /// Failed requests, failed connects, and responses other than 2xx and 3xx.
    package var errors: UInt64 = 0
    /// The counts that people are told of where they are above zero, by their titles.
    package var remarks: [String: UInt64] = [:]
    package var p50: UInt64?
    package var p99: UInt64?

    package init(completed: UInt64 = 0, errors: UInt64 = 0, p50: UInt64? = nil, p99: UInt64? = nil) {
        (self.completed, self.errors, self.p50, self.p99) = (completed, errors, p50, p99)
    }

    package init(_ metrics: Metrics, of work: LoadKind) {
        completed = metrics.done(work)
        errors = metrics.errors
        remarks = Dictionary(metrics.remarks.map { ($0.title, $0.count) }) { first, _ in first }
        let summary = metrics.headline(work).summary(percentiles: [50, 99])
        (p50, p99) = (summary?[50], summary?[99])
    }
}
