internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import Synchronization

/// One task on its session's loop: from the first `resume()` to the one end. Loop-confined.
///
/// It decides nothing itself. ``HeldLoad`` holds its sources and lets them go; the ``Attempt``'s machine says what
/// becomes of an answer, and ``perform(_:_:_:)`` does it; the ``Delivery`` gives the user what there is.
final class TaskLoader: HeldLoad, TaskLoad {
    let spec: TaskSpec
    var attempt: Attempt
    var delivery: Delivery
    /// The metrics; nil where none are asked for.
    var record: Record?
    /// What tells the session's observers of the task; nil without any.
    private(set) var observation: TaskObservation?
    private var resourceTimer: TimerID?
    private(set) var index = 0

    init(_ task: URLSessionTask, _ session: URLSession, _ engine: SessionEngine) {
        let spec = task.spec ?? TaskSpec(nil)
        self.spec = spec
        attempt = Attempt(
            spec.request ?? URLRequest.toNowhere,
            engine.settings.answerRules,
            resuming: spec.resumption?.askable
        )
        delivery = Delivery(task, session, spec, engine)
        if delivery.wantsMetrics { record = Record(engine.loop.now) }
        super.init(engine)
        attempt.prepareUpload(task, spec, engine)
    }

    func move(to index: Int) { self.index = index }

    var task: URLSessionTask { delivery.task }
    var session: URLSession { delivery.session }
    var settings: SessionSettings { engine.settings }
    var background: BackgroundSession? { engine.background }
    /// The URL that is being loaded, for errors; nil for a task without one.
    private var url: URL? { spec.request == nil ? nil : attempt.request.url }

    // MARK: The beginning

    func begin() {
        if let limit = RequestBuilder.nanoseconds(resourceTime) {
            resourceTimer = engine.loop.arm(at: engine.loop.now.advanced(byNanoseconds: limit), self)
        }
        let (refusal, observation) = task.snapshot.withLock { ($0.refusal, $0.observation.take()) }
        self.observation = observation
        if let refusal { return end(refusal) }
        guard let request = spec.request else { return beginStream() }
        guard let date = task.beginDate else { return startFromDisk(request) }
        let delay = RequestBuilder.duration(min(date.timeIntervalSinceNow, RequestBuilder.longest)) ?? .zero
        start(after: delay) { [self] in askWhetherToBegin(request) }
    }

    /// How much is left of the time for the resource, which began with the first process.
    private var resourceTime: TimeInterval {
        let whole = settings.resourceTimeout
        guard let begun = background?.record(of: task)?.begun, whole > 0 else { return whole }
        return max(0.001, whole + begun.timeIntervalSinceNow)
    }

    /// Begins a task without a request: a stream, or nothing that can be loaded.
    private func beginStream() {
        guard let task = task as? URLSessionStreamTask, let place = task.place else {
            let reason =
                task is URLSessionDownloadTask || task is URLSessionUploadTask
                ? "the resume data is damaged, or was not made by a task of this library"
                : "there is no request to send"
            return end(.unsupportedURL, nil, reason)
        }
        do throws(URLError) {
            // A stream uses the proxy that https uses.
            if case .failure(let fault) = engine.proxies.route(for: .https, place.host) {
                throw ErrorTranslation.urlError(.cannotConnectToHost, nil, fault)
            }
            let stream = try StreamLoad(self, engine, task.channel, to: place.origin())
            load(from: .stream(stream))
            stream.begin()
        } catch {
            end(error)
        }
    }

    /// Begins with the part of an earlier download, after a thread has checked that the file on disk is what was
    /// written.
    func startFromDisk(_ request: URLRequest) {
        guard let resumption = attempt.resumption, resumption.isUnread(isSummed: background != nil) else {
            return start(request)
        }
        offLoop {
            resumption.read
        } _: { [self] read in
            attempt.resume(from: read ?? nil)
            start(request)
        }
    }

