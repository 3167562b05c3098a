package import UncurlEngine
package import UncurlHTTP1
internal import UncurlReactor
package import UncurlSemantics
internal import UncurlTLS
package import UncurlWebSocket

/// Loads the answer to a request: over redirects and challenges, from the store of answers, or over the network.
/// Loop-confined.
///
/// It decides nothing itself: the ``Attempt``'s machine says what becomes of an answer, and ``perform(_:_:_:)`` does
/// that. Its owner gets what it delivers, tells and asks.
package final class Load: HeldLoad {
    private var attempt: Attempt
    /// The owner holds the load.
    private unowned let owner: any LoadOwner
    /// Whether the owner has reported the end: it may be gone when the engine reports the exchange that was cancelled.
    private var isReported = false
    /// Whether the request is a WebSocket's handshake.
    private let opensSocket: Bool
    /// Whether the answer is kept for another process, which may resume it.
    private let isKept: Bool
    /// The place of the first request; nil where nothing depends on it.
    private let first: HTTPURL?

    /// - Parameters:
    ///   - offer: what an earlier load has left.
    ///   - isKept: whether the answer is kept for another process, which may resume it.
    package init(
        _ request: consuming Request,
        of owner: any LoadOwner,
        in client: Client,
        resuming offer: ResumeOffer?,
        opensSocket: Bool,
        isKept: Bool
    ) {
        (self.owner, self.opensSocket, self.isKept) = (owner, opensSocket, isKept)
        first = request.terms?.endpoint == nil ? nil : try? HTTPURL(mending: request.url)
        attempt = Attempt(request, client.settings.rules, resuming: offer)
        super.init(client)
    }

    // MARK: For the owner

    /// How far the request under way may use the store of answers.
    package var cacheMode: CacheMode { attempt.request.cacheMode }
    /// The URL of the request under way.
    package var url: String { attempt.request.url }
    /// The response that has come from the network last.
    package var response: LocatedHead? { attempt.response }
    package var redirects: Int { attempt.machine.redirects }
    package var mayRedirect: Bool { attempt.machine.mayRedirect }
    package var hasLeftOrigin: Bool { attempt.hasLeftOrigin }
    package var handshake: ClientHandshake? { attempt.handshake }
    package var origin: Origin? { attempt.transaction?.place.origin }
    package var isProxyEncrypted: Bool { attempt.isProxyEncrypted(client) }

    /// The upload, if it can be resumed.
    package var upload: ResumableUpload? {
        get { attempt.upload }
        set { attempt.upload = newValue }
    }

    /// Notes that the owner has reported the end.
    package func noteEnd() { isReported = true }

    /// Notes that the request has no content, or that its stream is used up.
    package func dropContent() { attempt.take(.none, length: 0, isStream: false) }

    /// Returns the URL's user and password, which only the origin gets. Nil without a user, and if the refused request
    /// carried them in the same way.
    package func namedCredentials(for space: ProtectionSpace) -> Credentials? { attempt.namedCredentials(for: space) }

    /// Returns what a store needs of the answer besides the answer itself: the fields that the request was sent with,
    /// for comparison; when it was sent; and the key. Nil if the answer does not come from the network.
    package var sentFacts: (fields: HTTPFields, requested: Int64, key: CacheKey)? {
        guard let transaction = attempt.transaction else { return nil }
        let key = CacheKey(method: "GET", url: transaction.url)
        return (attempt.selecting(transaction, client), transaction.sent, key)
    }

    /// Continues a download of which an earlier load has left a part; without an offer it is of no use.
    package func resume(from offer: ResumeOffer?) { attempt.machine = attempt.machine.anew(resuming: offer) }

    /// Begins anew with a new attempt: the network has failed the last one.
    package func startAnew(_ request: Request, resuming offer: ResumeOffer?) {
        attempt = Attempt(anewAfter: attempt, request, resuming: offer)
    }

    // MARK: The beginning

    /// Begins with the request that the load has.
    package func begin() {
        attempt.beginRequest(isKept: isKept)
        getContent()
    }

    /// Continues with another request.
    package func start(_ request: consuming Request) {
        attempt.replaceRequest(by: request, isKept: isKept)
        getContent()
    }

    /// Gets the content of the attempt's request, and transacts.
    private func getContent() {
        // The requests of a resumable upload differ in their URLs, by which a store finds cookies.
        if attempt.upload != nil { owner.hear(.changes(attempt.request)) }
        let isAsking = attempt.upload?.isAsking == true
        guard attempt.machine.sendsContent, !isAsking else {
            dropContent()
            owner.dropContent()
            return transact()
        }
        owner.getContent(from: attempt.upload?.rest)
    }

    /// Takes the request's content, and transacts.
    ///
    /// - Parameter isStream: whether it is a stream of the program's, for which another one can be asked.
    package func take(_ content: Content, length: Int64, isStream: Bool) {
        attempt.take(content, length: length, isStream: isStream)
        transact()
    }

    // MARK: A transaction

    private func transact() {
        guard !course.isSuspended else {
            start()
            return whenRunning { [self] in transact() }
        }
        let length = attempt.beginSending()
        owner.hear(.begins(sent: attempt.sent, of: length))
        if attempt.upload?.machine.isCreating == false || !owner.takeOver() { loadItself() }
    }

    /// Loads the request itself: from the store of answers, or over the network.
    package func loadItself() {
        owner.store(nil, received: 0)
        if opensSocket {
            do throws(LoadError) { try attempt.beginSocket(client) } catch { return owner.end(error) }
            owner.hear(.changes(attempt.request))
            return getCookies { [self] in exchange() }
        }
        guard let isChanged = attempt.request.lowercaseScheme() else { return owner.loadLocally() }
        if isChanged { owner.hear(.changes(attempt.request)) }
        getCookies { [self] in find() }
    }

    /// Gets the request's cookies from a store that answers later, and then runs `next`.
    private func getCookies(_ next: @escaping () -> Void) {
        guard client.settings.asksForCookies else { return next() }
        attempt.givenCookies = nil
        guard attempt.takesCookies(client.settings) else { return next() }
        owner.getCookies { [self] cookies in
            attempt.givenCookies = cookies
            next()
        }
    }

    private func find() {
        guard client.settings.answers != nil else { return begin(with: nil) }
        owner.find { [self] in begin(with: $0) }
    }

    private func begin(with found: StoredAnswer?) {
        guard let step = attempt.begin(with: found, owner, client) else { return exchange() }
        perform(step, nil, .nothing)
    }

    /// - Parameter conditions: fields that make the request conditional, for the store of answers.
    private func exchange(_ conditions: [(name: String, value: [UInt8])] = []) {
        guard case .file(let file) = attempt.content, let function = attempt.machine.contentDigest else {
            return send(conditions)
        }
        let isWanted = owner.isWanted
        offLoop {
            file.digest(function, while: isWanted)
        } _: { [self] hash in
            attempt.machine.take(contentHash: hash ?? nil)
            send(conditions)
        }
    }

    private func send(_ conditions: [(name: String, value: [UInt8])]) {
        // Each read of the property retains its object: one is enough.
        let owner = owner
        do throws(LoadError) {
            let request = try attempt.transact(conditions + owner.addedFields, first, owner, client)
            let priority = owner.priority(to: request.origin)
            let id = client.engine.start(request, delegate: self, priority: priority)
            // Within that call the engine may report that content in memory was sent. It reports nothing else before
            // the call returns.
            switch course.phase {
            case .new, .starting, .asking: load(from: .exchange(id))
            case .loading, .draining, .ended: client.engine.cancel(id)
            }
        } catch {
            owner.end(error)
        }
    }

    // MARK: Steps

    /// Performs the step that the attempt's machine has decided.
    ///
    /// - Parameters:
    ///   - response: the head that the step is about; nil without one.
    ///   - held: what is already held back; nil if the source delivers.
    private func perform(_ step: Step, _ response: LocatedHead?, _ held: Held?) {
        switch step {
        case .askForCredentials(let question, let failures):
            attempt.beginAsking(client)
            owner.ask(question, failures: failures, response)
        case .proposeRedirect(let redirect): if let response { owner.ask(redirect, response) }
        case .askForStream: owner.askForStream(from: attempt.upload?.rest)
        case .deliver(let placement, let storage):
            guard let response else { return }
            if let next = attempt.uploadStep(after: response) { return goOnUploading(next) }
            guard let held else { return place(response, placement, storage) }
            // It has asked for a redirect or for credentials, and is the answer all the same.
            resume(held) { owner.accept(response) }
        case .fail(let reason): owner.end(.rule(reason))
        case .waitForConnectivity(let pause, let isFirst):
            owner.hear(.waits(isFirst: isFirst))
            // Nothing of the content has been read, so a stream can be used again.
            start(after: pause) { [self] in
                // The proxies may be reached again, too.
                attempt.proxyFailures = 0
                transact()
            }
        case .beginAnew(let pause): owner.beginAnew(after: pause)
        case .requestWhole:
            owner.hear(.partIsUseless)
            drop(course.held)
            attempt.response = nil
            begin()
        case .send(let fields): exchange(fields)
        case .serveStored(let age, let refresh): serveStored(age, refresh, held)
        case .serveUpdated(let fresh): leave(held) { [self] in serve(updated: fresh) }
        case .discardStored: leave(held) { [self] in discardStored() }
        case .answerGatewayTimeout: owner.serveGatewayTimeout()
        case .sendAgain:
            owner.hear(.sendsAgain)
            leave(held) { [self] in begin() }
        }
    }

    /// Reads or drops the rest of an answer that is not delivered. Then runs `next`, once the load is not suspended.
    private func leave(_ held: Held?, _ next: @escaping () -> Void) {
        guard let held else { return pause { [self] in leave($0, next) } }
        drain(held) { [self] in
            attempt.response = nil
            whenRunning(next)
        }
    }

    private func serveStored(_ age: Int64?, _ refresh: [(name: String, value: [UInt8])]?, _ held: Held?) {
        guard let held else { return pause { [self] in serveStored(age, refresh, $0) } }
        guard let found = attempt.stored else { return }
        // Nothing waits for the rest of the answer: a server in trouble may never send it.
        drop(held)
        owner.serve(found, age: age ?? found.age)
        if let refresh { attempt.refresh(found, refresh, owner, client) }
    }

    private func serve(updated fresh: StoredExchange) {
        guard let stored = attempt.updatedStored(fresh, client) else { return discardStored() }
        if !attempt.isExcused(client) { client.settings.answers?.keep(stored, for: transactionKey) }
        owner.serve(stored, age: stored.age)
    }

    private func discardStored() {
        client.settings.answers?.discard(transactionKey)
        exchange()
    }

    /// The key of the answer to the transaction under way.
    private var transactionKey: CacheKey {
        CacheKey(method: "GET", url: attempt.transaction?.url ?? attempt.request.url)
    }

    /// Takes the step that the machine of a resumable upload has decided.
    private func goOnUploading(_ step: UploadStep) {
        guard case .goOn(let delay) = step else { return owner.end(.uploadUnknown) }
        owner.hear(.sendsAgain)
        leave(nil) { [self] in
            start(after: delay) { [self] in
                if let next = attempt.nextUploadRequest() { start(next) }
            }
        }
    }

    /// Takes the response from the network as the answer, once that to a HEAD was compared with what is stored.
    private func place(_ response: LocatedHead, _ placement: Step.Placement, _ storage: Step.Storage) {
        if case .compare = storage, let comparison = attempt.compare(response, client) {
            return owner.read(comparison) { [self] in place(response, placement, .none) }
        }
        owner.store(attempt.storage(of: response, storage, client), received: unixTime())
        switch placement {
        case .whole: owner.accept(response)
        case .wholeInsteadOfRest:
            owner.replacePart(response)
            owner.accept(response)
        case .rest(let total):
            switch owner.continuePart(of: total, { [self] in place(response, placement, storage) }) {
            case nil: break
            case true?: owner.accept(response)
            // The rest alone is of no use.
            case false?: perform(attempt.machine.restIsGone(), nil, nil)
            }
        }
    }

    // MARK: The owner's answers

    /// Declines what was asked: the response is the answer.
    package func decline(_ response: LocatedHead, _ held: Held?) { perform(attempt.machine.decline(), response, held) }

    /// Declines a redirect of another source. The owner has the response.
    package func decline() { _ = attempt.machine.decline() }

    /// Follows a redirect, by its own request or by the owner's.
    ///
    /// - Parameters:
    ///   - bringsContent: whether the owner has put content into it.
    ///   - tell: runs before the request is sent.
    package func follow(_ next: Request, bringsContent: Bool, _ held: Held, _ tell: () -> Void) {
        let step = attempt.follow(next, bringsContent: bringsContent)
        guard case .sendAgain = step else { return perform(step, nil, held) }
        tell()
        leave(held) { [self] in start(next) }
    }

    /// Fails the load, which has followed too many redirects.
    package func refuseRedirect() { perform(.fail(.tooManyRedirects), nil, nil) }

    /// Takes the answer to a challenge.
    package func reply(
        _ reply: ChallengeReply,
        with credentials: OfferedCredentials?,
        to question: ChallengeQuestion,
        _ response: LocatedHead?,
        _ held: Held
    ) {
        if let step = attempt.reply(reply, with: credentials, to: question, client) { perform(step, response, held) }
    }
}

