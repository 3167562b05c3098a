import Foundation
import Synchronization

/// A record of all tasks: which have begun, and how each has ended. Any thread may use it.
final class Ledger: Sendable {
    private struct Entry {
        let kind: String
        /// The session or manager of the task.
        let group: Int
        var mayBeCancelled = false
        var ends = 0
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        /// The groups that have been invalidated.
        var closed: Set<Int> = []
        var next = 0
        var underWay = 0
    }

    struct Totals: Sendable {
        var begun: [String: Int] = [:]
        var ended = 0
        var whole = 0
        var failures: [String: Int] = [:]
        var problems: [String] = []
    }

    private let state = Mutex(State())
    private let sums = Mutex(Totals())

    var underWay: Int { state.withLock { $0.underWay } }
    var totals: Totals { sums.withLock { $0 } }

    func begin(_ kind: String, in group: Int) -> Int {
        sums.withLock { $0.begun[kind, default: 0] += 1 }
        return state.withLock { state in
            state.next += 1
            state.underWay += 1
            state.entries[state.next] = Entry(kind: kind, group: group)
            return state.next
        }
    }

    /// Notes that the task is cancelled: from here on `cancelled` is a fitting end.
    func cancels(_ id: Int) { state.withLock { $0.entries[id]?.mayBeCancelled = true } }
    /// Notes the same for all tasks of a session, including those that are made later.
    func closes(_ group: Int) { _ = state.withLock { $0.closed.insert(group) } }

    /// Notes that a task has ended.
    ///
    /// - Parameters:
    ///   - id: the task's number in the record.
    ///   - error: the task's error. Nil if the task reports a whole answer.
    ///   - complaint: why the answer that the task reports as whole is wrong.
    func end(_ id: Int, _ error: (any Error)?, _ complaint: String? = nil) {
        let (kind, ends, mayBeCancelled) = state.withLock { state -> (String, Int, Bool) in
            guard var entry = state.entries[id] else { return ("a task of an earlier round", 2, true) }
            entry.ends += 1
            if entry.ends == 1 { state.underWay -= 1 }
            state.entries[id] = entry
            return (entry.kind, entry.ends, entry.mayBeCancelled || state.closed.contains(entry.group))
        }
        let verdict = error.map { FittingError.judge($0, mayBeCancelled: mayBeCancelled) }
        sums.withLock { sums in
            sums.ended += 1
            if ends > 1 { sums.problems.append("\(kind): task \(id) ended \(ends) times") }
            if let complaint, error == nil { sums.problems.append("\(kind): \(complaint)") }
            guard let verdict else {
                sums.whole += 1
                return
            }
            sums.failures[verdict.name, default: 0] += 1
            if !verdict.fits { sums.problems.append("\(kind): an error that does not fit: \(verdict.text)") }
        }
    }

    func complain(_ text: String) { sums.withLock { $0.problems.append(text) } }

    /// Returns the number of tasks of each kind that have not ended, and forgets the round.
    func close() -> [String: Int] {
        state.withLock { state in
            var open: [String: Int] = [:]
            for entry in state.entries.values where entry.ends == 0 { open[entry.kind, default: 0] += 1 }
            (state.entries, state.closed, state.underWay) = ([:], [], 0)
            return open
        }
    }
}
