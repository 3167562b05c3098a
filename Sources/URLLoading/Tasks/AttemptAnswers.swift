internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics

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
            machine.receive(head, to: asked, at: UnixTime.now, url: WebURL(transaction.url), memory: &memory)
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
            to: next.url.map { WebURL($0) },
            from: request.url.map { WebURL($0) },
            bringsContent: bringsContent,
            becomesGet: method != request.values.httpMethod && (method == "GET" || method == "HEAD")
        )
    }

    /// Returns the step after the delegate's answer to a challenge; nil for a request without a URL.
    mutating func reply(
        _ answer: ChallengeSender.Reply,
        to question: ChallengeQuestion,
        proposing proposed: URLCredential?,
        _ engine: SessionEngine
    ) -> Step? {
        guard let url = request.url else { return nil }
        let (reply, credential) = question.reply(answer, proposing: proposed)
        let step = machine.reply(reply, to: question, url: WebURL(url))
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
        let web = WebURL(url)
        guard known(for: web, engine) == nil, let authorizer = Authorizer(unasked: named, for: web) else { return }
        authorizations.remember(authorizer, for: web)
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
            let (space, url) = (transaction.authorized?.space, WebURL(transaction.url))
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
