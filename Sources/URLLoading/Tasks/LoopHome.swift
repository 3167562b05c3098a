internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlWebSocket

/// A session's engine on one of the shared loops, and the path from its tasks to their loads there. Any thread.
final class LoopHome: SessionHome {
    private let security: ClientSecurity
    private let background: BackgroundSession?
    private let observers: [SessionObserver]
    /// Where the session's credentials come from.
    private let storage: URLCredentialStorage?
    /// The session's part on its loop, or the reason why there is none.
    private let engine: Result<LoopBound<SessionEngine>, Errno>

    /// - Parameter observers: nil for those of the configuration.
    init(_ configuration: URLSessionConfiguration, hasDelegate: Bool, observers: [SessionObserver]? = nil) {
        let settings = SessionSettings(configuration)
        let security = ClientSecurity(configuration, hasDelegate: hasDelegate)
        let background =
            configuration.isBackground
            ? BackgroundSession(configuration.identifier ?? "", in: configuration.stateDirectory) : nil
        self.security = security
        self.observers = observers ?? configuration.observers
        self.background = background
        engine = Result { () throws(Errno) in
            let loop = try EventLoop.nextShared()
            return LoopBound(SessionEngine(on: loop, settings, security, background), on: loop)
        }
        storage = configuration.urlCredentialStorage
        guard case .success(let engine) = engine else { return }
        storage?.watch(self) { space in
            if engine.loop.isCurrent {
                engine.value.forget(space)
            } else {
                engine.loop.post { engine.value.forget(space) }
            }
        }
    }

    deinit { storage?.unwatch(self) }

    var keeper: (any TaskKeeper)? { background }

    var executor: LoopExecutor? { try? engine.get().loop.executor }

    var isOnLoop: Bool {
        if case .success(let engine) = engine { engine.loop.isCurrent } else { false }
    }

    // MARK: Tasks

    /// The message has no state of its own: the messages of two threads may arrive in the other order, so each applies
    /// the task's present state.
    func updateFlow(of task: URLSessionTask, in session: URLSession) {
        background?.noteFlow(of: task)
        if !observers.isEmpty { observe(task) }
        post(task, session) { engine, session, task in
            let (isHeld, isRunning) = task.snapshot.withLock { ($0.suspensions > 0, $0.state == .running) }
            switch task.stage {
            case .loading(let load): isHeld ? load.suspend() : load.resume()
            // The task may have been cancelled while this message was on its way.
            case .new: if isRunning, !isHeld { LoopHome.takeUp(task, session, engine).begin() }
            case .passed, .over: break
            }
        }
    }

    func reopen(_ task: URLSessionTask, in session: URLSession) {
        background?.reopen(task.taskIdentifier)
        if !observers.isEmpty { observe(task) }
        post(task, session) { engine, session, task in
            task.stage = .new
            let isCancelled = task.snapshot.withLock { snapshot in
                guard snapshot.fate == .open else { return true }
                (snapshot.state, snapshot.suspensions, snapshot.response) = (.running, 0, nil)
                return false
            }
            let load = LoopHome.takeUp(task, session, engine)
            if isCancelled { load.cancelUnbegun(.atOnce) } else { load.begin() }
        }
    }

    /// Tells the session's observers that a task begins. They do not observe WebSockets, which are not a request with
    /// one answer.
    private func observe(_ task: URLSessionTask) {
        guard !(task is URLSessionWebSocketTask) else { return }
        let observation = task.snapshot.withLock { snapshot -> TaskObservation? in
            guard !snapshot.isObserved, snapshot.suspensions == 0, snapshot.fate == .open else { return nil }
            snapshot.isObserved = true
            // It is there before the observers are called: the load finds it whenever it begins or ends.
            snapshot.observation = TaskObservation(snapshot.identifier, snapshot.originalRequest)
            return snapshot.observation
        }
        observation?.begin(by: observers)
    }

