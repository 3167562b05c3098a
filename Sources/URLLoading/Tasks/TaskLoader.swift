internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics

/// One task on its session's loop: from the first `resume()` to the one end. Loop-confined.
///
/// This class is the program's side of a task: what is loaded, reports to the program and questions, the destination of
/// the answer, and the end. Its ``Load`` gets the answer. ``SocketLoader`` and ``StreamTaskLoader`` inherit from it.
class TaskLoader: TaskLoad {
    final let spec: TaskSpec
    final let engine: SessionEngine
    final var delivery: Delivery
    private(set) final var index = 0
    /// Reports the task to the session's observers; nil without observers.
    private(set) final var observation: TaskObservation?
    private var resourceTimer: TimerID?
    /// Since when it waits for a descriptor; nil while it does not.
    private var shortage: Instant?
    private final var begun: Load?
    /// Whether no request was sent yet.
    private final var isUnsent = true

    /// The request under way.
    private(set) final var request: URLRequest
    /// The request that the delegate of a delayed task has given instead of the task's own.
    private final var given: URLRequest?
    /// The request that has begun an upload that can be resumed.
    private(set) final var creation: URLRequest?
    /// The request's content.
    private final var content = UploadContent.none
    /// Whether content that can be read only once has been read: a request that needs it again asks for another stream.
    private final var hasReadContent = false
    /// The response that the program gets; nil before there is one.
    final var response: URLResponse?
    /// The last head from the network, as the program sees it.
    private final var head: HTTPURLResponse?
    private final var record: Record
    /// The part of an earlier download that this one continues.
    final var resumption: ResumeData?
    /// The file of an earlier download that this one appends to, from its answer's head on.
    final var resumed: DownloadFile?
    /// The task's own delegate, when the request was begun.
    private final var listener: TaskListener?

    init(_ task: URLSessionTask, _ session: URLSession, _ spec: TaskSpec, _ engine: SessionEngine) {
        self.spec = spec
        self.engine = engine
        request = spec.request ?? URLRequest(url: URLRequest.nowhere)
        creation = spec.request
        delivery = Delivery(task, session, spec, engine)
        record = Record(engine.loop.now)
        resumption = spec.resumption?.askable
    }

    /// It is made when it is first needed, since it knows its owner.
    final var load: Load {
        if let begun { return begun }
        let load = Load(
            sendable(request),
            of: self,
            in: engine.client,
            resuming: resumption?.offer,
            opensSocket: opensSocket,
            isKept: background != nil && task is URLSessionDownloadTask
        )
        load.upload = makeUpload()
        begun = load
        return load
    }

    final func move(to index: Int) { self.index = index }

    final var task: URLSessionTask { delivery.task }
    final var session: URLSession { delivery.session }
    final var settings: SessionSettings { engine.settings }
    final var background: BackgroundSession? { engine.background }

    // MARK: For a kind of task

    /// Whether the request is a WebSocket's handshake.
    var opensSocket: Bool { false }

    /// Begins to load.
    func beginLoading() {
        guard spec.request == nil else { return beginRequest() }
        let reason =
            task is URLSessionDownloadTask || task is URLSessionUploadTask
            ? "the resume data is damaged, or was not made by a task of this library"
            : "there is no request to send"
        end(.unsupportedURL, nil, reason)
    }

    func cancel(_ way: TaskCancellation) {
        guard case .producingResumeData = way else { return end(cancellation) }
        let kept = resumeData
        if let handler = task.snapshot.withLock({ $0.resumeDataHandler.take() }) { later { handler(kept?.data) } }
        end(kept.map { cancellation.with($0.data, for: $0.key) } ?? cancellation)
    }

    final func suspend() { load.suspend() }

    final func resume() { load.resume() }

    /// Handles a switch of protocols for a task that is not a WebSocket: the 101 is the answer, and the connection
    /// belongs to the stream task that the delegate may make of it.
    func switchProtocols(to connection: UpgradedConnection, _ response: LocatedHead) {
        load.load(from: .other(StreamLoad(self, engine, on: connection, to: load.origin)))
        let before = load.questions
        accept(response)
        // A delegate that is not asked cannot take the connection.
        if load.questions == before { end(nil) }
    }

    /// Takes the response as the answer.
    func accept(_ response: URLResponse) {
        self.response = response
        // The task's progress shows the response, and observers of the progress may cancel the task.
        task.expect(response)
        guard !load.isEnded else { return }
        do throws(URLError) {
            try delivery.begin(response, onRoom: onRoom, makeFile: makeFile(for:))
        } catch {
            return awaitDescriptor(after: error) { [self] in accept(response) }
        }
        if delivery.asksForDisposition { askForDisposition(response) }
    }