    /// Begins with the task's content, or goes on with another request.
    func start(_ request: URLRequest) {
        attempt.replaceRequest(by: request, isKept: background != nil && task is URLSessionDownloadTask)
        do throws(URLError) {
            if let refused = request.refusedField {
                let reason = "the field “\(refused)” was given a value that cannot be sent"
                throw ErrorTranslation.urlError(.badURL, url, reason)
            }
            switch try attempt.loadContent(spec.content) {
            case .ready: transact()
            case .asksForStream: askForStream()
            case .usedUp: throw ErrorTranslation.urlError(.requestBodyStreamExhausted, url, ContentUsedUp())
            }
        } catch {
            end(error)
        }
    }

    /// Ends a task that never began, though its observers may have been told of it.
    func cancelUnbegun(_ way: TaskCancellation) {
        observation = task.snapshot.withLock { $0.observation.take() }
        cancel(way)
    }

    // MARK: A transaction

    func transact() {
        guard !course.isSuspended else {
            start()
            return whenRunning { [self] in transact() }
        }
        let length = attempt.beginSending()
        task.snapshot.withLock { $0.counts.expectedToSend = length }
        guard attempt.upload?.machine.isCreating != false else { return loadItself() }
        let load = ProtocolLoad.make(
            for: self,
            attempt.request,
            attempt.content,
            spec.content,
            engine,
            looksIntoCache: { attempt.cacheMode(settings).looksIntoCache }
        )
        guard let load else { return loadItself() }
        self.load(from: .classLoad(load))
        load.begin()
    }

    /// Loads the request in this module: from here, from the cache, or over the network.
    func loadItself() {
        do throws(URLError) {
            if task is URLSessionWebSocketTask {
                let url = try attempt.beginSocket()
                guard let storage = settings.cookieSubclass else { return exchange(url) }
                return askForCookies(storage) { [self] in exchange(url) }
            }
            switch try attempt.place() {
            case .network(let url):
                guard let storage = settings.cookieSubclass else { return lookIntoCache(url) }
                askForCookies(storage) { [self] in lookIntoCache(url) }
            case .local(let url): load(LocalLoad(url, on: engine.loop, self))
            }
        } catch {
            end(error)
        }
    }

    private func load(_ local: LocalLoad) {
        load(from: .local(local))
        local.begin()
    }

    private func lookIntoCache(_ url: URL) {
        guard let cache = settings.cache, spec.resumption == nil else { return begin(with: nil, url) }
        let request = attempt.request
        switch cache.find(request) {
        case .nothing: begin(with: nil, url)
        case .response(let found): begin(with: found, url)
        // Without a thread to read on, the request goes to the network.
        case .onDisk(let key):
            if cache.isSubclass, let dataTask = task as? URLSessionDataTask {
                return ask(cache, for: dataTask) { [self] in begin(with: $0, url) }
            }
            offLoop {
                cache.load(key, request)
            } _: { [self] in
                begin(with: $0 ?? nil, url)
            }
        }
    }

    private func begin(with found: CachedURLResponse?, _ url: URL) {
        guard let step = attempt.begin(with: found, url, engine) else { return exchange(url) }
        perform(step, nil, .nothing)
    }

    /// - Parameter conditions: fields that make the request conditional, for the cache.
    private func exchange(_ url: URL, _ conditions: [(name: String, value: String)] = []) {
        guard let digest = FileDigest(of: attempt.content, for: attempt.machine) else { return send(url, conditions) }
        let task = task
        offLoop {
            digest.compute { task.state == .running || task.state == .suspended }
        } _: { [self] hash in
            attempt.machine.take(contentHash: hash ?? nil)
            send(url, conditions)
        }
    }