    func cancel(_ task: URLSessionTask, in session: URLSession, _ way: TaskCancellation) -> Bool {
        let isFirst = task.snapshot.withLock { snapshot in
            // A WebSocket that is being closed can still be cancelled at once.
            guard snapshot.state != .completed, snapshot.fate == .open else { return false }
            snapshot.state = .canceling
            switch way {
            case .atOnce: snapshot.fate = .cancelled
            case .producingResumeData(let handler): (snapshot.fate, snapshot.resumeDataHandler) = (.cancelled, handler)
            // The load decides how the task ends.
            case .closing: break
            }
            return true
        }
        if isFirst { post(task, session) { LoopHome.cancel($2, $1, $0, way) } }
        return isFirst
    }

    private static func cancel(
        _ task: URLSessionTask,
        _ session: URLSession,
        _ engine: SessionEngine,
        _ way: TaskCancellation
    ) {
        switch task.stage {
        case .loading(let load): load.cancel(way)
        // A task that never began ends as the others do.
        case .new: takeUp(task, session, engine).cancelUnbegun(way)
        case .passed(let other):
            task.passFate(to: other, session)
            cancel(other, session, engine, way)
        // The task's end is on its way, and says how the task was cancelled.
        case .over: break
        }
    }

    private static func takeUp(_ task: URLSessionTask, _ session: URLSession, _ engine: SessionEngine) -> TaskLoader {
        let spec = task.spec ?? TaskSpec(nil)
        let load =
            switch (spec.request, task) {
            case (_?, is URLSessionWebSocketTask): SocketLoader(task, session, spec, engine)
            case (nil, is URLSessionStreamTask): StreamTaskLoader(task, session, spec, engine)
            case (_, _): TaskLoader(task, session, spec, engine)
            }
        engine.add(load)
        return load
    }

    /// Runs `call` on the loop; a task that cannot be loaded at all ends here.
    private func post(
        _ task: URLSessionTask,
        _ session: URLSession,
        _ call: @escaping @Sendable (SessionEngine, URLSession, URLSessionTask) -> Void
    ) {
        guard task.isTakenIn else { return LoopHome.fail(task, session, "the session has been invalidated") }
        switch engine {
        case .success(let engine) where engine.loop.isCurrent: call(engine.value, session, task)
        case .success(let engine): engine.loop.post { call(engine.value, session, task) }
        case .failure(let error): LoopHome.fail(task, session, "no event loop can be made: \(error)")
        }
    }

    private static func fail(_ task: URLSessionTask, _ session: URLSession, _ reason: String) {
        let failure = URLError(.unknown, task.currentRequest?.url, reason)
        let cancellation = CompletionReport.cancellation(of: task)
        let error = task.snapshot.withLock { snapshot -> URLError? in
            guard snapshot.state != .completed else { return nil }
            let error = snapshot.fate == .cancelled ? cancellation : failure
            // A thread that sees that the task is over also sees why.
            (snapshot.state, snapshot.error) = (.completed, error)
            return error
        }
        guard let error else { return }
        task.snapshot.withLock { $0.observation.take() }?.end(nil, error)
        CompletionReport(task: task, session: session, failure: error, response: nil).tell(by: CallbackQueue())
    }

    // MARK: The session

    func forget(then: @escaping @Sendable () -> Void) {
        let isSent = post { engine in
            engine.forget()
            engine.whenKept(then)
        }
        if !isSent { then() }
    }

    func renewConnections(then: @escaping @Sendable () -> Void) {
        let isSent = post { engine in
            engine.client.renewConnections()
            then()
        }
        if !isSent { then() }
    }

    func shutDown() { post { engine in engine.shutDown() } }

    func askNoSession() { security.askNoSession() }

    /// Runs `call` on the loop. Returns false if there is no loop: then `call` will not run.
    @discardableResult
    func post(_ call: @escaping @Sendable (SessionEngine) -> Void) -> Bool {
        guard case .success(let engine) = engine else { return false }
        return engine.loop.post { call(engine.value) }
    }
}

extension URLSession {
    /// Makes what loads the tasks of a session.
    static func home(_ configuration: URLSessionConfiguration, hasDelegate: Bool) -> any SessionHome {
        LoopHome(configuration, hasDelegate: hasDelegate)
    }
}

extension URLSessionTask {
    var isCancelled: Bool { snapshot.withLock { $0.fate == .cancelled } }

