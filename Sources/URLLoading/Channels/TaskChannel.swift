internal import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlWebSocket

/// A call that the program has made on a stream task or a WebSocket task, for the task's load to fulfil.
protocol TaskWish: Sendable {
    /// What any thread may read of the task, and what a load leaves for later calls.
    associatedtype Facts: Sendable
    static var firstFacts: Facts { get }
    /// The reason of calls after the task's end, if it did not fail.
    static var closed: String { get }

    /// The number by which its caller can withdraw it; nil for a wish that cannot be withdrawn.
    var number: UInt64? { get }
    /// Returns the answer that needs no load; nil if there is none.
    ///
    /// - Parameter endedWell: whether the task is over, and has not failed.
    func answer(from facts: inout Facts, endedWell: Bool) -> TaskAnswer?
    /// Returns the answer of a failure; nil if no caller waits for one.
    func failure(_ error: URLError) -> TaskAnswer?
}

/// Fulfils a task's wishes, on its session's loop.
protocol WishWorker<Wish>: AnyObject {
    associatedtype Wish: TaskWish
    func take(_ wish: Wish)
    /// Withdraws the wish of that number: its caller no longer waits for it.
    func takeBack(_ number: UInt64)
}

/// Stands between the threads that use a task and the task's load. Before there is a load it keeps the wishes; then it
/// passes them on; after the load's end it answers them itself. Any thread.
final class TaskChannel<Wish: TaskWish>: Sendable {
    private enum Way {
        /// The task has no session.
        case nowhere
        /// No load is there. The wishes are in the order of the calls.
        case waiting([Wish])
        case open(LoopBound<any WishWorker<Wish>>)
        case ended(URLError, isFailure: Bool)
    }

    private struct State {
        var way = Way.nowhere
        var facts = Wish.firstFacts
        var queue: OperationQueue?
        /// The load's queue, once there is one: answers without the load come after those that it has given.
        var callbacks = CallbackQueue()
        var url: URL?
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    var facts: Wish.Facts { state.withLock { $0.facts } }

    func change(_ body: (inout Wish.Facts) -> Void) { state.withLock { body(&$0.facts) } }