    private func send(_ url: URL, _ conditions: [(name: String, value: String)]) {
        do throws(URLError) {
            let fields = observation.map { conditions + $0.fields } ?? conditions
            let request = try attempt.transact(url, fields, spec, session, engine)
            let priority = task.snapshot.withLock { snapshot in
                snapshot.origin = request.origin
                // The engine counts from 0 to 255: 0.5, the default, is its usual priority.
                return UInt8(clamping: Int(snapshot.priority * 256))
            }
            let id = engine.engine.start(request, delegate: self, priority: priority)
            // Within that call the engine may report that content in memory was sent. It reports nothing else before
            // the call returns.
            switch course.phase {
            case .new, .starting, .asking: load(from: .exchange(id))
            case .loading, .draining, .ended: engine.engine.cancel(id)
            }
        } catch {
            end(error)
        }
    }

    // MARK: Steps

    /// Performs the step that the attempt's machine has decided.
    ///
    /// - Parameters:
    ///   - response: the head that the step is about; nil without one.
    ///   - held: what is already held back; nil if the source delivers.
    func perform(_ step: Step, _ response: HTTPURLResponse?, _ held: Held?) {
        switch step {
        case .askForCredentials(let question, let failures): askForCredentials(question, failures, response)
        case .proposeRedirect(let redirect):
            guard let response else { return }
            guard let next = attempt.request(following: redirect) else {
                return perform(attempt.machine.decline(), response, nil)
            }
            askToFollow(next, response)
        case .askForStream: askForStream()
        case .deliver(let placement, let storage):
            guard let response else { return }
            if let next = attempt.uploadStep(after: response) { return goOnUploading(next) }
            guard let held else { return place(response, placement, storage) }
            deliver(response, held)
        case .fail(let reason): end(ErrorTranslation.error(reason, attempt.request.url))
        case .waitForConnectivity(let pause, let isFirst):
            if isFirst { tell(.connectivity) { $2.urlSession($0, taskIsWaitingForConnectivity: $1) } }
            observation?.note(.waitsForConnectivity)
            // Nothing of the content has been read, so a stream can be used again.
            start(after: pause) { [self] in transact() }
        case .beginAnew(let pause): beginAnew(after: pause)
        case .requestWhole:
            attempt.removePart()
            drop(course.held)
            attempt.response = nil
            start(attempt.request)
        case .send, .serveStored, .serveUpdated, .discardStored, .answerGatewayTimeout, .sendAgain:
            guard let held else { return pause { [self] in perform(step, response, $0) } }
            goOn(with: step, held)
        }
    }

    /// Performs the steps that need no user.
    private func goOn(with step: Step, _ held: Held) {
        guard let url = attempt.transaction?.url ?? attempt.request.url else { return }
        switch step {
        case .send(let fields): exchange(attempt.request.url ?? url, fields)
        case .serveStored(let age, let refresh):
            guard let found = attempt.stored else { return exchange(url) }
            // The rest is not waited for: a server in trouble may never send it.
            drop(held)
            serve(found, age: age ?? found.age)
            if let refresh { attempt.refresh(found, url, refresh, session, engine) }
        case .serveUpdated(let fresh):
            settle(held) { [self] in whenRunning { [self] in serve(updated: fresh, url) } }
        case .discardStored:
            settle(held) { [self] in
                whenRunning { [self] in
                    settings.cache?.discard(CacheKey(method: "GET", url: url))
                    exchange(url)
                }
            }
        case .answerGatewayTimeout:
            let response = HTTPURLResponse(url: url, statusCode: 504, httpVersion: "HTTP/1.1", headerFields: nil)
            if let response { load(LocalLoad(response, Data(), on: engine.loop, self)) }
        case .sendAgain:
            observation?.note(.sendsAgain)
            settle(held) { [self] in start(attempt.request) }
        case .askForCredentials, .proposeRedirect, .requestWhole, .askForStream, .waitForConnectivity, .beginAnew,
            .deliver, .fail:
            break
        }
    }

    private func serve(updated fresh: StoredExchange, _ url: URL) {
        guard let stored = attempt.stored?.updated(fresh) else { return exchange(url) }
        settings.cache?.keep(stored, for: CacheKey(method: "GET", url: url))
        serve(stored, age: stored.age)
    }