    /// Waits if the process has had no descriptor to spare for a file, and then runs `open` again. All waits of a task
    /// together last no longer than its request may be idle. After that, or after another error, the task ends with it.
    final func awaitDescriptor(after error: URLError, _ open: @escaping () -> Void) {
        let now = engine.loop.now
        let since = shortage ?? now
        shortage = since
        let limit = Duration.limit(idleLimit)
        guard error.isOfDescriptors, limit.map({ now < since.advanced(by: $0) }) ?? true else { return end(error) }
        load.ask { answer in
            engine.engine.awaitDescriptor { answer.give(true) }
        } _: { [load] _, held in
            load.resume(held, open)
        }
    }

    /// How long the peer, or a hook, may be idle, in seconds.
    private final var idleLimit: TimeInterval {
        (spec.request == nil ? nil : request.values.explicitTimeout) ?? settings.requestTimeout
    }

    /// The URL under way, for errors.
    private final var url: URL? { spec.request == nil ? nil : request.url }

    // MARK: The beginning

    final func begin() {
        let (refusal, observation, date) = task.snapshot.withLock { ($0.refusal, $0.observation.take(), $0.beginDate) }
        self.observation = observation
        if let limit = Duration.limitNanoseconds(resourceTime(from: date)) {
            resourceTimer = engine.loop.arm(at: engine.loop.now.advanced(byNanoseconds: limit), self)
        }
        if let refusal { end(refusal) } else { beginLoading() }
    }

    /// The rest of the time limit for the resource, in seconds. The limit counts from the first process, and from the
    /// date before which the task does not begin.
    private func resourceTime(from date: Date?) -> TimeInterval {
        let whole = settings.resourceTimeout
        let begun = background?.record(of: task)?.begun
        guard whole > 0, begun != nil || date != nil else { return whole }
        let start = max(begun ?? Date(), date ?? .distantPast)
        return max(0.001, whole + start.timeIntervalSinceNow)
    }

    /// Ends a task that never began. Its beginning may have been reported to observers.
    final func cancelUnbegun(_ way: TaskCancellation) {
        observation = task.snapshot.withLock { $0.observation.take() }
        cancel(way)
    }

    private func beginRequest() {
        guard let date = task.beginDate else { return startFromDisk(request) }
        let delay = Duration.limit(min(date.timeIntervalSinceNow, Duration.longestLimit)) ?? .zero
        load.start(after: delay) { [self] in askWhetherToBegin(request) }
    }

    private func askWhetherToBegin(_ request: URLRequest) {
        ask(.delay, otherwise: (.continueLoading, nil)) {
            .begin(request, $0)
        } _: { [self] answer, _ in
            load.start()
            switch answer {
            case (.continueLoading, _): startFromDisk(request)
            case (.useNewRequest, let other):
                let next = other ?? request
                // The part on disk is of the first request's URL.
                if next.url != request.url { resume(from: nil) }
                begin(with: next)
            case (.cancel, _): cancel(.atOnce)
            }
        }
    }

    /// Begins with another request than the task's own. New tries begin with it too.
    private func begin(with request: URLRequest) {
        (given, creation) = (request, request)
        task.currentRequest = request
        load.upload?.begin(with: sendable(request))
        startFromDisk(request)
    }

    /// Begins with the part of an earlier download, after a thread has checked that the file on disk is what was
    /// written.
    private func startFromDisk(_ request: URLRequest) {
        guard let resumption, resumption.isUnread(isSummed: background != nil) else { return start(request) }
        verify(resumption) { [self] in start(request) }
    }

    final func start(_ request: URLRequest) {
        self.request = request
        if let refusal = request.fieldRefusal { return end(.badURL, request.url, refusal) }
        // The load was made with the task's own request.
        if given == nil, isUnsent { load.begin() } else { load.start(sendable(request)) }
        isUnsent = false
    }

    /// Begins the task anew, after its network has failed it. Keeps the bytes that have come if the server can be asked
    /// for the rest.
    final func beginAnew(after pause: Duration) {
        guard let first = given ?? spec.request else { return }
        note(.sendsAgain)
        let offer = offerAnew(delivery.takeFile())
        (request, response, resumed) = (first, nil, nil)
        load.startAnew(sendable(first), resuming: offer)
        task.snapshot.withLock { ($0.response, $0.currentRequest) = (nil, first) }
        load.start(after: pause) { [self] in startFromDisk(first) }
    }

    // MARK: Telling and asking

    final func tell(_ event: TaskEvent) {
        if !delivery.tell(event) { waitForUser() }
    }

    /// Notes what a log says of the event.
    private func note(_ event: TaskEvent) { observation?.note(event.line) }

    final func later(_ call: @escaping @Sendable () -> Void) { delivery.later(call) }

    final func waitForUser() {
        load.fallBehind()
        delivery.whenTaken(onRoom())
    }

