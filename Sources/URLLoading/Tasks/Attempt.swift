internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// One attempt of a task to get its answer, through all its redirects and challenges. A new try is a new value, which
/// keeps nothing of the last one but what ``init(anewAfter:_:resuming:)`` takes over. It is never copied: a copy would
/// retain two dozen references more for each request.
struct Attempt: ~Copyable {
    /// The request under way.
    var request: URLRequest
    var content = UploadContent.none
    /// Whether content that can be read only once has been read: a request that needs it again asks for another stream.
    var hasReadContent = false
    /// Decides what becomes of this attempt's answers.
    var machine: AnswerMachine
    /// Whether the first request resumes an earlier task, which a redirect has led to another origin.
    private let beginsElsewhere: Bool
    /// The transaction on the network now, or the last one.
    var transaction: Transaction?
    /// The task's own delegate, when the request was begun.
    var listener: TaskListener?
    /// The security of the object that answers for this task; nil if the session's applies.
    var security: SessionSecurity?
    /// The session's proxies with credentials that no other task may use: none or one. In place, they would make each
    /// attempt much larger.
    private(set) var ownProxies: [SessionProxies] = []
    /// How many of the session's proxies for the request's host could not be used.
    var proxyFailures = 0
    /// Whether the server is asked for content without coding: a download of coded content cannot be resumed, since the
    /// server counts the octets of the coded form.
    private(set) var offersIdentity = false
    /// How many octets of the content have been sent.
    var sent: Int64 = 0
    /// The Cookie field for the request that a subclass of `HTTPCookieStorage` has given; nil for none.
    var givenCookies: [UInt8]?
    /// The cached response that the machine knows as its stored response.
    var stored: CachedURLResponse?
    /// The response that the program gets; nil before there is one.
    var response: URLResponse?
    /// The user name and password that were sent and that the server may accept, and the space they are for.
    /// `isStored`: the session's storage had them.
    var offered: (credential: URLCredential, space: ProtectionSpace, isStored: Bool)?
    /// ``SessionEngine/replacements`` when the last credential was asked for.
    private var replacements = 0
    /// The accepted answers to challenges whose credentials no other task may use.
    var authorizations = AuthorizationMemory()
    /// Whether the answer that the request carries belongs to ``authorizations``, not to the session's.
    var isAuthorizedAlone = false
    /// The part of an earlier download that this one continues.
    var resumption: ResumeData?
    /// The file of an earlier download that this one appends to, from its answer's head on.
    var resumed: DownloadFile?
    /// A WebSocket's handshake under way; nil for other tasks.
    var opening: WebSocketOpening?
    /// The upload, if it can be resumed; nil for other tasks.
    var upload: ResumableUpload?
    /// The 101 to a request that offered to switch to another protocol.
    var switching: ResponseHead?

    init(_ request: URLRequest, _ rules: AnswerMachine.Rules, resuming resumption: ResumeData?) {
        self.request = request
        self.resumption = resumption
        beginsElsewhere = request.hasLeftOrigin
        let own = request.values.terms?.values.responseLimits
        machine = AnswerMachine(rules, redirects: own?.redirectCount, resuming: resumption?.offer)
    }

    /// Makes the attempt that follows `last`, which failed because of the network.
    init(anewAfter last: borrowing Attempt, _ request: URLRequest, resuming resumption: ResumeData?) {
        self.request = request
        self.resumption = resumption
        beginsElsewhere = last.beginsElsewhere
        authorizations = last.authorizations
        ownProxies = last.ownProxies
        listener = last.listener
        content = last.content
        hasReadContent = last.hasReadContent
        upload = last.upload
        machine = last.machine.anew(resuming: resumption?.offer)
    }

    /// Replaces the request by another one, with which the attempt continues.
    ///
    /// - Parameter isKept: whether the content is kept for another process, which may resume it.
    mutating func replaceRequest(by request: URLRequest, isKept: Bool) {
        replaceUpload(by: request)
        offersIdentity = isKept && !request.decidesOnCoding
    }

