internal import Synchronization
package import UncurlReactor

/// The counts of a worker between two instants, handed over without a copy.
package struct IntervalPart: Sendable {
    package let worker: Int
    package let isWarmUp: Bool
    /// The first interval that has counts here, and the first after it that has none. A worker that was held up hands
    /// over several intervals at once.
    package let first: UInt64
    package let next: UInt64
    /// Nanoseconds after the start of the measured part.
    package let end: UInt64
    /// The start of the worker's measured part; nil where another machine measured.
    package let origin: Instant?
    /// The requests that are under way at the end, at least; 0 where another machine measured.
    package let underWay: UInt64
    package let metrics: Metrics

    package init(
        worker: Int,
        isWarmUp: Bool,
        first: UInt64,
        next: UInt64,
        end: UInt64,
        origin: Instant? = nil,
        underWay: UInt64 = 0,
        metrics: Metrics
    ) {
        (self.worker, self.isWarmUp, self.underWay) = (worker, isWarmUp, underWay)
        (self.first, self.next, self.end, self.origin, self.metrics) = (first, next, end, origin, metrics)
    }
}

/// The exchange at which workers hand over their counts, one interval at a time, and take empty metrics. Only pointers
/// are exchanged, so the workers' threads neither add nor allocate.
///
/// The lock guards `state`.
package final class IntervalBoard: Sendable {
    private struct State: Sendable {
        var parts: [IntervalPart] = []
        var spares: [Metrics]
    }

    /// The length of an interval in nanoseconds.
    package let length: UInt64
    private let workers: Int
    private let state: Mutex<State>

    /// The most parts of a worker that wait to be fetched, of 2 MB each. If more would wait, the interval gets longer.
    private static let backlog = 8

    private let shape: Metrics

    /// - Parameter shape: Counts of the same run.
    package init(length: UInt64, workers: Int, shape: Metrics = Metrics()) {
        (self.length, self.workers, self.shape) = (max(length, 1), workers, shape)
        state = Mutex(State(spares: []))
        state.withLock { $0.spares = (0..<workers).map { _ in makeSpare() } }
    }

    func makeSpare() -> Metrics { shape.emptied() }

    /// Takes empty metrics to continue with. Returns nil while the thread that fetches parts is behind.
    func takeSpare() -> Metrics? {
        state.withLock { state in
            if let spare = state.spares.popLast() { return spare }
            return state.parts.count < workers * Self.backlog ? makeSpare() : nil
        }
    }

    package func put(_ part: IntervalPart) { state.withLock { $0.parts.append(part) } }

    /// Takes all parts so far, the oldest of a worker first, and leaves as many empty recorders behind.
    package func fetch() -> [IntervalPart] {
        let parts = state.withLock { state in
            defer { state.parts = [] }
            return state.parts
        }
        let fresh = (0..<min(parts.count, workers)).map { _ in makeSpare() }
        state.withLock { $0.spares += fresh.prefix(max(0, workers - $0.spares.count)) }
        return parts
    }
}
