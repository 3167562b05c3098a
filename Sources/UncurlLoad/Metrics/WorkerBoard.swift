internal import Synchronization
package import UncurlReactor

/// The result of one worker.
package struct WorkerResult: Sendable {
    package var metrics: Metrics
    package var connections: Int
    /// The bounds of the measured part.
    package var start: Instant
    package var end: Instant
    /// The thread's processor time in the measured part.
    package var core: CoreTime

    package init(metrics: Metrics, connections: Int, start: Instant, end: Instant, core: CoreTime) {
        (self.metrics, self.connections) = (metrics, connections)
        (self.start, self.end, self.core) = (start, end, core)
    }
}

/// The exchange between the workers, each on its thread, and the main thread. The lock guards `results`.
package final class WorkerBoard: Sendable {
    /// The board of intervals. Nil if they are only read at the end.
    package let intervals: IntervalBoard?
    /// The log of single requests. Nil if none was asked for.
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
        let nothing = CoreTime(used: 0, queued: 0)
        finished(
            index,
            WorkerResult(metrics: Metrics(), connections: 0, start: never, end: never, core: nothing)
        )
    }

    /// All results, in the order of the threads. Nil as long as one is missing.
    package var finished: [WorkerResult]? {
        results.withLock { results in
            let all = results.compactMap { $0 }
            return all.count == results.count ? all : nil
        }
    }
}