    /// Whether a redirect of this task, or of the one that it resumes, has led to another origin: fields for the first
    /// origin alone are then left out.
    var hasLeftOrigin: Bool { beginsElsewhere || machine.hasLeftOrigin }

    /// Notes that a credential is asked for.
    mutating func beginAsking(_ engine: SessionEngine) { replacements = engine.replacements }

    /// Whether a credential that was asked for is used by this attempt alone: it is not to persist, or may have been
    /// replaced meanwhile.
    func isOwn(_ credential: URLCredential, _ engine: SessionEngine) -> Bool {
        credential.persistence == .none || replacements != engine.replacements
    }

    /// Takes the credentials for the proxy of the transaction that runs.
    mutating func use(_ words: Credentials, isOwn: Bool, _ engine: SessionEngine) {
        guard let origin = transaction?.place.origin else { return }
        guard isOwn else { return engine.use(words, forProxyTo: origin, after: proxyFailures) }
        var own = ownProxies.first ?? engine.proxies
        own.use(words, for: origin, after: proxyFailures)
        ownProxies = [own]
    }

    var hasOwnProxies: Bool { !ownProxies.isEmpty }

    // MARK: The request's content

    /// Whether the request's content can be sent.
    enum Loading {
        case ready
        case asksForStream
        case usedUp
    }

    /// Makes the content for the next request.
    mutating func loadContent(_ source: ContentSource) throws(URLError) -> Loading {
        guard machine.sendsContent else {
            content = .none
            return .ready
        }
        if let loading = try loadRest(source) { return loading }
        // The stream is unread if a proxy has asked for credentials first, or if the server has refused before the
        // content was sent.
        if case .stream(let stream) = content, stream.isUnread(for: request) { return .ready }
        content = try UploadContent(source, request)
        switch (source, content) {
        case (.stream, .none): return .asksForStream
        case (_, .stream) where hasReadContent: return .asksForStream
        case (_, .body(let body)) where hasReadContent && !body.isReplayable: return .usedUp
        case (_, .stream), (_, .body): hasReadContent = true
        case (_, .none), (_, .data): break
        }
        return .ready
    }

    mutating func take(stream: InputStream) {
        // A `URLProtocol` class finds the stream in the request.
        request.httpBodyStream = stream
        content = .stream(StreamContent(stream, request))
        hasReadContent = true
    }

    /// Notes that the content's stream is used up if a `URLProtocol` class has opened it.
    mutating func noteClassHasRead() {
        if case .stream(let stream) = content, stream.isOpen { content = .none }
    }

    /// Notes that the sending begins. Returns the content's length in bytes; -1 if it is not known.
    mutating func beginSending() -> Int64 {
        // The question how much of an upload has arrived sends nothing, and changes nothing.
        if upload?.isAsking != true { sent = upload?.rest ?? 0 }
        return upload?.length ?? content.length
    }

    /// Notes that `count` more bytes of the content were sent. Returns how many were sent in all, at most the content's
    /// length: the engine may have sent the request twice.
    mutating func noteSent(_ count: Int) -> Int64 {
        let length = upload?.length ?? content.length
        sent = length >= 0 ? min(sent + Int64(count), length) : sent + Int64(count)
        return sent
    }
}

extension URLRequest {
    /// The URL of a task that has no request.
    static let nowhere = URL(fileURLWithPath: "/")

    /// Returns the request that a redirect leads to; nil for a target of which Foundation makes no URL.
    func following(_ redirect: Redirect) -> URLRequest? {
        guard let target = redirect.url.url else { return nil }
        var next = URLRequest(storage: RequestStorage(values))
        next.url = target
        next.httpMethod = redirect.method
        next.values.changeFields { redirect.fields(from: $0) }
        if redirect.dropsContent { next.httpBody = nil }
        return next
    }
}

/// Where an attempt's requests are loaded from.
extension Attempt {
    /// The way to load a request that no `URLProtocol` class takes.
    enum Place {
        case network(URL)
        case local(URL)
    }