    /// Returns what is called when the delegate queue or the channel has room again.
    private func onRoom() -> @Sendable () -> Void {
        let home = LoopBound(load, on: engine.loop)
        return { home.loop.post { home.value.catchUp() } }
    }

    /// Asks the delegate. If there is none to ask, `otherwise` is the answer, at once.
    ///
    /// - Parameters:
    ///   - interest: a delegate without it is not asked; nil: no delegate is asked.
    ///   - question: makes the question. If that is released without an answer, the task fails.
    ///   - act: runs on the loop, with what was held back meanwhile.
    final func ask<Value: Sendable>(
        _ interest: TaskInterests?,
        otherwise: Value,
        _ question: (Answer<Value>) -> TaskQuestion,
        _ act: @escaping (Value, Held) -> Void
    ) {
        guard let interest, delivery.hasListener(for: interest) else { return load.pause { act(otherwise, $0) } }
        load.ask(within: Duration.limitNanoseconds(delivery.isReported ? idleLimit : 0)) {
            delivery.put(question($0), $0)
        } _: { [self] answer, held in
            if let answer { return act(answer, held) }
            end(.unknown, url, "the delegate released its completion handler without calling it")
        } late: { [self] in
            end(.timedOut, url, "a hook has not answered within the request's limit")
        }
    }

    // MARK: The end

    final var cancellation: URLError { URLError(.cancelled, url, "the task was cancelled") }

    final func end(_ code: URLError.Code, _ url: URL?, _ reason: String) {
        end(URLError(code, url, reason))
    }

    final func end(_ error: (any Error)?) { end(error, nil) }

    final func end(handingOver streams: CapturedStreams) { end(nil, streams) }

    /// Ends the task: nothing of it continues after this. Only the first call has an effect.
    ///
    /// - Parameter streams: the connection, if the program has taken it over.
    private func end(_ error: (any Error)?, _ streams: CapturedStreams?) {
        let load = load
        guard load.stop() else { return }
        if let resourceTimer { engine.loop.cancel(resourceTimer) }
        resourceTimer = nil
        engine.remove(self)
        let response = response ?? shownHead
        let error = error.map(asCancelled)
        observation?.end((response as? HTTPURLResponse)?.statusCode, error)
        let hasMetrics = spec.request != nil && delivery.wantsMetrics
        let metrics = hasMetrics ? record.metrics(redirects: load.redirects) : nil
        let ending = delivery.end(error.map(withResumeData), response, metrics, streams)
        load.noteEnd()
        if let background { return background.finish(ending, by: delivery.callbacks) }
        // The end of a session's only load is not reported in a batch with others.
        ending.tell(by: delivery.callbacks, together: engine.hasSeveralLoads ? engine.batch : nil)
    }

    /// Returns the error of a handshake as a cancellation if the task's delegate has cancelled the challenge.
    private func asCancelled(_ error: any Error) -> any Error {
        guard let refusal = error as? URLError, refusal.isOfRefusedHandshake,
            let peer = task.snapshot.withLock({ $0.cancelledPeer })
        else { return error }
        let reason = "the delegate cancelled the challenge of \(peer)"
        var cancellation = URLError(.cancelled, url, reason)
        cancellation.cause = refusal.cause
        return cancellation
    }

    /// Stores the answer if the cache and the delegate take it, and ends the task.
    private func conclude() {
        do throws(URLError) { try delivery.checkFile() } catch { return end(error) }
        guard let cache = settings.cache, let (entry, content) = delivery.takeEntry(),
            let (cached, key) = cached(entry, content)
        else { return end(nil) }
        let dataTask = task as? URLSessionDataTask
        guard let dataTask, delivery.isAskedAboutCaching else {
            cache.keep(cached, for: key, by: dataTask)
            return end(nil)
        }
        ask(.caching, otherwise: cached) {
            .caching(cached, $0)
        } _: { [self] answer, _ in
            if let answer { cache.keep(cached.record.map(answer.with) ?? answer, for: key, by: dataTask) }
            end(nil)
        }
    }

    /// Returns the complete answer as the cache stores it, and its key; nil for an answer without either.
    private func cached(_ entry: CacheEntry, _ data: Data) -> (CachedURLResponse, CacheKey)? {
        if let policy = entry.ofClass {
            guard let response, let key = CacheKey(request) else { return nil }
            let made = CachedURLResponse(response: response, data: data, storagePolicy: policy)
            let fields = settings.client.fields(with: request.values.fields, hasLeftOrigin: load.hasLeftOrigin)
            return (made.answered(fields, at: Date(), settings.client.vary), key)
        }
        guard let sent = load.sentFacts, let response = response as? HTTPURLResponse else { return nil }
        let record = settings.client.vary.record(
            of: sent.fields,
            varying: response.fields.list,
            requested: sent.requested,
            received: entry.received
        )
        return (CachedURLResponse(response, data: data, entry.storage, record), sent.key)
    }
}

