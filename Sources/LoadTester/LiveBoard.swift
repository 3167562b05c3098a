internal import Synchronization

/// What the workers tell the progress line: each overwrites its own slot about once a second.
///
/// The lock guards `slots`. Histograms are added up, never percentiles.
final class LiveBoard: Sendable {
    private struct Slot: Sendable {
        var completed: UInt64 = 0
        var errors: UInt64 = 0
        var latency = LatencyHistogram()
    }

    /// The run so far, all workers together.
    struct Snapshot: Sendable, Equatable {
        var completed: UInt64 = 0
        /// Failed requests, failed connects, and responses other than 2xx and 3xx.
        var errors: UInt64 = 0
        var p50: UInt64?
        var p99: UInt64?
    }

    private let slots: Mutex<[Slot]>

    init(workers: Int) { slots = Mutex([Slot](repeating: Slot(), count: workers)) }

    func publish(_ tally: Tally, of work: Options.Work, worker: Int) {
        slots.withLock { slots in
            guard slots.indices.contains(worker) else { return }
            slots[worker].completed = tally.done(work)
            slots[worker].errors = tally.failed &+ tally.connectionsFailed &+ tally.httpErrors
            // Added to counters of the board's own: a copy would cost the worker one at its next record.
            slots[worker].latency.reset()
            switch work {
            case .requests: slots[worker].latency.merge(tally.success)
            case .handshakes: slots[worker].latency.merge(tally.tls)
            }
        }
    }

    var snapshot: Snapshot {
        var snapshot = Snapshot()
        var latency = LatencyHistogram()
        slots.withLock { slots in
            for slot in slots {
                snapshot.completed &+= slot.completed
                snapshot.errors &+= slot.errors
                latency.merge(slot.latency)
            }
        }
        let summary = latency.summary(percentiles: [50, 99])
        snapshot.p50 = summary?[50]
        snapshot.p99 = summary?[99]
        return snapshot
    }
}