    mutating func place() throws(URLError) -> Place {
        guard let url = request.url else {
            throw ErrorTranslation.urlError(.unsupportedURL, nil, "the request has no URL")
        }
        switch url.scheme {
        case "http", "https": return .network(url)
        case "data": return .local(url)
        case "file":
            // RFC 8089 §2: another host's files are not reached by reading a path of this one.
            guard ["", "localhost"].contains(url.host?.lowercased() ?? "") else {
                let reason = "the file is on another host: “\(url.host ?? "")”"
                throw ErrorTranslation.urlError(.unsupportedURL, url, reason)
            }
            guard ["GET", "HEAD"].contains(request.values.httpMethod) else {
                let reason = "a file is read with GET: \(request.values.httpMethod) has no meaning for it"
                throw ErrorTranslation.urlError(.unsupportedURL, url, reason)
            }
            return .local(url)
        case let scheme?:
            guard scheme != scheme.lowercased(), let other = URLText.withLowercaseScheme(url) else {
                throw ErrorTranslation.urlError(.unsupportedURL, url, "no URLs of the scheme “\(scheme)” are loaded")
            }
            request.url = other
            return try place()
        case nil: throw ErrorTranslation.urlError(.unsupportedURL, url, "the URL has no scheme")
        }
    }

    /// Begins a WebSocket's handshake. Returns the URL that it is sent to.
    mutating func beginSocket(_ engine: SessionEngine) throws(URLError) -> URL {
        guard let url = request.url, let place = URLText.handshakePlace(of: url) else {
            throw ErrorTranslation.urlError(.unsupportedURL, request.url, "a WebSocket's URL begins with ws or wss")
        }
        guard request.values.httpMethod == "GET" else {
            throw ErrorTranslation.urlError(.unsupportedURL, url, "a WebSocket's handshake is a GET")
        }
        opening = try WebSocketOpening(request)
        machine.beginUncached()
        request.url = place
        rememberNamed(place, engine)
        return place
    }
}

/// The proxies of an attempt's requests.
extension Attempt {
    /// Returns the session's proxies for a request to this place.
    func proxies(to place: HTTPURL, _ url: URL, _ engine: SessionEngine) throws(URLError) -> OriginProxies {
        // Without a copy of the session's, which nearly every attempt uses.
        let route =
            ownProxies.first?.route(for: place.scheme, place.origin.host, after: proxyFailures)
            ?? engine.proxies.route(for: place.scheme, place.origin.host, after: proxyFailures)
        do throws(ProxyFault) { return try route.get() } catch {
            throw ErrorTranslation.urlError(.cannotConnectToHost, url, error)
        }
    }

    /// Returns the session's proxies for the transaction that runs.
    func proxies(_ engine: SessionEngine) -> OriginProxies {
        guard let transaction else { return .direct }
        return (try? proxies(to: transaction.place, transaction.url, engine)) ?? .direct
    }

    /// Whether TLS is spoken with the proxy of the transaction that runs.
    func isProxyEncrypted(_ engine: SessionEngine) -> Bool {
        guard let origin = transaction?.place.origin else { return false }
        return proxies(engine).proxy(for: origin)?.kind == .https
    }

    /// Chooses the next proxy after one that cannot be used, if the configuration of proxies allows failover.
    ///
    /// - Returns: false if there is no other proxy to use: the request fails.
    mutating func failOver(_ error: EngineError, _ engine: SessionEngine) -> Bool {
        guard error.isOfUnusableProxy, let origin = transaction?.place.origin,
            engine.proxies.allowsFailover(for: origin.host, after: proxyFailures)
        else { return false }
        proxyFailures += 1
        return true
    }
}

extension EngineError {
    /// Whether the proxy cannot be used. A proxy that refuses the server or the credentials can be used. If a delegate
    /// refuses the proxy's certificate, the request fails: the program may not want another route.
    fileprivate var isOfUnusableProxy: Bool {
        switch self {
        case .proxy(.tls(.refused)): false
        case .proxy(.unreachable), .proxy(.tls), .proxy(.closed), .proxy(.malformedResponse), .timedOut(.connect): true
        default: false
        }
    }
}

