internal import Foundation
internal import Reactor
internal import Synchronization

/// Tells a task's user what there is to tell, in order, on the session's delegate queue, also where that runs several
/// operations at once. What one turn of the loop has to tell is one operation. It is queued at the end of the turn, and
/// so runs after everything that the program had put on the queue by then.
///
/// Content that waits here has a weight. When too much waits, ``add(weight:on:_:)`` returns false, and the loader stops
/// reading until ``whenRoom(_:)`` calls it back.
final class CallbackQueue: Sendable {
    typealias Callback = @Sendable () -> Void
    private typealias Batch = [(weight: Int, call: Callback)]

    /// Some content has to wait, or a delegate would wait for each piece; four of the largest reads.
    static let mostWeight = 1 << 20
    /// Of a piece, besides its content: a server decides how small pieces are.
    static let pieceWeight = 256

    private struct State {
        /// This turn's.
        var gathered: Batch = []
        /// One for each operation that has been queued and has not begun.
        var batches: [Batch] = []
        var isRunning = false
        /// Operations that met another one at work, and left their batches to it.
        var owed = 0
        var weight = 0
        var isFull = false
        /// Waits for half of the weight to go.
        var onRoom: Callback?

        /// The batch of an operation that begins; nil if another is at work.
        mutating func begin() -> Batch? {
            guard !isRunning else {
                owed += 1
                return nil
            }
            isRunning = true
            return batches.removeFirst()
        }

        /// What was left to the operation that is done with its own; nil: nothing.
        mutating func goOn() -> Batch? {
            guard owed > 0 else {
                isRunning = false
                return nil
            }
            owed -= 1
            return batches.removeFirst()
        }
    }

    private let state = Mutex(State())
    private let loop: EventLoop?

    /// - Parameter loop: whose turns count; without one each callback is an operation.
    init(on loop: EventLoop? = nil) { self.loop = loop }

    /// Any thread. False: enough waits, and nothing more should come before there is room.
    @discardableResult
    func add(weight: Int = 0, on queue: OperationQueue, _ call: @escaping Callback) -> Bool {
        let (isFirst, hasRoom) = state.withLock { state in
            state.gathered.append((weight, call))
            state.weight += weight
            if state.weight >= CallbackQueue.mostWeight { state.isFull = true }
            return (state.gathered.count == 1, !state.isFull)
        }
        if isFirst {
            let isPosted = loop?.post { self.send(to: queue) } ?? false
            if !isPosted { send(to: queue) }
        }
        return hasRoom
    }

    /// Calls back once: when half of the weight has gone again, on the delegate queue; at once where there is room.
    func whenRoom(_ call: @escaping Callback) {
        let hasRoom = state.withLock { state in
            if state.isFull { state.onRoom = call }
            return !state.isFull
        }
        if hasRoom { call() }
    }

    /// Nothing waits for room any more.
    func forgetRoom() { state.withLock { $0.onRoom = nil } }

    private func send(to queue: OperationQueue) {
        state.withLock { state in
            state.batches.append(state.gathered)
            state.gathered = []
        }
        queue.addOperation { self.run() }
    }

    private func run() {
        var batch = state.withLock { $0.begin() }
        while let current = batch {
            for (weight, call) in current {
                call()
                if weight > 0 { lighten(by: weight)?() }
            }
            batch = state.withLock { $0.goOn() }
        }
    }

    /// What has waited for room, where there is some again.
    private func lighten(by weight: Int) -> Callback? {
        state.withLock { state in
            state.weight -= weight
            guard state.isFull, state.weight <= CallbackQueue.mostWeight / 2 else { return nil }
            state.isFull = false
            return state.onRoom.take()
        }
    }
}
