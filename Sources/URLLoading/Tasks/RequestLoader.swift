internal import Foundation
internal import Synchronization
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// Loads the answer to a task's request: over redirects and challenges, from the cache, from this machine or over the
/// network. Loop-confined.
///
/// It decides nothing itself: the ``Attempt``'s machine says what becomes of an answer, and ``perform(_:_:_:)`` does
/// that.
class RequestLoader: TaskLoader {
    final var attempt: Attempt
    private var record: Record
    /// The request that the delegate of a delayed task has given instead of the task's own.
    private var given: URLRequest?

    init(
        _ request: URLRequest,
        _ task: URLSessionTask,
        _ session: URLSession,
        _ spec: TaskSpec,
        _ engine: SessionEngine
    ) {
        attempt = Attempt(request, engine.settings.answerRules, resuming: spec.resumption?.askable)
        record = Record(engine.loop.now)
        super.init(task, session, spec, engine)
        attempt.prepareUpload(task, spec, engine)
    }

    // MARK: For the task

    override final var request: URLRequest? { attempt.request }

    override final var response: URLResponse? { attempt.response }

    override final var metrics: URLSessionTaskMetrics? {
        delivery.wantsMetrics ? record.metrics(redirects: attempt.machine.redirects) : nil
    }

    override final func makeFile(for task: URLSessionTask) throws(URLError) -> DownloadFile {
        if let resumed = attempt.resumed { return resumed }
        return try attempt.makeFile(for: task, engine)
    }

    override final func withResumeData(_ failure: any Error) -> any Error {
        attempt.withResumeData(failure, delivery.sink, background)
    }

    override func cancel(_ way: TaskCancellation) {
        guard case .producingResumeData = way else { return super.cancel(way) }
        let kept = attempt.resumeData(for: delivery.sink, background)
        if let handler = task.snapshot.withLock({ $0.resumeDataHandler.take() }) { later { handler(kept?.data) } }
        end(kept.map { cancellation.with($0.data, for: $0.key) } ?? cancellation)
    }