/// How an attempt deals with answers.
extension Attempt {
    /// Returns the response for a head from the network.
    func answered(_ head: ResponseHead, _ url: URL, _ settings: SessionSettings) -> HTTPURLResponse {
        HTTPURLResponse(url: url, head: head, isDecoded: head.contains(.contentEncoding) && isDecoding(settings))
    }

    /// Whether the engine decodes content that comes coded (``EngineRequest/Options/decodesContent``).
    private func isDecoding(_ settings: SessionSettings) -> Bool {
        guard !request.decidesOnCoding, machine.resumptionFields.isEmpty else { return false }
        return offersIdentity || !settings.fields.contains("Accept-Encoding")
    }

    /// Returns the machine's step after a head from the network, and applies the head's other effects: cookies,
    /// accepted credentials, changes of stored responses. Nil if the head answers no transaction: then the answer is
    /// delivered.
    mutating func judge(
        _ response: HTTPURLResponse,
        _ caching: AskedRequest.Caching,
        _ task: URLSessionTask,
        _ engine: SessionEngine
    ) -> Step? {
        self.response = response
        guard let transaction else { return nil }
        engine.keepCookies(of: response, from: transaction.scope, to: request)
        let head = AnswerHead(
            status: response.statusCode,
            fields: judgedFields(of: response),
            // Only a download that continues an earlier one needs the length.
            length: resumption == nil ? -1 : response.expectedContentLength
        )
        let asked = asked(transaction, caching)
        func receive(_ machine: inout AnswerMachine, _ memory: inout AuthorizationMemory) -> AnswerMachine.Verdict {
            machine.receive(head, to: asked, at: UnixTime.now, url: URIReference(transaction.url), memory: &memory)
        }
        keepApart(engine)
        let verdict =
            isAuthorizedAlone ? receive(&machine, &authorizations) : receive(&machine, &engine.authorizations)
        if let space = verdict.accepted { storeCredential(for: space, task, engine) }
        for url in verdict.invalidated { engine.settings.cache?.discard(CacheKey(method: "GET", url: url.text)) }
        // An upload's PATCH answers its first request, whose URL has changed with it.
        if !verdict.invalidated.isEmpty, let creation = upload?.creationURL {
            engine.settings.cache?.discard(CacheKey(method: "GET", url: creation))
        }
        return verdict.step
    }

    /// The fields that the rules judge. They know no WebSockets: a redirect to one leads to the place of its handshake
    /// (RFC 6455 §3).
    private func judgedFields(of response: HTTPURLResponse) -> HTTPFields {
        var fields = response.fields.list
        guard opening != nil else { return fields }
        let places = Set(fields.values(of: "Location"))
        guard places.count == 1, let place = places.first, let colon = place.firstIndex(of: ":"),
            ["ws", "wss"].contains(place[..<colon].lowercased())
        else { return fields }
        try? fields.replace("Location", "http" + place.dropFirst(2))
        return fields
    }

    /// Returns the answer's cookies that its server may set and the session takes, for a storage of the program's.
    func cookies(of response: HTTPURLResponse, _ settings: SessionSettings) -> [HTTPCookie] {
        transaction.map { settings.cookies(of: response, from: $0.scope, to: request) } ?? []
    }

    private func asked(_ transaction: Transaction, _ caching: AskedRequest.Caching) -> AskedRequest {
        AskedRequest(
            method: request.values.httpMethod,
            url: transaction.place,
            fields: transaction.fields,
            hasOwnAuthorization: request.values.fields?.contains(.authorization) == true,
            authorized: transaction.authorized?.space,
            sent: transaction.sent,
            caching: caching
        )
    }

    /// Returns what the cache is to store of the answer; nil for nothing.
    func entry(for response: HTTPURLResponse, _ storage: Step.Storage, _ engine: SessionEngine) -> CacheEntry? {
        guard storage == .inMemory || storage == .everywhere, let limit = engine.settings.cache?.contentLimit,
            response.expectedContentLength <= limit
        else { return nil }
        return CacheEntry(storage, received: UnixTime.now, limit: limit)
    }