    private func serve(_ found: CachedURLResponse, age: Int64) {
        let response = found.served(age: age)
        record?.note(attempt.request, stored: response, found.data.count)
        load(LocalLoad(response, found.data, on: engine.loop, self))
    }

    /// Runs `next` when the rest of an answer that is not delivered has been read or dropped.
    func settle(_ held: Held, _ next: @escaping () -> Void) {
        drain(held) { [self] in
            attempt.response = nil
            next()
        }
    }

    /// Tries again instead of failing, and keeps the bytes that have come if the server can be asked for the rest.
    private func beginAnew(after pause: Duration) {
        guard let request = spec.request else { return }
        observation?.note(.sendsAgain)
        attempt = attempt.anew(request, continuing: delivery.takeFile())
        task.snapshot.withLock { $0.response = nil }
        start(after: pause) { [self] in startFromDisk(request) }
    }

    // MARK: Telling

    func tell(_ event: TaskInterests, _ call: @escaping DelegateCall) {
        if !delivery.tell(event, call) { waitForUser() }
    }

    func later(_ call: @escaping @Sendable () -> Void) { delivery.later(call) }

    func waitForUser() {
        fallBehind()
        delivery.whenTaken(onRoom())
    }

    /// Returns what is called when the delegate queue or the channel has room again.
    func onRoom() -> @Sendable () -> Void {
        let home = LoopBound(self, on: engine.loop)
        return { home.loop.post { home.value.catchUp() } }
    }

    // MARK: The end

    func cancel(_ way: TaskCancellation) {
        let error = ErrorTranslation.urlError(.cancelled, url, "the task was cancelled")
        switch (way, course.source) {
        // Before a WebSocket's handshake is done there is no connection to close.
        case (.closing(let reason), .socket(let socket)): socket.close(reason)
        case (.atOnce, _), (.closing, _): end(error)
        case (.producingResumeData, _):
            let kept = attempt.resumeData(for: delivery.sink, background)
            if let handler = task.snapshot.withLock({ $0.resumeDataHandler.take() }) { later { handler(kept?.data) } }
            end(kept.map { error.with($0.data, for: $0.key) } ?? error)
        }
    }

    func end(_ code: URLError.Code, _ url: URL?, _ reason: String) {
        end(ErrorTranslation.urlError(code, url, reason))
    }

    func end(_ error: (any Error)?) { end(error, nil) }

    func end(handingOver streams: CapturedStreams) { end(nil, streams) }

    /// Ends the task: nothing of it goes on after this. Only the first call has an effect.
    ///
    /// - Parameter streams: the connection, if the user has taken it over.
    private func end(_ error: (any Error)?, _ streams: CapturedStreams?) {
        guard stop() else { return }
        if let resourceTimer { engine.loop.cancel(resourceTimer) }
        resourceTimer = nil
        engine.remove(self)
        observation?.end((attempt.response as? HTTPURLResponse)?.statusCode, error)
        let metrics = record?.metrics(redirects: attempt.machine.redirects)
        let failure = error.map { attempt.withResumeData($0, delivery.sink, background) }
        let ending = delivery.end(failure, attempt.response, metrics, streams)
        if let background { return background.finish(ending, by: delivery.callbacks) }
        // The end of a session's only load is not reported in a batch with others.
        ending.tell(by: delivery.callbacks, together: engine.hasSeveralLoads ? engine.batch : nil)
    }
}

/// The loop holds a loader whose time is limited, as its session's engine does: until the end, which cancels its
/// timers. Held weakly, a loader would have every reference to it counted in a table apart: 0.4 µs a request.
extension TaskLoader: TimerHandler {
    func timerFired(_ id: TimerID) {
        resourceTimer = nil
        end(ErrorTranslation.urlError(.timedOut, url, EngineError.timedOut(.total)))
    }
}