/// The loop holds a strong reference to a loader with a time limit, as its session's engine does. The end of the task
/// cancels its timers. A weak reference would cost 0.4 µs for each request.
extension TaskLoader: TimerHandler {
    final func timerFired(_ id: TimerID) {
        resourceTimer = nil
        end(URLError(.timedOut, url, EngineError.timedOut(.total)))
    }
}

/// What a load asks and tells the task.
extension TaskLoader: LoadOwner {
    final func hear(_ event: LoadEvent) {
        switch event {
        case .begins(let sent, let length):
            head = nil
            listener = task.snapshot.withLock { snapshot in
                (snapshot.counts.sent, snapshot.counts.expectedToSend) = (sent, length)
                return snapshot.listener
            }
        case .sent(let news, let total): delivery.tellSent(news, task.count { $0.sent = total })
        case .changes(let next):
            request = shown(next)
            guard let upload = load.upload else { return }
            if upload.machine.isCreating { creation = request }
            task.currentRequest = request
        case .keptUpload: if let data = uploadData { background?.note(task, upload: data) }
        case .informed(let response): if !delivery.tellInformational({ made(response) }) { waitForUser() }
        case .waits(let isFirst):
            // A background session does not tell it, as on Apple's platforms.
            if isFirst, background == nil { tell(.waitsForConnectivity) }
            note(.waitsForConnectivity)
        case .sendsAgain: note(.sendsAgain)
        case .partIsUseless: removePart()
        case .accepted(let credentials, let space):
            guard let credential = credentials.kept as? URLCredential else { return }
            engine.store(credential, for: space, task, isStored: credentials.isStored)
        }
    }

    final func exchanged(_ report: ExchangeReport) {
        record.note(request, report, shownHead ?? response)
        observation?.note(report)
    }

    // MARK: The request

    final func getContent(from offset: Int64?) {
        do throws(URLError) {
            if let offset {
                guard case .stream = spec.content else {
                    content = try UploadContent(spec.content, request).dropping(offset)
                    return sendContent()
                }
                content = .none
                return askForStream(from: offset)
            }
            // The stream is unread if a proxy has asked for credentials first, or if the server has refused before the
            // content was sent.
            if case .stream(let stream, _) = content, stream.isUnread(for: request) { return sendContent() }
            content = try UploadContent(spec.content, request)
            switch (spec.content, content) {
            case (.stream, .none): return askForStream(from: nil)
            case (_, .stream) where hasReadContent: return askForStream(from: nil)
            case (_, .body(let body)) where hasReadContent && !body.isReplayable:
                throw URLError(.requestBodyStreamExhausted, request.url, ContentUsedUp())
            case (_, .stream), (_, .body): hasReadContent = true
            case (_, .none), (_, .data): break
            }
            sendContent()
        } catch {
            awaitDescriptor(after: error) { [self] in start(request) }
        }
    }

    private func sendContent() {
        let isStream = if case .stream = content { true } else { false }
        load.take(content.body, length: content.length, isStream: isStream)
    }

    final func dropContent() { content = .none }

    final func part(at offset: UInt64) -> BodyPart { content.part(at: offset) }

    final var contentOctets: [UInt8]? { content.octets }

    /// Asks the delegate for a stream: the request's stream was read already, or there never was one.
    final func askForStream(from offset: Int64?) {
        ask(.bodyStream, otherwise: HandedStream(stream: nil)) {
            .bodyStream(from: offset, $0)
        } _: { [self] answer, _ in
            load.start()
            guard let stream = answer.stream else {
                let reason = "the request's content is needed, and no stream was given to read it from"
                return end(.requestBodyStreamExhausted, request.url, reason)
            }
            // A `URLProtocol` class finds the stream in the request.
            request.httpBodyStream = stream
            content = .stream(stream, for: request)
            hasReadContent = true
            sendContent()
        }
    }

    final var addedFields: [(name: String, value: [UInt8])] {
        observation?.fields.map { (name: $0.name, value: Array($0.value.utf8)) } ?? []
    }

    final func priority(to origin: Origin) -> UInt8 {
        task.snapshot.withLock { snapshot in
            snapshot.origin = origin
            // The engine counts from 0 to 255: 0.5, the default, is its usual priority.
            return UInt8(clamping: Int(snapshot.priority * 256))
        }
    }

    final var isWanted: @Sendable () -> Bool {
        let task = task
        return { task.state == .running || task.state == .suspended }
    }

    final var answerer: ClientSecurity.Owner? { listener.flatMap { session.owner($0) } }

    final func expectQuestions() { engine.ask(session) }

    final func storedIdentity(for origin: Origin) -> [UInt8]? { ConnectionQuestion.storedDigest(for: origin, session) }