    /// Prepares to keep the answer behind the part of an earlier download.
    ///
    /// - Returns: the step to take instead of delivering the answer; nil to deliver it.
    /// - Throws: why the part cannot be opened now. It stays, for a later download.
    mutating func place(
        _ response: HTTPURLResponse,
        _ placement: Step.Placement,
        _ engine: SessionEngine
    ) throws(URLError) -> Step? {
        switch placement {
        case .whole: return nil
        case .wholeInsteadOfRest:
            // A refusal, such as a 503, says nothing about the content. The records of a background session have no
            // place for both files.
            if (200..<300).contains(response.statusCode) || engine.background != nil { removePart() }
            return nil
        case .rest(let total):
            guard let resumption else { return nil }
            do throws(Errno) {
                let file = try DownloadFile(resumption, total: total, for: request.url)
                if engine.background != nil { file.beginLedger(at: engine.loop.now) }
                resumed = file
                return nil
            } catch {
                guard error.isOfPart else { throw ResumeData.unreadable(error, request.url) }
                // The rest alone is of no use.
                return machine.restIsGone()
            }
        }
    }

    // MARK: The delegate's decisions

    /// Tells the machine that the redirect is followed, by its own request or by the delegate's.
    mutating func follow(_ next: URLRequest, _ source: ContentSource) -> Step {
        var bringsContent = false
        if case .request = source { if case .none = next.values.body {} else { bringsContent = true } }
        let method = next.values.httpMethod
        proxyFailures = 0
        return machine.follow(
            to: next.url.map { URIReference($0) },
            from: request.url.map { URIReference($0) },
            bringsContent: bringsContent,
            becomesGet: method != request.values.httpMethod && (method == "GET" || method == "HEAD")
        )
    }

    /// Returns the step after the delegate's answer to a challenge; nil if no request was sent.
    mutating func reply(
        _ answer: ChallengeSender.Reply,
        to question: ChallengeQuestion,
        proposing proposed: URLCredential?,
        _ engine: SessionEngine
    ) -> Step? {
        guard let place = transaction?.place else { return nil }
        let (reply, credential) = question.reply(answer, proposing: proposed)
        let step = machine.reply(reply, to: question, url: place)
        if case .sendAgain = step, let credential {
            offered = (credential, question.space, isStored: credential == proposed)
            if question.side == .origin {
                isAuthorizedAlone = isOwn(credential, engine)
            } else if case .credentials(let words) = reply {
                use(words, isOwn: isOwn(credential, engine), engine)
            }
        }
        return step
    }

    /// Keeps a credential that the server may accept from other tasks, if it was replaced since it was asked for.
    private mutating func keepApart(_ engine: SessionEngine) {
        if let offered, offered.space.side == .origin, isOwn(offered.credential, engine) { isAuthorizedAlone = true }
    }

    /// The user and password in the URL; nil without a user.
    var namedCredentials: Credentials? {
        guard let url = request.url, let user = url.user(percentEncoded: false) else { return nil }
        return Credentials(user: user, password: url.password(percentEncoded: false) ?? "")
    }

    /// Takes the user and password in the URL as accepted by its origin, so that the first request carries them, as
    /// curl's does. They are the task's own. A challenge's answer replaces them, and a refusal makes the task forget
    /// them.
    mutating func rememberNamed(_ url: URL, _ engine: SessionEngine) {
        // Most URLs have none, and taking one apart costs as much as the rest of the planning.
        var text = url.absoluteString
        guard text.withUTF8({ unsafe $0.contains(UInt8(ascii: "@")) }), let named = namedCredentials else { return }
        guard !machine.hasAuthorizer, !engine.settings.fields.contains(.authorization) else { return }
        guard let place = try? RequestBuilder.place(url), known(for: place, engine) == nil else { return }
        authorizations.remember(Authorizer(unasked: named, for: place), for: place)
    }

