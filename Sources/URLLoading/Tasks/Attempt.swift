internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import TLS

/// One attempt of a task to get its answer, through all its redirects and challenges. To begin anew is to make another
/// one: nothing of the last is left but what ``init(anewAfter:_:resuming:)`` takes over. It is never copied: a copy
/// would cost each request two dozen references more.
struct Attempt: ~Copyable {
    /// The request under way.
    var request: URLRequest
    var content = UploadContent.none
    /// The content can be read once, and has been: a request that needs it again asks for another.
    var hasReadContent = false
    /// What becomes of its answers.
    var machine: AnswerMachine
    /// What is on the network now, or was last.
    var transaction: Transaction?
    /// What of the content has been sent.
    var sent: Int64 = 0
    /// What the machine's stored response is.
    var stored: CachedURLResponse?
    /// The answer is the cache's.
    var isFromCache = false
    /// The answer, on its way into the cache.
    var storing: CacheEntry?
    /// The answer as it is told; nil before.
    var response: URLResponse?
    /// The user's name and password that the server may accept, and what they are for.
    private var offered: (credential: URLCredential, space: ProtectionSpace)?
    /// What a download goes on from.
    var resumption: ResumeData?
    /// The file that a download goes on with, from its answer's head on.
    var resumed: DownloadFile?
    /// A WebSocket's handshake under way.
    var opening: WebSocketOpening?
    /// The 101 to a request that offered to go on with another protocol.
    var switching: ResponseHead?

    init(_ request: URLRequest, _ rules: AnswerMachine.Rules, resuming resumption: ResumeData?) {
        self.request = request
        self.resumption = resumption
        machine = AnswerMachine(rules, resuming: resumption?.offer)
    }

    /// After one that the network has failed.
    init(anewAfter last: borrowing Attempt, _ request: URLRequest, resuming resumption: ResumeData?) {
        self.request = request
        self.resumption = resumption
        content = last.content
        hasReadContent = last.hasReadContent
        machine = last.machine.anew(resuming: resumption?.offer)
    }

    /// Goes on with another request, or with another URL.
    mutating func replaceRequest(by request: URLRequest) { self.request = request }

    /// What was read of the file on disk: the machine asks for the rest of that.
    mutating func resume(from resumption: ResumeData?) {
        self.resumption = resumption
        machine = machine.anew(resuming: resumption?.offer)
    }

    /// The request that a redirect leads to; nil for a target of which Foundation makes no URL.
    func request(following redirect: Redirect) -> URLRequest? {
        guard let target = redirect.url.url else { return nil }
        var next = URLRequest(storage: RequestStorage(request.values))
        next.url = target
        next.httpMethod = redirect.method
        next.values.changeFields { redirect.fields(from: $0) }
        if redirect.dropsContent { next.httpBody = nil }
        return next
    }

    // MARK: The request's content

    /// How the request's content is had.
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
        // A proxy has asked first, or a server that was asked whether it wants the content.
        if case .stream(let stream) = content, stream.isUnread(for: request) { return .ready }
        content = try UploadContent(source, request)
        switch (source, content) {
        case (.stream, .none): return .asksForStream
        case (_, .stream) where hasReadContent: return .asksForStream
        case (_, .segments(let body)) where hasReadContent && !body.isReplayable: return .usedUp
        case (_, .stream), (_, .segments): hasReadContent = true
        case (_, .none), (_, .data), (_, .file): break
        }
        return .ready
    }

    mutating func take(stream: InputStream) {
        content = .stream(StreamContent(stream, request))
        hasReadContent = true
    }

    // MARK: Facts for the machine

    var url: WebURL { WebURL(transaction?.url ?? request.url ?? Attempt.nowhere) }

    static let nowhere = URL(fileURLWithPath: "/")

    func asked(_ transaction: Transaction, _ caching: AskedRequest.Caching) -> AskedRequest {
        AskedRequest(
            method: request.values.httpMethod,
            fields: transaction.fields,
            hasOwnAuthorization: request.values.fields?.contains(.authorization) == true,
            authorized: transaction.authorized?.space,
            sent: transaction.sent,
            caching: caching
        )
    }

    // MARK: Credentials

    /// The user's answer to a challenge, to be stored once the server has taken it.
    mutating func offer(_ credential: URLCredential, for space: ProtectionSpace) { offered = (credential, space) }

    /// The credential that the server has taken, if it is one that the user gave; once.
    mutating func acceptedCredential(for space: ProtectionSpace) -> URLCredential? {
        guard let (credential, asked) = offered, asked == space else { return nil }
        offered = nil
        return credential
    }

    /// The URL's own user and password, or what is stored; once.
    func proposedCredential(for space: ProtectionSpace, _ failures: Int, _ settings: SessionSettings) -> URLCredential?
    {
        guard failures == 0 else { return nil }
        if space.side == .origin, let user = request.url?.user(percentEncoded: false) {
            let password = request.url?.password(percentEncoded: false) ?? ""
            return URLCredential(user: user, password: password, persistence: .none)
        }
        return settings.credentials?.defaultCredential(for: URLProtectionSpace(ProtectionSpaceValues(space)))
    }

    // MARK: Resumption

    /// By what to know the content that is coming in; nil where nothing does, or where it cannot be gone on with.
    var validator: String? {
        guard let response = response as? HTTPURLResponse, request.httpMethod == "GET" else { return nil }
        // What was decoded is of another length than what the server counts.
        let coding = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased()
        guard coding == nil || coding == "identity" else { return nil }
        guard response.statusCode == 200 || response.statusCode == 206 else { return nil }
        guard response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() != "none" else { return nil }
        return ResumeRule.validator(
            entityTag: response.value(forHTTPHeaderField: "ETag"),
            lastModified: response.value(forHTTPHeaderField: "Last-Modified"),
            date: response.value(forHTTPHeaderField: "Date").flatMap { HTTPDateText.seconds($0) },
            now: Transaction.now
        )
    }

    /// What a later download goes on from, with what has come of this one.
    ///
    /// - Parameter path: where the file is by then.
    func resumeData(_ file: DownloadFile, at path: String, fields: [String: String], url: URL) -> ResumeData? {
        guard file.written > 0, let validator else { return nil }
        return ResumeData(
            url: url,
            fields: fields,
            validator: validator,
            path: path,
            received: file.written,
            expected: file.total,
            sum: file.sum.map { .known($0) } ?? .none
        )
    }
}

extension ResumeData {
    var offer: ResumeOffer { ResumeOffer(validator: validator, received: received, expected: expected) }
}
