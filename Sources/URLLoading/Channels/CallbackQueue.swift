internal import Foundation
internal import Reactor
internal import Synchronization

/// Calls the program's code for one task, in order, on the session's delegate queue, even if that queue runs several
/// operations at once. The calls of one turn of the loop are one operation. It is queued at the end of the turn, so it
/// runs after everything that the program had put on the queue by then. It cannot be cancelled, so no call is lost.
///
/// Content that waits here has a weight. When too much waits, ``add(weight:on:_:)`` returns false, and the loader stops
/// reading until ``whenRoom(_:)`` calls it back.
final class CallbackQueue: Sendable {
    typealias Callback = @Sendable () -> Void
    private typealias Batch = [(weight: Int, call: Callback)]

    /// The weight at which reading pauses: four of the largest reads. With much less, a delegate would wait for each
    /// piece.
    static let mostWeight = 1 << 20
    /// The weight of a piece besides its content, since a server decides how small pieces are.
    static let pieceWeight = 256

    private struct State {
        /// The calls of this turn.
        var gathered: Batch = []
        /// One batch for each operation that has been queued and has not begun.
        var batches: [Batch] = []
        var isRunning = false
        /// The number of operations that found another one running, and left their batches to it.
        var owed = 0
        var weight = 0
        var isFull = false
        /// What to call when half of the weight is gone.
        var onRoom: Callback?

        /// Returns the batch of an operation that begins; nil if another one is running.
        mutating func begin() -> Batch? {
            guard !isRunning else {
                owed += 1
                return nil
            }
            isRunning = true
            return batches.removeFirst()
        }

        /// Returns the next batch that was left to the operation which has finished its own; nil for none.
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

    /// - Parameter loop: the loop whose turns gather calls; without one each call is an operation.
    init(on loop: EventLoop? = nil) { self.loop = loop }

    /// Adds a call. Any thread. Returns false if enough waits, and nothing more should come before there is room.
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

    /// Calls back once, on the delegate queue, when half of the weight is gone; at once if there is room now.
    func whenRoom(_ call: @escaping Callback) {
        let hasRoom = state.withLock { state in
            if state.isFull { state.onRoom = call }
            return !state.isFull
        }
        if hasRoom { call() }
    }

    /// Forgets what waits for room.
    func forgetRoom() { state.withLock { $0.onRoom = nil } }

    private func send(to queue: OperationQueue) {
        state.withLock { state in
            state.batches.append(state.gathered)
            state.gathered = []
        }
        queue.addLasting { self.run() }
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

    /// Takes weight away. Returns what waits for room, if there is room again.
    private func lighten(by weight: Int) -> Callback? {
        state.withLock { state in
            state.weight -= weight
            guard state.isFull, state.weight <= CallbackQueue.mostWeight / 2 else { return nil }
            state.isFull = false
            return state.onRoom.take()
        }
    }
}