    // MARK: The answer

    final var isStorable: Bool { delivery.isStorable }

    final var decidesOnStoring: Bool { delivery.isAskedAboutCaching }

    /// A request is not repeated if its response was already reported, or if the server has answered its content.
    final var mayRepeat: Bool {
        background?.record(of: task) != nil && !(task is URLSessionUploadTask && task.response != nil)
    }

    final func store(_ storage: CacheStorage?, received: Int64) {
        let limit = settings.cache?.contentLimit ?? 0
        delivery.store(storage.map { CacheEntry($0, received: received, limit: limit) })
    }

    final func accept(_ response: LocatedHead) {
        let shown = made(response)
        head = shown
        accept(shown)
    }

    final func receive(_ bytes: Span<UInt8>) {
        let length = Int64(bytes.count)
        let counts = task.count { $0.received += length }
        if case .stream(let stream) = delivery.sink { return stream.receive(bytes) }
        do throws(URLError) {
            guard try !delivery.receive(bytes, counts) else { return }
            if case .bytes = delivery.sink { load.fallBehind() } else { waitForUser() }
        } catch {
            end(error)
        }
    }

    final func finished() { load.finished() }

    /// Handles the end of an answer while no question is open. The task ends now, unless a stream task still reads the
    /// answer.
    final func complete() {
        if case .stream(let stream) = delivery.sink {
            load.load(from: .other(stream))
            return stream.answerEnded()
        }
        delivery.tellGathered()
        conclude()
    }

    final func serve(_ answer: StoredAnswer, age: Int64) {
        guard let found = CachedURLResponse(answer) else { return end(nil) }
        let response = found.served(age: age)
        record.note(request, stored: response, found.data.count)
        load(LocalLoad(response, found.data, on: engine.loop, self))
    }

    final func serveGatewayTimeout() {
        let response = (URL(string: load.url) ?? url).flatMap {
            HTTPURLResponse(url: $0, statusCode: 504, httpVersion: "HTTP/1.1", headerFields: nil)
        }
        if let response { load(LocalLoad(response, Data(), on: engine.loop, self)) }
    }

    final func endUntaken() { end(nil) }

    final func end(_ error: LoadError) { end(URLError(error, url)) }

    // MARK: Requests and responses in both forms

    /// The request as its load sends it, under the task's terms. They stay the task's when it continues with another
    /// request.
    final func sendable(_ request: URLRequest) -> Request {
        request.sendable(settings, spec.request?.values.terms.first?.sendable)
    }

    /// The request as the program sees it. Only a load's own requests differ from ``request``: those of an upload that
    /// resumes, and those to the place of a WebSocket's handshake.
    private func shown(_ sent: Request) -> URLRequest {
        guard spec.request != nil else { return request }
        for known in [request, creation, given ?? spec.request] {
            guard let known, known.url?.absoluteString == sent.url, known.values.httpMethod == sent.method else {
                continue
            }
            if load.upload == nil || known.values.fields ?? HTTPFields() == sent.fields ?? HTTPFields() { return known }
        }
        var other = URLRequest(storage: RequestStorage((creation ?? request).values))
        other.url = URL(string: sent.url)
        guard load.upload != nil else { return other }
        other.httpMethod = sent.method
        other.values.body = .none
        other.cachePolicy = .reloadIgnoringLocalCacheData
        other.values.replaceFields(sent.fields)
        return other
    }

    private func made(_ response: LocatedHead) -> HTTPURLResponse {
        let known = request.url
        let url = known?.absoluteString == response.url ? known : URL(string: response.url)
        return HTTPURLResponse(response, url ?? known ?? URLRequest.nowhere)
    }

    /// The last head from the network; nil for an answer of another source.
    private var shownHead: HTTPURLResponse? {
        guard let response = load.response else { return nil }
        if let head { return head }
        let shown = made(response)
        head = shown
        return shown
    }
}

/// The stores that may answer later. The program may declare their classes. The load waits meanwhile.
extension TaskLoader {
    final func getCookies(_ next: @escaping ([UInt8]?) -> Void) {
        guard let storage = settings.cookieSubclass else { return next(nil) }
        let task = task
        load.ask { (answer: Answer<[HTTPCookie]>) in
            storage.get(for: task, answer.give)
        } _: { [load] cookies, _ in
            load.start()
            next(CookieJar.octets((cookies ?? []).lazy.map(\.cookie)))
        }
    }

    final func giveCookies(
        of response: LocatedHead,
        from scope: CookieScope,
        to request: Request,
        _ next: @escaping () -> Void
    ) {
        let cookies = settings.cookies(of: response, from: scope, to: request)
        guard let storage = settings.cookieSubclass, !cookies.isEmpty else { return next() }
        let task = task
        load.wait(next) { answer in
            storage.store(cookies, for: task) { answer.give(()) }
        }
    }