    /// Returns the credential of the URL's user and password, which only the origin gets. Nil without a user, and if
    /// the refused request carried them in the same way.
    func namedCredential(for space: ProtectionSpace) -> URLCredential? {
        guard space.side == .origin, let named = namedCredentials else { return nil }
        let refused = transaction?.authorized
        guard refused?.credentials != named || refused?.space.scheme != space.scheme || space.scheme != .basic else {
            return nil
        }
        return URLCredential(user: named.user, password: named.password, persistence: .none)
    }

    /// Stores the user name and password once the server has accepted them. It stores the same ones only once.
    private mutating func storeCredential(
        for space: ProtectionSpace,
        _ task: URLSessionTask,
        _ engine: SessionEngine
    ) {
        guard let (credential, asked, isStored) = offered, asked == space else { return }
        offered = nil
        engine.store(credential, for: space, task, isStored: isStored)
    }

    // MARK: A switch of protocols

    /// Makes the 101 the response, and returns it; nil if there was none.
    mutating func switched(_ url: URL?) -> HTTPURLResponse? {
        guard let switching, let url else { return nil }
        let made = HTTPURLResponse(url: url, head: switching)
        response = made
        return made
    }

    /// Keeps the cookies and credentials of a 101, as of any answer.
    mutating func noteSwitch(_ response: HTTPURLResponse, _ task: URLSessionTask, _ engine: SessionEngine) {
        guard let transaction else { return }
        engine.keepCookies(of: response, from: transaction.scope, to: request)
        func accept(_ machine: inout AnswerMachine, _ memory: inout AuthorizationMemory) -> ProtectionSpace? {
            let (space, url) = (transaction.authorized?.space, transaction.place)
            return machine.switchProtocols(response.fields.list, authorized: space, url: url, memory: &memory)
        }
        keepApart(engine)
        let space = isAuthorizedAlone ? accept(&machine, &authorizations) : accept(&machine, &engine.authorizations)
        if let space { storeCredential(for: space, task, engine) }
    }
}

extension SessionSettings {
    /// Returns the answer's cookies that its server may set and the session takes, for a storage of the program's.
    fileprivate func cookies(
        of response: HTTPURLResponse,
        from scope: CookieScope,
        to request: URLRequest
    ) -> [HTTPCookie] {
        guard request.httpShouldHandleCookies else { return [] }
        let cookies = CookieStore.cookies(in: response.fields.setCookieLines, from: scope)
        return CookieStore.admitted(cookies, from: scope, document: request.mainDocumentURL, by: [cookiePolicy])
            .map { HTTPCookie($0, created: CookieStore.now) }
    }

    /// Has a storage of the program's store the answer's cookies. Nothing waits for the storage.
    func giveCookies(
        of response: HTTPURLResponse,
        from scope: CookieScope,
        to request: URLRequest,
        for task: URLSessionTask
    ) {
        guard let storage = cookieSubclass else { return }
        let cookies = cookies(of: response, from: scope, to: request)
        if !cookies.isEmpty { storage.store(cookies, for: task) {} }
    }
}

