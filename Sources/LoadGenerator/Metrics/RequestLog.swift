internal import Synchronization

/// One request, as the log of single requests has it. Nanoseconds.
package struct RequestRecord: Sendable {
    /// After the start of the run: when the schedule wanted it.
    package var due: UInt64?
    /// After the start of the run: when it was sent, or where no connection came about, when it was tried.
    package var start: UInt64
    package var latency: UInt64
    package var firstByte: UInt64?
    /// 0 without a response.
    package var status: Int
    package var bytesIn: UInt64 = 0
    package var isNewConnection = true
    /// A second time: the connection of the first attempt ended before any byte of the answer.
    package var isSentAgain = false
    /// Among the names of the run.
    package var name: Int?
    package var failure: Failure?
}

/// A worker's part of the log of single requests: a buffer of its own, handed over when it is full.
final class RequestLog {
    private let board: RequestLogBoard
    private let worker: Int
    private var records: [RequestRecord] = []

    /// A third of a megabyte: a handful of hand-overs a second at full speed.
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

/// Where the workers' records wait to be written. A worker never waits: what finds no room is counted and lost, and the
/// report says so.
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

    /// Chunks that wake the writer before its time.
    private static let alarm = 4

    /// - Parameter limit: chunks that wait at most; 256 are 80 MB and some ten seconds at full speed.
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

    /// Records that were not written.
    package var lost: UInt64 { state.withLock { $0.lost } }
}