    final var cookieKeeper: ((LocatedHead, CookieScope, Request) -> Void)? {
        guard let storage = settings.cookieSubclass else { return nil }
        return { [settings, task] response, scope, request in
            let cookies = settings.cookies(of: response, from: scope, to: request)
            if !cookies.isEmpty { storage.store(cookies, for: task) {} }
        }
    }

    final func find(_ next: @escaping (StoredAnswer?) -> Void) {
        guard let cache = settings.cache, spec.resumption == nil else { return next(nil) }
        let asked = request
        switch cache.find(asked) {
        case .nothing: next(nil)
        case .answer(let found): next(found.answer)
        // Without a thread to read on, the request goes to the network.
        case .unread(let key):
            guard cache.isSubclass, let dataTask = task as? URLSessionDataTask else {
                return load.offLoop {
                    cache.load(key, asked)
                } _: {
                    next(($0 ?? nil)?.answer)
                }
            }
            load.ask { (answer: Answer<CachedURLResponse?>) in
                cache.load(for: dataTask) { answer.give($0) }
            } _: { [load] found, _ in
                load.start()
                next((found ?? nil)?.answer)
            }
        }
    }

    final func read(_ comparison: @escaping @Sendable () -> Void, _ next: @escaping () -> Void) {
        load.wait(next) { answer in
            // Without a thread to read on, what is stored stays as it is.
            try? BlockingPool.shared.run(on: engine.loop, comparison) { answer.give(()) }
        }
    }
}

extension URLRequest {
    /// The request as a load of the session sends it.
    fileprivate func sendable(_ settings: SessionSettings, _ terms: RequestTerms?) -> Request {
        // Of a temporary reference, all values would be copied first.
        let storage = storage
        let policy = storage.values.cachePolicy
        var request = storage.values.sent
        request.cacheMode = CacheMode(policy == .useProtocolCachePolicy ? settings.cachePolicy : policy)
        request.idleLimit = Duration.limit(storage.values.explicitTimeout ?? settings.requestTimeout)
        request.terms = terms
        return request
    }
}

extension SessionSettings {
    /// Returns the answer's cookies that its server may set and the session takes, for a storage of the program's.
    fileprivate func cookies(of response: LocatedHead, from scope: CookieScope, to request: Request) -> [HTTPCookie] {
        guard request.handlesCookies, response.fields.contains(.setCookie) else { return [] }
        let cookies = CookieStore.cookies(in: response.fields.octets(of: "Set-Cookie"), from: scope)
        return CookieStore.admitted(cookies, from: scope, document: request.document, by: [cookiePolicy])
            .map { HTTPCookie($0, created: CookieStore.now) }
    }
}

/// The questions about a request: whether to follow a redirect, and for credentials.
extension TaskLoader {
    final func ask(_ redirect: Redirect, _ response: LocatedHead) {
        guard let next = request.following(redirect) else { return load.decline(response, nil) }
        let shown = made(response)
        head = shown
        askToFollow(next, shown) { [load] in load.decline(response, $0) }
    }

    /// Asks whether to follow the redirect to `next`. It is followed if there is no delegate to ask. A background
    /// session does not ask its delegate, as on Apple's platforms: the next process may have none. It asks Uncurl's
    /// hooks.
    private func askToFollow(_ next: URLRequest, _ response: HTTPURLResponse, _ decline: @escaping (Held) -> Void) {
        let isAsked = background == nil || delivery.isReported
        ask(isAsked ? .redirect : nil, otherwise: next) {
            .redirect(response, next, $0)
        } _: { [self] answer, held in
            if let answer { follow(answer, response, held) } else { decline(held) }
        }
    }

    private func follow(_ next: URLRequest, _ response: URLResponse, _ held: Held) {
        if let refusal = next.fieldRefusal { return end(.badURL, next.url, refusal) }
        var bringsContent = false
        if case .request = spec.content { if case .none = next.values.body {} else { bringsContent = true } }
        load.follow(sendable(next), bringsContent: bringsContent, held) {
            request = next
            task.currentRequest = next
            note(.redirected((response as? HTTPURLResponse)?.statusCode, to: next.url))
            self.response = nil
        }
    }

