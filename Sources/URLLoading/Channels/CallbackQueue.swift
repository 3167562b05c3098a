package import Foundation
internal import Synchronization
internal import UncurlReactor

/// Calls the program's code for one task, in order, on the session's delegate queue, even if that queue runs several
/// operations at once.
///
/// At most one operation is on the queue at a time. It makes the calls that had gathered when it was queued. When it
/// has returned, the next one is queued, at the end of a turn of the loop as the first one: what the program has put on
/// the queue meanwhile runs before it, and so does, nearly always, what that has put there in turn. An operation cannot
/// be cancelled, so no call is lost.
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
        /// The calls that no operation makes yet.
        var gathered: Batch = []
        /// Whether an operation is on the queue, or about to be put there.
        var isUnderWay = false
        var weight = 0
        var isFull = false
        /// What to call when half of the weight is gone.
        var onRoom: Callback?
    }

    private let state = Mutex(State())
    private let loop: EventLoop?

    /// - Parameter loop: the loop whose turns gather calls; nil if operations are queued at once.
    init(on loop: EventLoop? = nil) { self.loop = loop }

    /// Adds a call. Any thread. Returns false if enough waits, and nothing more should come before there is room.
    @discardableResult
    func add(weight: Int = 0, on queue: OperationQueue, _ call: @escaping Callback) -> Bool {
        let (isFirst, hasRoom) = state.withLock { state in
            state.gathered.append((weight, call))
            state.weight += weight
            if state.weight >= CallbackQueue.mostWeight { state.isFull = true }
            defer { state.isUnderWay = true }
            return (!state.isUnderWay, !state.isFull)
        }
        if isFirst { post(to: queue) }
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

    func forgetRoom() { state.withLock { $0.onRoom = nil } }

    /// Queues an operation at the end of the loop's turn.
    private func post(to queue: OperationQueue) {
        let isPosted = loop?.post { self.send(to: queue) } ?? false
        if !isPosted { send(to: queue) }
    }

    /// Puts the calls that have gathered on the queue, as one operation.
    private func send(to queue: OperationQueue) {
        let batch = state.withLock { state in
            defer { state.gathered = [] }
            return state.gathered
        }
        queue.addLasting { self.run(batch, on: queue) }
    }

    private func run(_ batch: Batch, on queue: OperationQueue) {
        for (weight, call) in batch {
            call()
            if weight > 0 { lighten(by: weight)?() }
        }
        let goesOn = state.withLock { state in
            state.isUnderWay = !state.gathered.isEmpty
            return state.isUnderWay
        }
        if goesOn { post(to: queue) }
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

/// An operation that cannot be cancelled. A program may cancel all operations of its session's delegate queue. What the
/// session has put there runs even so, because a caller may wait for it.
private final class LastingOperation: Operation, @unchecked Sendable {
    private let call: @Sendable () -> Void

    init(_ call: @escaping @Sendable () -> Void) { self.call = call }

    override func main() { call() }

    override func cancel() {}
}

extension OperationQueue {
    /// Adds an operation that runs even if the program cancels it.
    package func addLasting(_ call: @escaping @Sendable () -> Void) { addOperation(LastingOperation(call)) }
}