/// How an answer is delivered, behind the questions about it.
extension Load {
    /// Takes a step, and delivers what is held back unless that step has asked a question.
    package func resume(_ held: Held, _ step: () -> Void) {
        if case .source(let source) = held { load(from: source) }
        let before = course.questions
        step()
        if course.questions == before { goOn(held) }
    }

    /// Continues after a question was answered: delivers what came meanwhile, and what follows it.
    package func goOn(_ held: Held) {
        if case .source(let source) = held { load(from: source) }
        let ahead = takeAhead()
        if !ahead.isEmpty { owner.receive(ahead.span) }
        guard !course.isEnded else { return }
        switch held {
        case .nothing: break
        case .ended(let then): then()
        case .source(.other(let source)) where source.isUntaken: owner.endUntaken()
        case .source: updateFlow()
        }
    }

    /// Notes that the whole answer is there.
    package func finished() {
        // Without a question there is nothing to keep for its answer: each request would pay an allocation.
        guard course.isAsking else { return owner.complete() }
        _ = endBehindQuestion { [owner] in owner.complete() }
    }

    /// Waits until the answer is given, and then runs `next` with the source as it was.
    package func wait(_ next: @escaping () -> Void, for put: (Answer<Void>) -> Void) {
        ask(put) { [self] _, held in
            if case .source(let source) = held { load(from: source) }
            let before = course.questions
            next()
            // `next` may have asked, or have left this answer.
            guard course.questions == before else { return }
            switch course.phase {
            case .loading(.exchange), .asking: goOn(held)
            case .new, .starting, .loading, .draining, .ended: updateFlow()
            }
        }
    }
}

