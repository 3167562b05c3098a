internal import Synchronization
package import UncurlReactor

/// The result of one worker.
///
/// - start, end: The bounds of the measured part.
/// - core: The thread's processor time in the measured part.
package typealias WorkerResult = (metrics: Metrics, connections: Int, start: Instant, end: Instant, core: CoreTime)

/// The exchange between the workers, each on its thread, and the main thread. The lock guards `results`.
package final class WorkerBoard: Sendable {
    /// The board of intervals. Nil if they are only read at the end.
    package let intervals: IntervalBoard?
    package let log: RequestLogBoard?
    private let results: Mutex<[WorkerResult?]>
    private let allDone: @Sendable () -> Void

    /// Makes a board. It calls `allDone` once, on the thread of the worker that is last.
    package init(
        workers: Int,
        intervals: IntervalBoard? = nil,
        log: RequestLogBoard? = nil,
        allDone: @escaping @Sendable () -> Void
    ) {
        (self.intervals, self.log) = (intervals, log)
        results = Mutex([WorkerResult?](repeating: nil, count: workers))
        self.allDone = allDone
    }

    package func finished(_ index: Int, _ result: WorkerResult) {
        let isLast = results.withLock { results in
            results[index] = result
            return results.allSatisfy { $0 != nil }
        }
        if isLast { allDone() }
    }

    /// Notes a worker that will deliver no result. A result that it has already delivered stays.
    package func lost(_ index: Int) {
        guard results.withLock({ $0[index] == nil }) else { return }
        let never = Instant(nanoseconds: 0)
        finished(index, (Metrics(), 0, never, never, (0, 0)))
    }

    /// All results, in the order of the threads. Nil as long as one is missing.
    package var finished: [WorkerResult]? {
        results.withLock { results in
            let all = results.compactMap { $0 }
            return all.count == results.count ? all : nil
        }
    }
}

/// The counts of a worker between two instants, handed over without a copy.
///
/// - first, next: The first interval that has counts here, and the first after it that has none. A worker that was held
///   up hands over several intervals at once.
/// - end: Nanoseconds after the start of the measured part.
/// - origin: The start of the worker's measured part; nil where another machine measured.
/// - underWay: The requests that are under way at the end, at least; 0 where another machine measured.
package typealias IntervalPart = (
    worker: Int, isWarmUp: Bool, first: UInt64, next: UInt64, end: UInt64, origin: Instant?, underWay: UInt64,
    metrics: Metrics
)

/// The exchange at which workers hand over their counts, one interval at a time, and take empty metrics. Only pointers
/// are exchanged, so the workers' threads neither add nor allocate.
///
/// The lock guards `state`.
package final class IntervalBoard: Sendable {
    /// The length of an interval in nanoseconds.
    package let length: UInt64
    private let workers: Int
    private let state: Mutex<(parts: [IntervalPart], spares: [Metrics])>

    /// The most parts of a worker that wait to be fetched, of 2 MB each. If more would wait, the interval gets longer.
    private static let backlog = 8

    private let shape: Metrics

    package init(length: UInt64, workers: Int, shape: Metrics = Metrics()) {
        (self.length, self.workers, self.shape) = (max(length, 1), workers, shape)
        state = Mutex(([], []))
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

/// One request in the log of single requests. All times are in nanoseconds.
package struct RequestRecord: Sendable {
    /// The time when it was due by the schedule, after the start of the run. Nil for one without an instant of its own.
    package var due: UInt64?
    /// The time when it was sent, after the start of the run. Without a connection: when it was tried.
    package var start: UInt64
    package var latency: UInt64
    package var responseStart: UInt64?
    /// The status code. 0 without a response.
    package var status: Int
    package var bytesIn: UInt64 = 0
    package var isNewConnection = true
    /// Whether it was sent a second time: the first connection ended before any byte of the answer.
    package var isSentAgain = false
    /// The number of its name among the names of the run.
    package var name: Int?
    package var failure: Failure?
    /// Whether it belongs to the warm-up: by the instant when it was due or, without one, by that of its outcome.
    package var isOfWarmUp = false
}

/// The queue of the workers' records for the writer. A worker never waits: a record without room in the queue is lost,
/// and the report says how many were.
///
/// The lock guards `state`.
package final class RequestLogBoard: Sendable {
    package typealias Chunk = (worker: Int, records: [RequestRecord])

    private let state = Mutex<(chunks: [Chunk], lost: UInt64)>(([], 0))
    private let limit: Int

    /// The records of a worker that are handed over together. A third of a megabyte: a handful of hand-overs a second
    /// at full speed.
    static let chunk = 4_096
    /// The number of chunks that wakes the writer early.
    private static let alarm = 4

    /// - Parameter limit: The most chunks that wait. 256 are 80 MB and some ten seconds at full speed.
    package init(limit: Int = 256) { self.limit = limit }

    func put(_ records: [RequestRecord], worker: Int) {
        guard !records.isEmpty else { return }
        let waiting = state.withLock { state in
            guard state.chunks.count < limit else {
                state.lost &+= UInt64(records.count)
                return 0
            }
            state.chunks.append((worker, records))
            return state.chunks.count
        }
        if waiting == Self.alarm { SignalWait.wake() }
    }

    package func fetch() -> [Chunk] {
        state.withLock { state in
            defer { state.chunks = [] }
            return state.chunks
        }
    }

    /// The number of records that were not written.
    package var lost: UInt64 { state.withLock { $0.lost } }
}
