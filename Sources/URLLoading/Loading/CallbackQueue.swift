internal import Foundation
internal import Synchronization

/// What one task tells its user, in order, on the session's delegate queue; on a queue that runs several operations at
/// once too. One operation carries all that has come together meanwhile.
///
/// Content that waits here is weighed: a delegate slower than its server makes ``add(weight:on:_:)`` say so, and the loader stops
/// reading until `onRoom` is called.
final class CallbackQueue: Sendable {
    typealias Callback = @Sendable () -> Void

    /// Some content has to wait, or a delegate would wait for each piece; four of the largest reads.
    static let mostWeight = 1 << 20
    /// Of a piece, besides its content: a server decides how small pieces are.
    static let pieceWeight = 256

    private struct State {
        var waiting: [(weight: Int, call: Callback)] = []
        var weight = 0
        var isRunning = false
        var isFull = false
    }

    private let state = Mutex(State())
    /// Half of the weight has gone again. Called on the delegate queue.
    private let onRoom: Callback

    init(onRoom: @escaping Callback) { self.onRoom = onRoom }

    /// False: enough waits, and nothing more should come before there is room.
    @discardableResult
    func add(weight: Int = 0, on queue: OperationQueue, _ call: @escaping Callback) -> Bool {
        let (isFirst, hasRoom) = state.withLock { state in
            state.waiting.append((weight, call))
            state.weight += weight
            if state.weight >= CallbackQueue.mostWeight { state.isFull = true }
            defer { state.isRunning = true }
            return (!state.isRunning, !state.isFull)
        }
        if isFirst { queue.addOperation { self.run() } }
        return hasRoom
    }

    private func run() {
        while let batch = nextBatch() {
            for (weight, call) in batch {
                call()
                if weight > 0, lighten(by: weight) { onRoom() }
            }
        }
    }

    /// True when there is room again after there was none.
    private func lighten(by weight: Int) -> Bool {
        state.withLock { state in
            state.weight -= weight
            guard state.isFull, state.weight <= CallbackQueue.mostWeight / 2 else { return false }
            state.isFull = false
            return true
        }
    }

    private func nextBatch() -> [(weight: Int, call: Callback)]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
