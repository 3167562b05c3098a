internal import Foundation
internal import Synchronization
internal import UncurlReactor
internal import UncurlWebSocket

/// Fulfils a WebSocket task's wishes, on its session's loop.
protocol WebSocketWorker: AnyObject {
    func take(_ wish: WebSocketWish)
    /// Withdraws the wish of that number, whose caller no longer waits for it.
    func takeBack(_ number: UInt64)
    func setMaximumMessageSize(_ size: Int)
}

/// Stands between the threads that use a WebSocket task and the task's load. Before there is a load it keeps the
/// wishes; then it passes them on; after the load's end it answers them itself. Any thread.
final class WebSocketChannel: Sendable {
    /// What any thread may read.
    struct Facts {
        var maximumMessageSize = 1 << 20
        var closeStatus: Int?
        var closeReason: Data?
    }

    private enum Way {
        /// The task has no session.
        case nowhere
        /// No load is there. The wishes are in the order of the calls.
        case waiting([WebSocketWish])
        case open(LoopBound<any WebSocketWorker>)
        case ended(URLError)
    }

    private struct State {
        var way = Way.nowhere
        var facts = Facts()
        var patience = Duration.seconds(5)
        /// The messages that had come and had not been asked for when the server closed.
        var left: [WebSocketMessage] = []
        var queue: OperationQueue?
        /// The load's queue, once there is one: answers without the load come after those that it has given.
        var callbacks = CallbackQueue()
        var url: URL?
        var last: UInt64 = 0
    }

    private enum Verdict {
        case kept
        case hand(LoopBound<any WebSocketWorker>)
        case message(WebSocketMessage)
        case failed(URLError)
    }

    private let state = Mutex(State())

    var facts: Facts { state.withLock { $0.facts } }

    /// How long the task's end waits for the program to take the next message, once the delegate queue has run the
    /// earlier calls. A program that takes no more messages gets the end after that time.
    var patience: Duration {
        get { state.withLock { $0.patience } }
        set { state.withLock { $0.patience = newValue } }
    }

    /// Sets the queue on which handlers are called, and the URL that errors name.
    func adopt(queue: OperationQueue, url: URL?) {
        state.withLock { state in
            guard case .nowhere = state.way else { return }
            (state.way, state.queue, state.url) = (.waiting([]), queue, url)
        }
    }

    // MARK: For the task

    /// Returns a number for a wish that its caller may withdraw.
    func number() -> UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    func ask(_ wish: WebSocketWish) {
        switch state.withLock({ verdict(on: wish, &$0) }) {
        case .kept: break
        case .hand(let load):
            if !load.loop.post({ load.value.take(wish) }) { fail(wish, cancellation("the session is gone")) }
        case .message(let message): answer(wish, message)
        case .failed(let error): fail(wish, error)
        }
    }

    private func verdict(on wish: WebSocketWish, _ state: inout State) -> Verdict {
        switch state.way {
        case .nowhere:
            return .failed(ErrorTranslation.urlError(.unknown, nil, "the task belongs to no session"))
        case .open(let load):
            return .hand(load)
        case .waiting(var wishes):
            if let message = leftMessage(for: wish, &state) { return .message(message) }
            state.way = .nowhere
            wishes.append(wish)
            state.way = .waiting(wishes)
            return .kept
        case .ended(let error):
            return leftMessage(for: wish, &state).map { .message($0) } ?? .failed(error)
        }
    }

    private func leftMessage(for wish: WebSocketWish, _ state: inout State) -> WebSocketMessage? {
        guard case .receive = wish, !state.left.isEmpty else { return nil }
        return state.left.removeFirst()
    }