    /// Asks for credentials, and proposes the user and password in the URL, or else the stored ones; after a first
    /// failure none.
    final func ask(_ question: ChallengeQuestion, failures: Int, _ response: LocatedHead?) {
        var values = ProtectionSpaceValues(question.space)
        values.isProxyEncrypted = values.isProxy && load.isProxyEncrypted
        let space = URLProtectionSpace(values)
        guard failures == 0 else { return askForCredentials(question, space, proposing: nil, failures, response) }
        let named = load.namedCredentials(for: question.space).map {
            URLCredential(user: $0.user, password: $0.password, persistence: .none)
        }
        guard named == nil, let storage = settings.credentialSubclass else {
            let proposed = named ?? settings.credentials?.defaultCredential(for: space)
            return askForCredentials(question, space, proposing: proposed, failures, response)
        }
        let task = task
        load.ask { (answer: Answer<URLCredential?>) in
            storage.getDefault(for: space, task) { answer.give($0) }
        } _: { [self] stored, _ in
            askForCredentials(question, space, proposing: stored ?? nil, failures, response)
        }
    }

    private func askForCredentials(
        _ question: ChallengeQuestion,
        _ space: URLProtectionSpace,
        proposing proposed: URLCredential?,
        _ failures: Int,
        _ response: LocatedHead?
    ) {
        let shown = response.map { made($0) }
        if let shown { head = shown }
        func put(_ answer: Answer<ChallengeSender.Reply>) -> TaskQuestion {
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space,
                proposedCredential: proposed,
                previousFailureCount: failures,
                failureResponse: shown,
                error: nil,
                sender: ChallengeSender { answer.give($0) }
            )
            return .challenge(challenge, answer)
        }
        ask(.challenge, otherwise: (.performDefaultHandling, nil), put) { [self] answer, held in
            guard answer.disposition != .cancelAuthenticationChallenge else { return cancel(.atOnce) }
            let (reply, credential) = question.reply(answer, proposing: proposed)
            var offered: OfferedCredentials?
            if let credential {
                let isStored = credential == proposed
                offered = (isAlone: credential.persistence == .none, isStored: isStored, kept: credential)
            }
            load.reply(reply, with: offered, to: question, response, held)
        }
    }
}

extension ChallengeQuestion {
    /// Returns the delegate's answer as the rules know it, and the credential in it.
    fileprivate func reply(
        _ answer: ChallengeSender.Reply,
        proposing proposed: URLCredential?
    ) -> (ChallengeReply, URLCredential?) {
        switch answer.disposition {
        case .useCredential:
            guard let credential = answer.credential else { return (.none, nil) }
            return (words(of: credential).map { .credentials($0) } ?? .next, credential)
        case .performDefaultHandling:
            guard isAnswerable, let proposed, let words = words(of: proposed) else { return (.next, nil) }
            return (.credentials(words), proposed)
        case .rejectProtectionSpace: return (.next, nil)
        case .cancelAuthenticationChallenge: return (.none, nil)
        }
    }

    /// Returns the user name and password in the form in which they are sent: in NFC if the challenge names UTF-8.
    private func words(of credential: URLCredential) -> Credentials? {
        guard let words = credential.value.words, challenge.isUTF8 else { return credential.value.words }
        return Credentials(
            user: words.user.precomposedStringWithCanonicalMapping,
            password: words.password.precomposedStringWithCanonicalMapping
        )
    }
}

/// The delegate's decision about what the task becomes.
extension TaskLoader {
    private func askForDisposition(_ response: URLResponse) {
        guard let dataTask = task as? URLSessionDataTask else { return askToDownload(response) }
        ask(.response, otherwise: .allow) {
            .response(response, $0)
        } _: { [self] disposition, held in
            switch disposition {
            case .allow: load.goOn(held)
            case .cancel: cancel(.atOnce)
            // The record of a background session's upload cannot become one of a download.
            case .becomeDownload: if background == nil { becomeDownload(dataTask, held) } else { load.goOn(held) }
            case .becomeStream: becomeStream(dataTask, held)
            }
        }
    }

    /// Asks whether to continue a download: its delegate accepts or cancels it.
    private func askToDownload(_ response: URLResponse) {
        ask(.response, otherwise: true) {
            .download(response, $0)
        } _: { [self] isTaken, held in
            if isTaken { load.goOn(held) } else { cancel(.atOnce) }
        }
    }

    private func becomeDownload(_ dataTask: URLSessionDataTask, _ held: Held) {
        let download = URLSessionDownloadTask(taking: dataTask, spec)
        becomeTask(download, dataTask, .becameDownload(download))
        load.resume(held) { beginFile() }
    }

    private func beginFile() {
        do throws(URLError) {
            try delivery.beginFile(makeFile(for:))
        } catch {
            awaitDescriptor(after: error) { [self] in beginFile() }
        }
    }

    private func becomeStream(_ dataTask: URLSessionDataTask, _ held: Held) {
        let streamTask = URLSessionStreamTask(taking: dataTask, spec)
        streamTask.channel.adopt(queue: session.delegateQueue)
        becomeTask(streamTask, dataTask, .becameStream(streamTask))
        delivery.store(nil)
        if case .source(.other(let stream as StreamLoad)) = held {
            load.load(from: .other(stream))
            stream.begin(streamTask.channel)
            return load.goOn(held)
        }
        let stream = StreamLoad(self, engine, of: streamTask.channel)
        delivery.deliver(to: .stream(stream))
        stream.begin()
        load.goOn(held)
    }

