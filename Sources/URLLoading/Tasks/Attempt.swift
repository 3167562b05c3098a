internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
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

    var url: WebURL { WebURL(transaction?.url ?? request.url ?? URLRequest.nowhere) }

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