    /// Asks and waits. A Swift task that is cancelled withdraws its wish.
    func wait<Value: Sendable>(
        _ wish: @Sendable (UInt64, TaskReply<Value>) -> WebSocketWish
    ) async throws -> Value {
        let number = number()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                ask(wish(number, .awaited { continuation.resume(with: $0) }))
                // The Swift task was cancelled before there was a wish to withdraw.
                if Task.isCancelled { takeBack(number) }
            }
        } onCancel: {
            takeBack(number)
        }
    }

    private func takeBack(_ number: UInt64) {
        let (found, load) = state.withLock { state -> (WebSocketWish?, LoopBound<any WebSocketWorker>?) in
            switch state.way {
            case .nowhere, .ended: return (nil, nil)
            case .open(let load): return (nil, load)
            case .waiting(var wishes):
                guard let index = wishes.firstIndex(where: { $0.number == number }) else { return (nil, nil) }
                let wish = wishes.remove(at: index)
                state.way = .waiting(wishes)
                return (wish, nil)
            }
        }
        if let found { fail(found, cancellation("the caller that waited for it was cancelled")) }
        load?.loop.post { load?.value.takeBack(number) }
    }

    func setMaximumMessageSize(_ size: Int) {
        let load = state.withLock { state -> LoopBound<any WebSocketWorker>? in
            state.facts.maximumMessageSize = size
            if case .open(let load) = state.way { return load }
            return nil
        }
        load?.loop.post { load?.value.setMaximumMessageSize(size) }
    }

    // MARK: For the load

    /// Passes wishes on to `load` from here on. Returns those that have waited, which come first.
    func open(_ load: LoopBound<any WebSocketWorker>, _ callbacks: CallbackQueue) -> [WebSocketWish] {
        state.withLock { state in
            guard case .waiting(let wishes) = state.way else { return [] }
            (state.way, state.callbacks) = (.open(load), callbacks)
            return wishes
        }
    }

    func closed(_ status: Int, _ reason: String = "") {
        state.withLock { state in
            state.facts.closeStatus = status
            state.facts.closeReason = reason.isEmpty ? nil : Data(reason.utf8)
        }
    }

    /// Notes that the load is over. The wishes that it could not fulfil wait for the task's end, which gives the
    /// reason.
    func giveBack(_ wishes: [WebSocketWish], left messages: [WebSocketMessage]) {
        state.withLock { state in
            guard case .open = state.way else { return }
            (state.way, state.left) = (.waiting(wishes), messages)
        }
    }

    /// Notes that the task is over. Runs on the delegate queue; wishes that wait are answered at once.
    func end(_ failure: URLError?) {
        let (wishes, error) = state.withLock { state -> ([WebSocketWish], URLError) in
            let error =
                failure ?? ErrorTranslation.urlError(.networkConnectionLost, state.url, "the WebSocket is closed")
            defer { state.way = .ended(error) }
            if case .waiting(let wishes) = state.way { return (wishes, error) }
            return ([], error)
        }
        for wish in wishes {
            switch wish {
            case .send(_, let reply), .unsent(let reply), .ping(_, let reply): reply(.failure(error))
            case .receive(_, let reply): reply(.failure(error))
            }
        }
    }

    func cancellation(_ reason: String) -> URLError {
        ErrorTranslation.urlError(.cancelled, state.withLock { $0.url }, reason)
    }

    // MARK: Answers without a load

    private func fail(_ wish: WebSocketWish, _ error: URLError) {
        switch wish {
        case .send(_, let reply), .unsent(let reply), .ping(_, let reply): call(reply, .failure(error))
        case .receive(_, let reply): call(reply, .failure(error))
        }
    }

    private func answer(_ wish: WebSocketWish, _ message: WebSocketMessage) {
        if case .receive(_, let reply) = wish { call(reply, .success(message)) }
    }

    func call<Value>(_ reply: TaskReply<Value>, _ result: Result<Value, any Error>) {
        switch reply {
        case .awaited(let call): call(result)
        case .handler(let call):
            let (queue, callbacks) = state.withLock { ($0.queue, $0.callbacks) }
            guard let queue else { return call(result) }
            callbacks.add(on: queue) { call(result) }
        }
    }
}