    /// Replaces the data task by another task of the same loader.
    private func becomeTask(_ other: URLSessionTask, _ old: URLSessionDataTask, _ event: TaskEvent) {
        session.replace(old, by: other)
        engine.remove(self)
        old.stage = .passed(to: other)
        delivery.replaceTask(by: other, event)
        engine.add(self)
    }
}

/// Receives what the connection of a stream task reports.
extension TaskLoader: LoadDelegate {
    final var callbacks: CallbackQueue { delivery.callbacks }

    final func fallBehind() { load.fallBehind() }

    final func catchUp() { load.catchUp() }
}

/// The sources of an answer other than the network.
extension TaskLoader {
    /// Lets a class of the program's load the request, if there is one to ask.
    final func takeOver() -> Bool {
        let source = ProtocolLoad.make(
            for: self,
            request,
            content,
            spec.content,
            engine,
            hasLeftOrigin: load.hasLeftOrigin,
            looksIntoCache: { load.cacheMode.looksIntoCache }
        )
        guard let source else { return false }
        load.load(from: .other(source))
        source.begin()
        return true
    }

    /// Loads a `data:` or `file:` URL.
    final func loadLocally() {
        do throws(URLError) {
            load(LocalLoad(try localURL(), on: engine.loop, self))
        } catch {
            end(error)
        }
    }

    private func localURL() throws(URLError) -> URL {
        guard let url = request.url else {
            throw URLError(.unsupportedURL, nil, "the request has no URL")
        }
        switch url.scheme?.lowercased() {
        case "data": break
        case "file":
            // RFC 8089 §2: another host's files are not reached by reading a path of this one.
            guard ["", "localhost"].contains(url.host?.lowercased() ?? "") else {
                let reason = "the file is on another host: “\(url.host ?? "")”"
                throw URLError(.unsupportedURL, url, reason)
            }
            guard ["GET", "HEAD"].contains(request.values.httpMethod) else {
                let reason = "a file is read with GET: \(request.values.httpMethod) has no meaning for it"
                throw URLError(.unsupportedURL, url, reason)
            }
        case let scheme?:
            throw URLError(.unsupportedURL, url, "no URLs of the scheme “\(scheme)” are loaded")
        case nil: throw URLError(.unsupportedURL, url, "the URL has no scheme")
        }
        if let other = url.withLowercaseScheme, other != url { request.url = other }
        return request.url ?? url
    }

    private func load(_ local: LocalLoad) {
        load.load(from: .other(local))
        local.begin()
    }

    final func received(_ response: URLResponse) { accept(response) }

    final func received(_ response: URLResponse, _ policy: URLCache.StoragePolicy) {
        delivery.store(CacheEntry(ofClass: policy, delivery.isStorable ? settings.cache : nil))
        accept(response)
    }

    final func loadItself(_ source: any AnswerSource) {
        guard load.isCurrent(source) else { return }
        source.stop()
        load.start()
        // The task may have been suspended while the classes were asked.
        load.whenRunning { [load] in load.loadItself() }
    }

    final func classFinished(_ source: any AnswerSource) {
        guard load.isCurrent(source) else { return }
        guard response != nil else {
            return end(.badServerResponse, request.url, "the protocol class finished without a response")
        }
        finished()
        source.stop()
    }

    final func classRedirected(to next: URLRequest, _ response: URLResponse, _ source: any AnswerSource) {
        guard load.isCurrent(source) else { return }
        // The answer, unless the redirect is followed.
        self.response = response
        // The class has used the stream up if it has opened it.
        if case .stream(let stream, _) = content, stream.isOpen {
            content = .none
            load.dropContent()
        }
        guard load.mayRedirect else { return load.refuseRedirect() }
        // A delegate's method needs an HTTP response, so it is not asked. The limit above ends a circle of redirects.
        guard let http = response as? HTTPURLResponse else { return follow(next, response, .source(.other(source))) }
        askToFollow(next, http) { [self] held in
            load.decline()
            load.resume(held) { accept(http) }
        }
    }

    final func classChallenged(
        _ challenge: URLAuthenticationChallenge,
        _ source: any AnswerSource,
        _ pass: @escaping (ChallengeSender.Reply) -> Void
    ) {
        guard load.isCurrent(source), challenge.sender != nil else { return }
        ask(.challenge, otherwise: (.performDefaultHandling, nil)) {
            .challenge(challenge, $0)
        } _: { [self] answer, held in
            load.goOn(held)
            pass(answer)
            if answer.disposition == .cancelAuthenticationChallenge { cancel(.atOnce) }
        }
    }
}
