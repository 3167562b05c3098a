import Reactor
internal import Synchronization

/// What one worker brings home.
struct WorkerResult: Sendable {
    var tally: Tally
    var connections: Int
    /// The measured part.
    var start: Instant
    var end: Instant
    /// The thread's, in the measured part.
    var core: CoreTime
}

/// Where the workers, each on its thread, meet the main thread. The lock guards `results`.
final class CrewBoard: Sendable {
    /// nil: nobody looks before the end.
    let intervals: IntervalBoard?
    /// nil: no log of single requests was asked for.
    let log: RequestLogBoard?
    private let results: Mutex<[WorkerResult?]>
    private let allDone: @Sendable () -> Void

    /// `allDone` is called once, on the thread of the worker that is last.
    init(
        workers: Int,
        intervals: IntervalBoard? = nil,
        log: RequestLogBoard? = nil,
        allDone: @escaping @Sendable () -> Void
    ) {
        (self.intervals, self.log) = (intervals, log)
        results = Mutex([WorkerResult?](repeating: nil, count: workers))
        self.allDone = allDone
    }

    func finished(_ index: Int, _ result: WorkerResult) {
        let isLast = results.withLock { results in
            results[index] = result
            return results.allSatisfy { $0 != nil }
        }
        if isLast { allDone() }
    }

    /// All results, in the order of the threads; nil as long as one is missing.
    var finished: [WorkerResult]? {
        results.withLock { results in
            let all = results.compactMap { $0 }
            return all.count == results.count ? all : nil
        }
    }
}