    /// Stores the answer if the cache and the delegate take it, and ends the task.
    override final func conclude() {
        do throws(URLError) { try delivery.checkFile() } catch { return end(error) }
        guard let cache = settings.cache, let (entry, content) = delivery.takeEntry(),
            let (cached, key) = attempt.cached(entry, content, engine)
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

    private func note(_ event: TaskEvent) { observation?.note(event.line) }

    final func note(_ report: ExchangeReport) {
        record.note(attempt.request, report, attempt.response)
        observation?.note(report)
    }

    // MARK: The beginning

    override final func load() {
        guard let date = task.beginDate else { return startFromDisk(attempt.request) }
        let delay = TimeLimit.duration(min(date.timeIntervalSinceNow, TimeLimit.longest)) ?? .zero
        start(after: delay) { [self] in askWhetherToBegin(attempt.request) }
    }

    /// Begins with another request than the task's own. New tries begin with it too.
    final func begin(with request: URLRequest) {
        given = request
        task.currentRequest = request
        attempt.upload?.begin(with: request)
        startFromDisk(request)
    }

    /// Begins with the part of an earlier download, after a thread has checked that the file on disk is what was
    /// written.
    final func startFromDisk(_ request: URLRequest) {
        guard let resumption = attempt.resumption, resumption.isUnread(isSummed: background != nil) else {
            return start(request)
        }
        verify(resumption) { [self] in start(request) }
    }

    /// Looks whether the part of an earlier download is what was written, and then runs `next`. If it cannot be read
    /// now, the task fails, and the part stays.
    private func verify(_ resumption: ResumeData, _ next: @escaping () -> Void) {
        offLoop {
            Result { () throws(Errno) in try resumption.verified() }
        } _: { [self] result in
            switch result {
            case .success(let read):
                attempt.resume(from: read)
                next()
            case .failure(let error):
                let failure = ResumeData.unreadable(error, attempt.request.url)
                awaitDescriptor(after: failure) { [self] in verify(resumption, next) }
            case nil: end(.cannotOpenFile, attempt.request.url, "no thread can read the file of the download to resume")
            }
        }
    }

    /// Begins the first request of the task, or continues with another one: makes its content, and transacts.
    final func start(_ request: URLRequest) {
        attempt.replaceRequest(by: request, isKept: background != nil && task is URLSessionDownloadTask)
        // The requests of a resumable upload differ in their URLs, by which a storage of the program's finds cookies.
        if attempt.upload != nil { task.currentRequest = attempt.request }
        do throws(URLError) {
            if let refusal = request.fieldRefusal {
                throw ErrorTranslation.urlError(.badURL, attempt.request.url, refusal)
            }
            switch try attempt.loadContent(spec.content) {
            case .ready: transact()
            case .asksForStream: askForStream()
            case .usedUp:
                throw ErrorTranslation.urlError(.requestBodyStreamExhausted, attempt.request.url, ContentUsedUp())
            }
        } catch {
            awaitDescriptor(after: error) { [self] in start(request) }
        }
    }

    // MARK: A transaction

    final func transact() {
        guard !course.isSuspended else {
            start()
            return whenRunning { [self] in transact() }
        }
        let length = attempt.beginSending()
        let sent = attempt.sent
        attempt.listener = task.snapshot.withLock { snapshot in
            (snapshot.counts.sent, snapshot.counts.expectedToSend) = (sent, length)
            return snapshot.listener
        }
        guard attempt.upload?.machine.isCreating != false else { return loadItself() }
        let load = ProtocolLoad.make(
            for: self,
            attempt.request,
            attempt.content,
            spec.content,
            engine,
            hasLeftOrigin: attempt.hasLeftOrigin,
            looksIntoCache: { attempt.cacheMode(settings).looksIntoCache }
        )
        guard let load else { return loadItself() }
        self.load(from: .classLoad(load))
        load.begin()
    }

    /// Loads the request without a `URLProtocol` class: from this machine, from the cache, or over the network.
    func loadItself() {
        delivery.store(nil)
        do throws(URLError) {
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
        guard let step = attempt.begin(with: found, url, spec, session, engine) else { return exchange(url) }
        perform(step, nil, .nothing)
    }

    /// - Parameter conditions: fields that make the request conditional, for the cache.
    final func exchange(_ url: URL, _ conditions: [(name: String, value: [UInt8])] = []) {
        guard let digest = FileDigest(of: attempt.content, for: attempt.machine) else { return send(url, conditions) }
        let task = task
        offLoop {
            digest.compute { task.state == .running || task.state == .suspended }
        } _: { [self] hash in
            attempt.machine.take(contentHash: hash ?? nil)
            send(url, conditions)
        }
    }

    private func send(_ url: URL, _ conditions: [(name: String, value: [UInt8])]) {
        do throws(URLError) {
            let observed = observation?.fields.map { (name: $0.name, value: Array($0.value.utf8)) }
            let fields = observed.map { conditions + $0 } ?? conditions
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
    final func perform(_ step: Step, _ response: HTTPURLResponse?, _ held: Held?) {
        switch step {
        case .askForCredentials(let question, let failures): askForCredentials(question, failures, response)
        case .proposeRedirect(let redirect):
            guard let response else { return }
            guard let next = attempt.request.following(redirect) else {
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
            // A background session does not tell it, as on Apple's platforms.
            if isFirst, background == nil { tell(.waitsForConnectivity) }
            note(.waitsForConnectivity)
            // Nothing of the content has been read, so a stream can be used again.
            start(after: pause) { [self] in
                // The proxies may be reached again, too.
                attempt.proxyFailures = 0
                transact()
            }
        case .beginAnew(let pause): beginAnew(after: pause)
        case .requestWhole:
            attempt.removePart()
            drop(course.held)
            attempt.response = nil
            start(attempt.request)
        case .send(let fields): if let url = attempt.request.url { exchange(url, fields) }
        case .serveStored(let age, let refresh): serveStored(age, refresh, held)
        case .serveUpdated(let fresh): leave(held) { [self] in serve(updated: fresh) }
        case .discardStored: leave(held) { [self] in discardStored() }
        case .answerGatewayTimeout:
            let response = transactionURL.flatMap {
                HTTPURLResponse(url: $0, statusCode: 504, httpVersion: "HTTP/1.1", headerFields: nil)
            }
            if let response { load(LocalLoad(response, Data(), on: engine.loop, self)) }
        case .sendAgain:
            note(.sendsAgain)
            leave(held) { [self] in start(attempt.request) }
        }
    }

    /// Reads or drops the rest of an answer that is not delivered. Then runs `next`, once the task is not suspended.
    final func leave(_ held: Held?, _ next: @escaping () -> Void) {
        guard let held else { return pause { [self] in leave($0, next) } }
        drain(held) { [self] in
            attempt.response = nil
            whenRunning(next)
        }
    }

    private func serveStored(_ age: Int64?, _ refresh: [(name: String, value: [UInt8])]?, _ held: Held?) {
        guard let held else { return pause { [self] in serveStored(age, refresh, $0) } }
        guard let url = transactionURL, let found = attempt.stored else { return }
        // Nothing waits for the rest of the answer: a server in trouble may never send it.
        drop(held)
        serve(found, age: age ?? found.age)
        if let refresh {
            attempt.refresh(found, url, refresh, task, spec, delivery.isAskedAboutCaching, session, engine)
        }
    }

    private func serve(updated fresh: StoredExchange) {
        guard let url = transactionURL else { return }
        guard let stored = attempt.updatedStored(fresh, engine) else { return discardStored() }
        if !attempt.isExcused(engine) { settings.cache?.keep(updated: stored, for: CacheKey(method: "GET", url: url)) }
        serve(stored, age: stored.age)
    }

    private func serve(_ found: CachedURLResponse, age: Int64) {
        let response = found.served(age: age)
        record.note(attempt.request, stored: response, found.data.count)
        load(LocalLoad(response, found.data, on: engine.loop, self))
    }

    private func discardStored() {
        guard let url = transactionURL else { return }
        settings.cache?.discard(CacheKey(method: "GET", url: url))
        exchange(url)
    }

    /// The URL of the transaction under way.
    private var transactionURL: URL? { attempt.transaction?.url ?? attempt.request.url }

    /// Tries again instead of failing, and keeps the bytes that have come if the server can be asked for the rest.
    private func beginAnew(after pause: Duration) {
        guard let request = given ?? spec.request else { return }
        note(.sendsAgain)
        attempt = attempt.anew(request, continuing: delivery.takeFile())
        task.snapshot.withLock { ($0.response, $0.currentRequest) = (nil, request) }
        start(after: pause) { [self] in startFromDisk(request) }
    }

    /// Takes the step that the machine of a resumable upload has decided.
    final func goOnUploading(_ step: UploadStep) {
        guard case .goOn(let delay) = step else {
            let reason = "the server does not say how much of the upload it has"
            return end(.badServerResponse, attempt.request.url, reason)
        }
        note(.sendsAgain)
        leave(nil) { [self] in
            start(after: delay) { [self] in
                if let next = attempt.nextUploadRequest() { start(next) }
            }
        }
    }

    // MARK: A switch of protocols

    /// Handles a switch of protocols for a task that is not a WebSocket: the 101 is the answer, and the connection
    /// belongs to the stream task that the delegate may make of it.
    func switchProtocols(to connection: UpgradedConnection) {
        guard let response = attempt.switched(attempt.request.url) else { return connection.close() }
        noteSwitch(response)
        let origin = attempt.transaction?.place.origin
        load(from: .stream(StreamLoad(self, engine, on: connection, to: origin)))
        let before = course.questions
        accept(response)
        // A delegate that is not asked cannot take the connection.
        if course.questions == before { end(nil) }
    }

    /// Keeps the cookies and credentials of a 101.
    final func noteSwitch(_ response: HTTPURLResponse) {
        attempt.noteSwitch(response, task, engine)
        guard let scope = attempt.transaction?.scope else { return }
        settings.giveCookies(of: response, from: scope, to: attempt.request, for: task)
    }
}

/// Receives what the engine reports of the exchange under way.
extension RequestLoader: ExchangeDelegate {
    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        guard let url = attempt.request.url else { return }
        guard head.status >= 200 else { return informed(head, url) }
        let response = attempt.answered(head, url, settings)
        // What the cache does with the answer depends on the user that the connection has shown.
        if settings.cache != nil, let security = engine.engine.connectionRecord(of: id)?.security {
            attempt.transaction?.identity = security.shownIdentity
        }
        guard let storage = settings.cookieSubclass else { return judge(response) }
        let cookies = attempt.cookies(of: response, settings)
        guard !cookies.isEmpty else { return judge(response) }
        attempt.response = response
        store(cookies, in: storage, for: task) { [self] in judge(response) }
    }

    private func judge(_ response: HTTPURLResponse) {
        guard let step = attempt.judge(response, caching, task, engine) else { return accept(response) }
        perform(step, response, nil)
    }

    /// What the cache makes of the answer. The answer of one of several servers says nothing about what is stored under
    /// the URL. An answer that depends on the request's content is not stored.
    private var caching: AskedRequest.Caching {
        guard settings.cache != nil, spec.request?.values.terms?.values.endpoint == nil, !attempt.isExcused(engine)
        else {
            return .none
        }
        return delivery.isStorable && !attempt.request.values.sendsContentWithGET ? .stores : .compares
    }

    private func informed(_ head: ResponseHead, _ url: URL) {
        if head.status == 101 { attempt.switching = head }
        attempt.noteResource(head, url, task, background)
        // 100 and 101 concern the connection.
        guard head.status > 101 else { return }
        if !delivery.tellInformational({ HTTPURLResponse(url: url, head: head) }) { waitForUser() }
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        switch course.phase {
        case .draining: drained(bytes.count, of: id)
        case .loading: receive(bytes)
        case .asking: keep(bytes)
        case .new, .starting, .ended: break
        }
    }

    func exchange(_ id: ExchangeID, didSend count: Int) {
        let sent = attempt.noteSent(count)
        delivery.tellSent(count, task.count { $0.sent = sent })
    }

    func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart { attempt.content.part(at: offset) }

    func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection) {
        guard case .exchange(id) = course.source else { return connection.close() }
        switchProtocols(to: connection)
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        note(report)
        if finishDraining(id) { return }
        guard course.isCurrent(id) else { return }
        switch outcome {
        case .completed: finished()
        // A question whose answer leaves this one does not matter to it. A time limit ends a question too.
        case .failed(let error):
            if case .timedOut = error { return failed(error, report) }
            if !endBehindQuestion({ [self] in failed(error, report) }) { failed(error, report) }
        }
    }

    private func failed(_ error: EngineError, _ report: ExchangeReport) {
        // A request is not repeated if its response was already reported, or if the server has answered its content.
        let mayRepeat = background?.record(of: task) != nil && !(task is URLSessionUploadTask && task.response != nil)
        let hasOwnProxies = spec.request?.values.terms?.values.proxies != nil
        if !hasOwnProxies, attempt.failOver(error, engine) {
            note(.sendsAgain)
            start()
            return transact()
        }
        // The credentials of a request's own proxy come with the request: the delegate is not asked for others.
        let proxies = hasOwnProxies ? .direct : attempt.proxies(engine)
        let step = attempt.machine.fail(AnswerFailure(error, report, attempt, proxies, mayRepeat: mayRepeat))
        if let next = attempt.uploadStep(after: error, step) {
            start()
            return goOnUploading(next)
        }
        if case .fail(.failure) = step { return end(ErrorTranslation.error(error, attempt.request.url)) }
        start()
        perform(step, nil, .nothing)
    }
}

/// The questions about a request: whether to begin and to follow, and for credentials, a stream and cookies.
extension RequestLoader {
    /// Asks the delegate for a stream: the request's stream was read already, or there never was one.
    func askForStream() {
        let (none, offset) = (HandedStream(stream: nil), attempt.streamOffset)
        ask(.bodyStream, otherwise: none) {
            .bodyStream(from: offset, $0)
        } _: { [self] answer, _ in
            start()
            guard let stream = answer.stream else {
                let reason = "the request's content is needed, and no stream was given to read it from"
                return end(.requestBodyStreamExhausted, attempt.request.url, reason)
            }
            attempt.take(stream: stream)
            transact()
        }
    }

    /// Asks whether to follow the redirect to `next`. It is followed if there is no delegate to ask. A background
    /// session does not ask its delegate, as on Apple's platforms: the next process may have none. It asks Uncurl's
    /// hooks.
    func askToFollow(_ next: URLRequest, _ response: HTTPURLResponse) {
        let isAsked = background == nil || delivery.isReported
        ask(isAsked ? .redirect : nil, otherwise: next) {
            .redirect(response, next, $0)
        } _: { [self] answer, held in
            guard let answer else { return perform(attempt.machine.decline(), response, held) }
            follow(answer, held)
        }
    }

    func follow(_ next: URLRequest, _ held: Held) {
        let step = attempt.follow(next, spec.content)
        guard case .sendAgain = step else { return perform(step, nil, held) }
        task.currentRequest = next
        note(.redirected((attempt.response as? HTTPURLResponse)?.statusCode, to: next.url))
        leave(held) { [self] in start(next) }
    }

    /// Asks for credentials, and proposes the user and password in the URL, or else the stored ones; after a first
    /// failure none.
    func askForCredentials(_ question: ChallengeQuestion, _ failures: Int, _ response: HTTPURLResponse?) {
        attempt.beginAsking(engine)
        var values = ProtectionSpaceValues(question.space)
        values.isProxyEncrypted = values.isProxy && attempt.isProxyEncrypted(engine)
        let space = URLProtectionSpace(values)
        var proposed: URLCredential?
        if failures == 0 {
            proposed = attempt.namedCredential(for: question.space)
            if proposed == nil, let storage = settings.credentialSubclass {
                return ask(storage, for: space, task) { [self] in
                    askForCredentials(question, space, proposing: $0, failures, response)
                }
            }
            proposed = proposed ?? settings.credentials?.defaultCredential(for: space)
        }
        askForCredentials(question, space, proposing: proposed, failures, response)
    }

    private func askForCredentials(
        _ question: ChallengeQuestion,
        _ space: URLProtectionSpace,
        proposing proposed: URLCredential?,
        _ failures: Int,
        _ response: HTTPURLResponse?
    ) {
        func put(_ answer: Answer<ChallengeSender.Reply>) -> TaskQuestion {
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space,
                proposedCredential: proposed,
                previousFailureCount: failures,
                failureResponse: response,
                error: nil,
                sender: ChallengeSender { answer.give($0) }
            )
            return .challenge(challenge, answer)
        }
        ask(.challenge, otherwise: (.performDefaultHandling, nil), put) { [self] answer, held in
            guard answer.disposition != .cancelAuthenticationChallenge else { return cancel(.atOnce) }
            guard let step = attempt.reply(answer, to: question, proposing: proposed, engine) else { return }
            perform(step, response, held)
        }
    }

    func askWhetherToBegin(_ request: URLRequest) {
        ask(.delay, otherwise: (.continueLoading, nil)) {
            .begin(request, $0)
        } _: { [self] answer, _ in
            start()
            switch answer {
            case (.continueLoading, _): startFromDisk(request)
            case (.useNewRequest, let other):
                let next = other ?? request
                // The part on disk is of the first request's URL.
                if next.url != request.url { attempt.resume(from: nil) }
                begin(with: next)
            case (.cancel, _): cancel(.atOnce)
            }
        }
    }

    /// Asks the storage for the request's cookies, and then runs `next`.
    func askForCookies(_ storage: CookieStorageSubclass, _ next: @escaping () -> Void) {
        attempt.givenCookies = nil
        guard attempt.takesCookies(settings) else { return next() }
        ask(storage, for: task) { [self] cookies in
            attempt.givenCookies = CookieJar.octets(cookies.lazy.map(\.cookie))
            next()
        }
    }
}

/// Receives what a source other than the network reports.
extension RequestLoader: ProtocolLoadDelegate {
    func received(_ response: URLResponse) {
        attempt.response = response
        accept(response)
    }

    func received(_ response: URLResponse, _ policy: URLCache.StoragePolicy) {
        delivery.store(CacheEntry(ofClass: policy, delivery.isStorable ? settings.cache : nil))
        received(response)
    }

    func loadItself(_ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        load.stop()
        start()
        // The task may have been suspended while the classes were asked.
        whenRunning { [self] in loadItself() }
    }

    func classFinished(_ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        guard attempt.response != nil else {
            let reason = "the protocol class finished without a response"
            return end(.badServerResponse, attempt.request.url, reason)
        }
        finished()
        load.stop()
    }

    func classRedirected(to next: URLRequest, _ response: URLResponse, _ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        // The answer, unless the redirect is followed.
        attempt.response = response
        attempt.noteClassHasRead()
        guard attempt.machine.mayRedirect else { return perform(.fail(.tooManyRedirects), nil, nil) }
        if let http = response as? HTTPURLResponse { return askToFollow(next, http) }
        // A delegate's method needs an HTTP response, so it is not asked. The limit above ends a circle of redirects.
        follow(next, .source(.classLoad(load)))
    }

    func classChallenged(_ challenge: URLAuthenticationChallenge, _ load: ProtocolLoad) {
        guard course.isCurrent(load), challenge.sender != nil else { return }
        ask(.challenge, otherwise: (.performDefaultHandling, nil)) {
            .challenge(challenge, $0)
        } _: { [self] answer, held in
            goOn(held)
            load.onClassQueue { challenge.sender?.pass(on: answer, to: challenge) }
            if answer.disposition == .cancelAuthenticationChallenge { cancel(.atOnce) }
        }
    }
}

/// Takes the responses that the attempt's machine accepts as the answer.
extension RequestLoader {
    /// Takes the response from the network as the answer, once that to a HEAD was compared with what is stored.
    func place(_ response: HTTPURLResponse, _ placement: Step.Placement, _ storage: Step.Storage) {
        if case .compare = storage, let comparison = attempt.comparison(with: response, engine),
            !comparison.compareInMemory()
        {
            return read(comparison) { [self] in place(response, placement, .none) }
        }
        delivery.store(attempt.entry(for: response, storage, engine))
        do throws(URLError) {
            if let step = try attempt.place(response, placement, engine) { return perform(step, nil, nil) }
            accept(response)
        } catch {
            awaitDescriptor(after: error) { [self] in place(response, placement, storage) }
        }
    }
}