extension ChallengeQuestion {
    /// Returns the delegate's answer as the rules know it, and the credential in it.
    func reply(
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

/// How an attempt sends an upload that can be resumed.
extension Attempt {
    /// Makes the upload's machine, if the task's upload can be resumed.
    mutating func prepareUpload(_ task: URLSessionTask, _ spec: TaskSpec, _ engine: SessionEngine) {
        let settings = engine.settings
        guard let draft = spec.upload?.draft ?? settings.resumableUploads, task is URLSessionUploadTask,
            let content = UploadResumeData.Content(spec),
            request.values.httpMethod != "GET", request.values.httpMethod != "HEAD"
        else { return }
        upload = ResumableUpload(
            request,
            content,
            draft,
            length: content.length(request),
            resource: spec.upload?.resource,
            secrets: settings.secrets,
            isPatient: engine.background != nil
        )
    }

    /// Sets the next request to the given one, or to one that the upload needs.
    mutating func replaceUpload(by request: URLRequest) {
        guard let upload else {
            self.request = request
            return
        }
        let from = upload.creationURL
        if upload.machine.isCreating {
            upload.create(request, hasLeftOrigin: hasLeftOrigin)
            self.request = request
        } else {
            // The first request of a resumed task asks how far the earlier task has come.
            self.request = transaction == nil ? upload.nextRequest() : request
        }
        guard !upload.machine.isCreating, !hasLeftOrigin, let from = from.map({ URIReference($0) }),
            let to = self.request.url.map({ URIReference($0) }), from.origin != to.origin
        else { return }
        // Another server does not get the session's secrets.
        _ = machine.follow(to: to, from: from, bringsContent: true)
    }

    /// Returns the upload's next request; nil if there is no upload.
    mutating func nextUploadRequest() -> URLRequest? {
        guard let next = upload?.nextRequest() else { return nil }
        // An upload that begins anew has met neither redirects nor challenges yet.
        if upload?.machine.isCreating == true { machine = machine.anew(resuming: nil) }
        return next
    }

    /// Loads the content of the upload's next request. Nil if that request sends all of the content, as for other
    /// tasks.
    mutating func loadRest(_ source: ContentSource) throws(URLError) -> Loading? {
        guard let upload else { return nil }
        if upload.isAsking {
            content = .none
            return .ready
        }
        guard let offset = upload.rest else { return nil }
        if case .stream = source {
            content = .none
            return .asksForStream
        }
        content = try UploadContent(source, request).dropping(offset)
        return .ready
    }

    /// The offset, in bytes, at which the delegate's stream must begin; nil for the whole content.
    var streamOffset: Int64? { upload?.rest }

    /// Takes an informational response: a 104 names the resource at which the upload can be resumed.
    func noteResource(_ head: ResponseHead, _ url: URL, _ task: URLSessionTask, _ background: BackgroundSession?) {
        guard let upload, upload.inform(head.status, head.fields, to: url), let data = upload.resumeData else { return }
        background?.note(task, upload: data)
    }

    // MARK: The next step

    /// Returns the upload's step after an answer; nil if the answer is the task's.
    func uploadStep(after response: HTTPURLResponse) -> UploadStep? {
        guard let upload, !upload.machine.isOver else { return nil }
        let step = upload.receive(response)
        return step == .deliver ? nil : step
    }

    /// Returns the upload's step after a failure; nil if the upload cannot be resumed, or if the rules have a better
    /// step than to fail or to begin anew.
    func uploadStep(after error: EngineError, _ step: Step) -> UploadStep? {
        guard let upload, upload.machine.resource != nil else { return nil }
        switch step {
        case .fail(.failure), .beginAnew:
            let next = upload.fail(isTransient: error.isTransient)
            return next == .fail ? nil : next
        default: return nil
        }
    }

    // MARK: For later

    /// The resume data of the task, and their key in an error. Nil if it cannot be resumed.
    func resumeData(for sink: Sink, _ background: BackgroundSession?) -> (key: String, data: Data)? {
        guard let upload else {
            return resumeData(sink, background)?.data.map { (NSURLSessionDownloadTaskResumeData, $0) }
        }
        return upload.resumeData?.data.map { (NSURLSessionUploadTaskResumeData, $0) }
    }
}

extension UploadResumeData.Content {
    /// Nil for content of which no part can be sent: a request's own content may be a form.
    fileprivate init?(_ spec: TaskSpec) {
        if let upload = spec.upload {
            self = upload.content
            return
        }
        switch spec.content {
        case .data(let data): self = .data(data)
        case .file(let url) where url.isFileURL: self = .file(url.path, nil)
        case .stream: self = .stream
        case .request, .file, .content: return nil
        }
    }

    /// In octets; -1 where it is not known.
    fileprivate func length(_ request: URLRequest) -> Int64 {
        switch self {
        case .data(let data): Int64(data.count)
        case .file(let path, _): StoreFile.state(path)?.size ?? -1
        case .stream: request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) } ?? -1
        }
    }
}