/// Receives what the engine reports of the exchange under way.
extension Load: ExchangeDelegate {
    package func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        guard head.status >= 200 else { return informed(head) }
        let response = attempt.answered(head, client.settings)
        // What the store does with the answer depends on the user that the connection has shown.
        if client.settings.answers != nil, let security = client.engine.connectionRecord(of: id)?.security {
            attempt.transaction?.identity = security.shownIdentity
        }
        guard client.settings.asksForCookies, let scope = attempt.transaction?.scope,
            response.fields.contains(.setCookie)
        else { return judge(response) }
        attempt.response = response
        owner.giveCookies(of: response, from: scope, to: attempt.request) { [self] in judge(response) }
    }

    private func judge(_ response: LocatedHead) {
        guard let step = attempt.judge(response, caching, owner, client) else { return owner.accept(response) }
        perform(step, response, nil)
    }

    /// What the store makes of the answer. The answer of one of several servers says nothing about what is stored under
    /// the URL. An answer that depends on the request's content is not stored.
    private var caching: AskedRequest.Caching {
        guard client.settings.answers != nil, attempt.request.terms?.endpoint == nil, !attempt.isExcused(client) else {
            return .none
        }
        return owner.isStorable && !attempt.request.sendsContentWithGET ? .stores : .compares
    }

    private func informed(_ head: ResponseHead) {
        let response = LocatedHead(head, attempt.request.url)
        if head.status == 101 { attempt.switching = response }
        if let upload = attempt.upload,
            upload.inform(head.status, head.fields, to: attempt.request.web, reading: client.settings.rules.read)
        {
            owner.hear(.keptUpload)
        }
        // 100 and 101 concern the connection.
        if head.status > 101 { owner.hear(.informed(response)) }
    }

    package func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        switch course.phase {
        case .draining: drained(bytes.count, of: id)
        case .loading: owner.receive(bytes)
        case .asking: keep(bytes)
        case .new, .starting, .ended: break
        }
    }

    package func exchange(_ id: ExchangeID, didSend count: Int) {
        owner.hear(.sent(count, total: attempt.noteSent(count)))
    }

    package func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart { owner.part(at: offset) }

    package func exchange(_ id: ExchangeID, didUpgrade connection: UpgradedConnection) {
        guard case .exchange(id) = course.source, let response = attempt.switching else { return connection.close() }
        attempt.noteSwitch(response, owner, client)
        if let scope = attempt.transaction?.scope { owner.cookieKeeper?(response, scope, attempt.request) }
        owner.switchProtocols(to: connection, response)
    }

    package func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        if isReported { return }
        owner.exchanged(report)
        if finishDraining(id) { return }
        guard course.isCurrent(id) else { return }
        switch outcome {
        case .completed: finished()
        // The failure waits behind an open question: its answer may leave this exchange. A time limit does not wait.
        case .failed(let error):
            if case .timedOut = error { return failed(error, report) }
            if !endBehindQuestion({ [self] in failed(error, report) }) { failed(error, report) }
        }
    }

    private func failed(_ error: EngineError, _ report: ExchangeReport) {
        let hasOwnProxies = attempt.request.terms?.proxies != nil
        if !hasOwnProxies, attempt.failOver(error, client) {
            owner.hear(.sendsAgain)
            start()
            return transact()
        }
        // The credentials of a request's own proxy come with the request: the owner is not asked for others.
        let proxies = hasOwnProxies ? .direct : attempt.proxies(client)
        let failure = AnswerFailure(error, report, attempt, proxies, mayRepeat: owner.mayRepeat)
        let step = attempt.machine.fail(failure)
        if let next = attempt.uploadStep(after: error, step) {
            start()
            return goOnUploading(next)
        }
        if case .fail(.failure) = step { return owner.end(.engine(error)) }
        start()
        perform(step, nil, .nothing)
    }
}