    /// Sets the queue on which handlers are called, and the URL that errors name.
    func adopt(queue: OperationQueue, url: URL? = nil) {
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

    func ask(_ wish: Wish) {
        let (load, answer) = state.withLock { decide(wish, &$0) }
        if let answer { tell(answer) }
        guard let load, !load.loop.post({ load.value.take(wish) }) else { return }
        if let answer = wish.failure(cancellation("the session is gone")) { tell(answer) }
    }

    /// Returns the load that takes the wish, or its answer; neither for one that is kept.
    private func decide(_ wish: Wish, _ state: inout State) -> (LoopBound<any WishWorker<Wish>>?, TaskAnswer?) {
        switch state.way {
        case .nowhere:
            return (nil, wish.failure(URLError(.unknown, nil, "the task belongs to no session")))
        case .open(let load):
            return (load, nil)
        case .waiting(var wishes):
            if let answer = wish.answer(from: &state.facts, endedWell: false) { return (nil, answer) }
            state.way = .nowhere
            wishes.append(wish)
            state.way = .waiting(wishes)
            return (nil, nil)
        case .ended(let error, let isFailure):
            return (nil, wish.answer(from: &state.facts, endedWell: !isFailure) ?? wish.failure(error))
        }
    }

    /// Asks and waits. A Swift task that is cancelled withdraws its wish.
    func wait<Value: Sendable>(_ wish: @Sendable (UInt64, TaskReply<Value>) -> Wish) async throws -> Value {
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
        let (found, load) = state.withLock { state -> (Wish?, LoopBound<any WishWorker<Wish>>?) in
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
        if let answer = found?.failure(withdrawal) { tell(answer) }
        load?.loop.post { load?.value.takeBack(number) }
    }

    // MARK: For the load

    /// Passes wishes on to `load` from here on. Returns those that have waited, which come first.
    func open(_ load: LoopBound<any WishWorker<Wish>>, _ callbacks: CallbackQueue) -> [Wish] {
        state.withLock { state in
            guard case .waiting(let wishes) = state.way else { return [] }
            (state.way, state.callbacks) = (.open(load), callbacks)
            return wishes
        }
    }

    /// Notes that the load is over. The wishes that it could not fulfil wait for the task's end, which gives the
    /// reason.
    ///
    /// - Parameter leave: notes what the load leaves.
    func giveBack(_ wishes: [Wish], _ leave: (inout Wish.Facts) -> Void) {
        state.withLock { state in
            guard case .open = state.way else { return }
            state.way = .waiting(wishes)
            leave(&state.facts)
        }
    }

    /// Notes that the task is over. Runs on the delegate queue; wishes that wait are answered at once.
    func end(_ failure: URLError?) {
        let answers = state.withLock { state -> [TaskAnswer] in
            let error = failure ?? URLError(.networkConnectionLost, state.url, Wish.closed)
            var wishes: [Wish] = []
            if case .waiting(let waiting) = state.way { wishes = waiting }
            state.way = .ended(error, isFailure: failure != nil)
            return wishes.compactMap { wish in
                wish.answer(from: &state.facts, endedWell: failure == nil) ?? wish.failure(error)
            }
        }
        for answer in answers { answer.call() }
    }

    /// The error of a wish that its caller no longer waits for.
    var withdrawal: URLError { cancellation("the caller that waited for it was cancelled") }

    func cancellation(_ reason: String) -> URLError {
        URLError(.cancelled, state.withLock { $0.url }, reason)
    }

    /// Answers a caller without a load: handlers on the delegate queue, after earlier calls.
    func tell(_ answer: TaskAnswer) {
        let (queue, callbacks) = state.withLock { ($0.queue, $0.callbacks) }
        guard !answer.isAwaited, let queue else { return answer.call() }
        callbacks.add(on: queue, answer.call)
    }
}

/// A call that answers a caller; whether the caller is a waiting function, which any thread may resume.
typealias TaskAnswer = (call: @Sendable () -> Void, isAwaited: Bool)

/// A caller that waits for part of a task's work, such as a message or some bytes. It is answered once.
enum TaskReply<Value: Sendable>: Sendable {
    typealias Call = @Sendable (Result<Value, any Error>) -> Void

    /// The program's handler, called on the session's delegate queue.
    case handler(Call)
    /// A waiting function, which can be resumed on any thread.
    case awaited(Call)

    /// The answer of this caller.
    func answer(_ result: Result<Value, any Error>) -> TaskAnswer {
        switch self {
        case .handler(let call): ({ call(result) }, false)
        case .awaited(let call): ({ call(result) }, true)
        }
    }
}

/// A call that the program has made on a stream task.
enum StreamWish: Sendable {
    case read(StreamReading)
    /// - Parameter timeout: in seconds; no limit unless it is above zero.
    case write(Data, timeout: TimeInterval, TaskReply<Void>)
    // These take effect after everything that was asked for before them.
    case closeRead
    case closeWrite
    case capture
    case startSecurity
    case stopSecurity
}

/// A stream task's way to its load. Its fact is whether the peer had closed and all was read.
typealias StreamChannel = TaskChannel<StreamWish>

extension StreamWish: TaskWish {
    static var firstFacts: Bool { false }
    static var closed: String { "the stream is closed" }

    var number: UInt64? { if case .read(let reading) = self { reading.number } else { nil } }

    /// After the end, all was read: that is also the answer to later reads.
    func answer(from isAtEnd: inout Bool, endedWell: Bool) -> TaskAnswer? {
        guard isAtEnd, endedWell, case .read(let reading) = self else { return nil }
        return reading.reply.answer(.success((nil, true)))
    }

    func failure(_ error: URLError) -> TaskAnswer? {
        switch self {
        case .read(let reading): reading.reply.answer(.failure(error))
        case .write(_, _, let reply): reply.answer(.failure(error))
        case .closeRead, .closeWrite, .capture, .startSecurity, .stopSecurity: nil
        }
    }
}

/// A read that waits for bytes: the number by which its caller can withdraw it; the least bytes, one or more, and the
/// most; the time limit in seconds, none unless it is above zero.
typealias StreamReading = (
    number: UInt64, minimum: Int, maximum: Int, timeout: TimeInterval, reply: TaskReply<(Data?, Bool)>
)

/// The host and port that a stream task connects to.
typealias StreamPlace = (host: String, port: Int)

extension Origin {
    /// Returns the place's origin, with the scheme http because TLS may begin later. The proxy for https is asked for a
    /// tunnel all the same.
    init(_ place: StreamPlace) throws(URLError) {
        guard let number = UInt16(exactly: place.port), number > 0 else {
            throw URLError(.badURL, nil, "there is no port \(place.port)")
        }
        do throws(URLHost.Problem) {
            try self.init(scheme: .http, host: place.host, port: number)
        } catch {
            throw URLError(.invalidRequest(.host(place.host, error)), nil)
        }
    }
}

/// A call that the program has made on a WebSocket task.
enum WebSocketWish: Sendable {
    case send(WebSocketMessage, TaskReply<Void>)
    /// A message that could not be sent: its caller waits for the end.
    case unsent(TaskReply<Void>)
    case ping(UInt64, TaskReply<Void>)
    case receive(UInt64, TaskReply<WebSocketMessage>)
    /// A change of ``WebSocketFacts/maximumMessageSize``, which a load is told.
    case limit(Int)
}

/// What any thread may read of a WebSocket task, and what its load has left.
struct WebSocketFacts: Sendable {
    var maximumMessageSize = 1 << 20
    var closeStatus: Int?
    var closeReason: Data?
    /// How long the task's end waits for the program to take the next message, once the delegate queue has run the
    /// earlier calls. A program that takes no more messages gets the end after that time.
    var patience = Duration.seconds(5)
    /// The messages that had come and had not been asked for when the server closed.
    var left: [WebSocketMessage] = []

    mutating func close(_ status: Int, _ reason: String = "") {
        closeStatus = status
        closeReason = reason.isEmpty ? nil : Data(reason.utf8)
    }
}

/// A WebSocket task's way to its load.
typealias WebSocketChannel = TaskChannel<WebSocketWish>

extension WebSocketWish: TaskWish {
    static var firstFacts: WebSocketFacts { WebSocketFacts() }
    static var closed: String { "the WebSocket is closed" }

    var number: UInt64? {
        switch self {
        case .send, .unsent, .limit: nil
        case .ping(let number, _), .receive(let number, _): number
        }
    }

    func answer(from facts: inout WebSocketFacts, endedWell: Bool) -> TaskAnswer? {
        switch self {
        case .receive(_, let reply):
            facts.left.isEmpty ? nil : reply.answer(.success(facts.left.removeFirst()))
        // A load that begins reads the fact.
        case .limit: ({}, true)
        case .send, .unsent, .ping: nil
        }
    }

    func failure(_ error: URLError) -> TaskAnswer? {
        switch self {
        case .send(_, let reply), .unsent(let reply), .ping(_, let reply): reply.answer(.failure(error))
        case .receive(_, let reply): reply.answer(.failure(error))
        case .limit: nil
        }
    }
}