    /// Passes a cancel of this task on to the other, which continues in its place. If it is too late to cancel that
    /// one, there are no resume data.
    func passFate(to other: URLSessionTask, _ session: URLSession) {
        let (isCancelled, handler) = snapshot.withLock { ($0.fate == .cancelled, $0.resumeDataHandler.take()) }
        guard isCancelled else { return }
        let isPassed = other.snapshot.withLock { snapshot in
            guard snapshot.fate == .open else { return false }
            (snapshot.state, snapshot.fate, snapshot.resumeDataHandler) = (.canceling, .cancelled, handler)
            return true
        }
        if !isPassed, let handler { session.delegateQueue.addLasting { handler(nil) } }
    }

    /// Makes the other task count as suspended as often as this one. What is done to this one later has no effect.
    func passSuspensions(to other: URLSessionTask) {
        let suspensions = snapshot.withLock { snapshot -> Int? in
            guard snapshot.state == .running || snapshot.state == .suspended else { return nil }
            snapshot.state = .completed
            return snapshot.suspensions
        }
        guard let suspensions, let session = other.session else { return }
        let isChanged = other.snapshot.withLock { snapshot in
            guard snapshot.fate == .open, snapshot.suspensions != suspensions else { return false }
            (snapshot.state, snapshot.suspensions) = (suspensions > 0 ? .suspended : .running, suspensions)
            return true
        }
        if isChanged { session.home.updateFlow(of: other, in: session) }
    }

    /// Completes this task, in whose place the other continues: nothing more is reported of this one.
    func retire(for other: URLSessionTask, _ session: URLSession) {
        passFate(to: other, session)
        state = .completed
        letGo()
    }
}

/// Opens the WebSocket of a task: its handshake is a request, whose answer is a switch of protocols.
final class SocketLoader: TaskLoader {
    override var opensSocket: Bool { true }

    /// An answer that switches no protocol refuses the WebSocket.
    override func accept(_ response: URLResponse) {
        self.response = response
        task.expect(response)
        guard !load.isEnded else { return }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        end(
            .badServerResponse,
            task.originalRequest?.url,
            "the server answered \(status) and did not switch to WebSocket"
        )
    }

    override func switchProtocols(to connection: UpgradedConnection, _ response: LocatedHead) {
        let url = task.currentRequest?.url ?? task.originalRequest?.url
        guard let task = task as? URLSessionWebSocketTask, let handshake = load.handshake, let url else {
            return connection.close()
        }
        self.response = HTTPURLResponse(response, url)
        task.response = self.response
        do throws(URLError) {
            let agreement = try handshake.agreement(response, task.originalRequest?.url)
            let socket = WebSocketLoad(self, task.channel, on: engine.loop)
            load.load(from: .other(socket))
            // The session's limit, 60 seconds by default, would end every WebSocket on which no message comes for a
            // minute.
            let limit = request.values.explicitTimeout.flatMap(Duration.limit)
            socket.begin(connection, agreement, silentFor: limit, delivery.callbacks)
            load.updateFlow()
        } catch {
            connection.close()
            end(error)
        }
    }

    /// Before the handshake is done there is no connection to close.
    override func cancel(_ way: TaskCancellation) {
        guard case .closing(let reason) = way, let socket = load.source as? WebSocketLoad else {
            return super.cancel(way)
        }
        socket.close(reason)
    }
}

/// Opens the connection of a stream task, which has no request.
final class StreamTaskLoader: TaskLoader {
    override func beginLoading() {
        guard let task = task as? URLSessionStreamTask, let place = task.place else { return super.beginLoading() }
        do throws(URLError) {
            // A stream uses the proxy that https uses.
            if case .failure(let fault) = engine.client.route(for: .https, place.host) {
                throw URLError(.cannotConnectToHost, nil, fault)
            }
            let stream = try StreamLoad(self, engine, task.channel, to: Origin(place))
            load.load(from: .other(stream))
            stream.begin()
        } catch {
            end(error)
        }
    }
}

extension ClientHandshake {
    /// The agreement of both sides, from the head of a 101.
    ///
    /// - Parameter url: the URL as the program gave it, for errors.
    func agreement(_ response: LocatedHead, _ url: URL?) throws(URLError) -> Agreement {
        do throws(HandshakeError) {
            return try check { response.fields.values(of: $0) }
        } catch {
            throw URLError(.badServerResponse, url, error)
        }
    }
}
