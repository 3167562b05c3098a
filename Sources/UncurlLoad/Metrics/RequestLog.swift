internal import Synchronization

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

/// A worker's part of the log of single requests. It has a buffer of its own, which it hands over when full.
final class RequestLog {
    private let board: RequestLogBoard
    private let worker: Int
    private var records: [RequestRecord] = []

    /// The size of the buffer in records. A third of a megabyte: a handful of hand-overs a second at full speed.
    static let chunk = 4_096

    init(_ board: RequestLogBoard, worker: Int) {
        (self.board, self.worker) = (board, worker)
        records.reserveCapacity(Self.chunk)
    }

    func add(_ record: RequestRecord) {
        records.append(record)
        if records.count == Self.chunk { flush() }
    }

    func flush() {
        board.put(records, worker: worker)
        records.removeAll(keepingCapacity: true)
    }
}

/// The queue of the workers' records for the writer. A worker never waits: a record without room in the queue is lost,
/// and the report says how many were.
///
/// The lock guards `state`.
package final class RequestLogBoard: Sendable {
    package struct Chunk: Sendable {
        package let worker: Int
        package let records: [RequestRecord]
    }

    private struct State: Sendable {
        var chunks: [Chunk] = []
        var lost: UInt64 = 0
    }

    private let state = Mutex(State())
    private let limit: Int

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
            state.chunks.append(Chunk(worker: worker, records: records))
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
