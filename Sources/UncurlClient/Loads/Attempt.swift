internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS
internal import UncurlText
internal import UncurlWebSocket

/// One attempt of a load to get its answer, through all its redirects and challenges. A new try is a new value, which
/// keeps nothing of the last one but what ``init(anewAfter:_:resuming:)`` takes over. It is never copied: a copy would
/// retain two dozen references more for each request.
struct Attempt: ~Copyable {
    /// The request under way.
    var request: Request
    private(set) var content = Content.none
    /// The content's length in octets; -1 where it is not known.
    private(set) var length: Int64 = 0
    /// Whether the first request resumes an earlier load, which a redirect has led to another origin.
    private let beginsElsewhere: Bool
    /// Whether the content is a stream of the program's, for which another one can be asked.
    private(set) var hasStream = false
    /// Decides what becomes of this attempt's answers.
    var machine: AnswerMachine
    /// The transaction on the network now, or the last one.
    var transaction: Transaction?
    /// The security of the object that answers for this load; nil if the client's applies.
    var security: ClientSecurity?
    /// The client's proxies with credentials that no other load may use: none or one. In place, they would make each
    /// attempt much larger.
    private(set) var ownProxies: [ClientProxies] = []
    /// How many of the client's proxies for the request's host could not be used.
    var proxyFailures = 0
    /// Whether the server is asked for content without coding: a download of coded content cannot be resumed, since the
    /// server counts the octets of the coded form.
    private(set) var offersIdentity = false
    /// How many octets of the content have been sent.
    var sent: Int64 = 0
    /// The Cookie field for the request that a store has given later; nil for none.
    var givenCookies: [UInt8]?
    /// The answer that the machine knows as its stored response.
    var stored: StoredAnswer?
    /// The response that has come from the network last; nil before there is one.
    var response: LocatedHead?
    /// The credentials that were sent and that the server may accept, and the space they are for.
    var offered: (credentials: OfferedCredentials, space: ProtectionSpace)?
    /// ``Client/replacements`` when the last credential was asked for.
    private var replacements = 0
    /// What servers have accepted of the credentials that no other load may use.
    var authorizations = AuthorizationMemory()
    /// Whether the answer that the request carries belongs to ``authorizations``, not to the client's.
    var isAuthorizedAlone = false
    /// A WebSocket's handshake under way; nil for other loads.
    var handshake: ClientHandshake?
    /// The upload, if it can be resumed; nil for other loads.
    var upload: ResumableUpload?
    /// The 101 to a request that offered to switch to another protocol.
    var switching: LocatedHead?

    init(_ request: consuming Request, _ rules: AnswerMachine.Rules, resuming offer: ResumeOffer?) {
        beginsElsewhere = request.hasLeftOrigin
        machine = AnswerMachine(rules, redirects: request.terms?.redirects, resuming: offer)
        self.request = request
    }

    /// Makes the attempt that follows `last`, which failed because of the network.
    init(anewAfter last: borrowing Attempt, _ request: Request, resuming offer: ResumeOffer?) {
        self.request = request
        beginsElsewhere = last.beginsElsewhere
        authorizations = last.authorizations
        ownProxies = last.ownProxies
        content = last.content
        length = last.length
        hasStream = last.hasStream
        upload = last.upload
        machine = last.machine.anew(resuming: offer)
    }

    /// Begins with the request that the attempt has.
    ///
    /// - Parameter isKept: whether the answer is kept for another process, which may resume it.
    mutating func beginRequest(isKept: Bool) {
        if upload != nil { replaceUpload(by: request) }
        offersIdentity = isKept && !request.decidesOnCoding
    }

    /// Replaces the request by another one, with which the attempt continues.
    mutating func replaceRequest(by request: consuming Request, isKept: Bool) {
        if upload != nil { replaceUpload(by: request) } else { self.request = request }
        offersIdentity = isKept && !self.request.decidesOnCoding
    }

    /// Whether a redirect of this load, or of the one that it resumes, has led to another origin: fields for the first
    /// origin alone are then left out.
    var hasLeftOrigin: Bool { beginsElsewhere || machine.hasLeftOrigin }

    /// Notes that a credential is asked for.
    mutating func beginAsking(_ client: Client) { replacements = client.replacements }

    /// Whether credentials that were asked for are used by this attempt alone: they are for it, or may have been
    /// replaced meanwhile.
    func isOwn(_ credentials: OfferedCredentials, _ client: Client) -> Bool {
        credentials.isAlone || replacements != client.replacements
    }

    /// Takes the credentials for the proxy of the transaction that runs.
    mutating func use(_ words: Credentials, isOwn: Bool, _ client: Client) {
        guard let origin = transaction?.place.origin else { return }
        guard isOwn else { return client.use(words, forProxyTo: origin, after: proxyFailures) }
        var own = ownProxies.first ?? client.proxies
        own.use(words, for: origin, after: proxyFailures)
        ownProxies = [own]
    }

    var hasOwnProxies: Bool { !ownProxies.isEmpty }

    // MARK: The request's content

    mutating func take(_ content: Content, length: Int64, isStream: Bool) {
        (self.content, self.length, hasStream) = (content, length, isStream)
    }

    var isEmpty: Bool { if case .none = content { true } else { false } }

    /// Notes that the sending begins. Returns the content's length in bytes; -1 if it is not known.
    mutating func beginSending() -> Int64 {
        // The question how much of an upload has arrived sends nothing, and changes nothing.
        if upload?.isAsking != true { sent = upload?.rest ?? 0 }
        return upload?.length ?? length
    }

    /// Notes that `count` more bytes of the content were sent. Returns how many were sent in all, at most the content's
    /// length: the engine may have sent the request twice.
    mutating func noteSent(_ count: Int) -> Int64 {
        let length = upload?.length ?? length
        sent = length >= 0 ? min(sent + Int64(count), length) : sent + Int64(count)
        return sent
    }

    /// Begins a WebSocket's handshake. Returns the place that it is sent to.
    mutating func beginSocket(_ client: Client) throws(LoadError) {
        guard let place = request.handshakeURL else { throw .noSocketURL }
        guard request.method == "GET" else { throw .handshakeMethod }
        let offered = request.fields?["Sec-WebSocket-Protocol"] ?? ""
        let names = offered.split(separator: ",").map { String(Substring($0.utf8.withoutBlanks)) }
        do throws(HandshakeError) { handshake = try ClientHandshake(protocols: names) } catch {
            throw .handshake(error)
        }
        machine.beginUncached()
        request.url = place
        rememberNamed(client)
    }
}

/// The proxies of an attempt's requests.
extension Attempt {
    /// Returns the client's proxies for a request to this place.
    func proxies(to place: HTTPURL, _ client: Client) throws(ProxyFault) -> OriginProxies {
        // Without a copy of the client's, which nearly every attempt uses.
        let route =
            ownProxies.first?.route(for: place.scheme, place.origin.host, after: proxyFailures)
            ?? client.proxies.route(for: place.scheme, place.origin.host, after: proxyFailures)
        return try route.get()
    }

    /// Returns the client's proxies for the transaction that runs.
    func proxies(_ client: Client) -> OriginProxies {
        transaction.flatMap { try? proxies(to: $0.place, client) } ?? .direct
    }

    /// Whether TLS is spoken with the proxy of the transaction that runs.
    func isProxyEncrypted(_ client: Client) -> Bool {
        guard let origin = transaction?.place.origin else { return false }
        return proxies(client).proxy(for: origin)?.kind == .https
    }

    /// Chooses the next proxy after one that cannot be used, if the configuration of proxies allows failover.
    ///
    /// - Returns: false if there is no other proxy to use: the request fails.
    mutating func failOver(_ error: EngineError, _ client: Client) -> Bool {
        guard error.isOfUnusableProxy, let origin = transaction?.place.origin,
            client.proxies.allowsFailover(for: origin.host, after: proxyFailures)
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
    func answered(_ head: ResponseHead, _ settings: ClientSettings) -> LocatedHead {
        LocatedHead(head, request.url, isDecoded: head.contains(.contentEncoding) && isDecoding(settings))
    }

    /// Whether the engine decodes content that comes coded (``EngineRequest/Options/decodesContent``).
    private func isDecoding(_ settings: ClientSettings) -> Bool {
        guard !request.decidesOnCoding, machine.resumptionFields.isEmpty else { return false }
        return offersIdentity || !settings.fields.contains("Accept-Encoding")
    }

    /// Returns the machine's step after a head from the network, and applies the head's other effects: cookies,
    /// accepted credentials, changes of stored answers. Nil if the head answers no transaction: then the answer is
    /// delivered.
    mutating func judge(
        _ response: LocatedHead,
        _ caching: AskedRequest.Caching,
        _ owner: any LoadOwner,
        _ client: Client
    ) -> Step? {
        self.response = response
        // Each part is read alone: a copy of the transaction retains a dozen references.
        guard let asked = transaction?.asked(request, caching), let url = transaction?.url else { return nil }
        client.keepCookies(of: response, from: asked.url, to: request)
        let head = AnswerHead(status: response.status, fields: judgedFields(of: response), length: response.length)
        func receive(_ machine: inout AnswerMachine, _ memory: inout AuthorizationMemory) -> AnswerMachine.Verdict {
            machine.receive(head, to: asked, at: unixTime(), url: URIReference(url), memory: &memory)
        }
        keepApart(client)
        let verdict =
            isAuthorizedAlone ? receive(&machine, &authorizations) : receive(&machine, &client.authorizations)
        if let space = verdict.accepted { tellAccepted(space, owner) }
        for url in verdict.invalidated { client.settings.answers?.discard(CacheKey(method: "GET", url: url.text)) }
        // An upload's PATCH answers its first request, whose URL has changed with it.
        if !verdict.invalidated.isEmpty, let creation = upload?.creation.url {
            client.settings.answers?.discard(CacheKey(method: "GET", url: creation))
        }
        return verdict.step
    }

    /// The fields that the rules judge. They know no WebSockets: a redirect to one leads to the place of its handshake
    /// (RFC 6455 §3).
    private func judgedFields(of response: LocatedHead) -> HTTPFields {
        var fields = response.fields
        guard handshake != nil else { return fields }
        let places = Set(fields.values(of: "Location"))
        guard places.count == 1, let place = places.first, let colon = place.firstIndex(of: ":"),
            ["ws", "wss"].contains(place[..<colon].lowercased())
        else { return fields }
        try? fields.replace("Location", "http" + place.dropFirst(2))
        return fields
    }

    // MARK: The owner's decisions

    /// Tells the machine that the redirect is followed, by its own request or by the owner's.
    ///
    /// - Parameter bringsContent: whether the owner has put content into the new request.
    mutating func follow(_ next: Request, bringsContent: Bool) -> Step {
        proxyFailures = 0
        return machine.follow(
            to: next.web,
            from: request.web,
            bringsContent: bringsContent,
            becomesGet: next.method != request.method && (next.method == "GET" || next.method == "HEAD")
        )
    }

    /// Returns the step after the answer to a challenge; nil if no request was sent.
    mutating func reply(
        _ reply: ChallengeReply,
        with credentials: OfferedCredentials?,
        to question: ChallengeQuestion,
        _ client: Client
    ) -> Step? {
        guard let place = transaction?.place else { return nil }
        let step = machine.reply(reply, to: question, url: place)
        if case .sendAgain = step, let credentials {
            offered = (credentials, question.space)
            if question.side == .origin {
                isAuthorizedAlone = isOwn(credentials, client)
            } else if case .credentials(let words) = reply {
                use(words, isOwn: isOwn(credentials, client), client)
            }
        }
        return step
    }

    /// Keeps a credential that the server may accept from other loads, if it was replaced since it was asked for.
    private mutating func keepApart(_ client: Client) {
        if let offered, offered.space.side == .origin, isOwn(offered.credentials, client) { isAuthorizedAlone = true }
    }

    /// Takes the user and password in the URL as accepted by its origin, so that the first request carries them, as
    /// curl's does. They are the load's own. A challenge's answer replaces them, and a refusal makes the load forget
    /// them.
    mutating func rememberNamed(_ client: Client) {
        guard let named = request.namedCredentials else { return }
        guard !machine.hasAuthorizer, !client.settings.fields.contains(.authorization) else { return }
        guard let place = try? HTTPURL(mending: request.url), known(for: place, client) == nil else { return }
        authorizations.remember(Authorizer(unasked: named, for: place), for: place)
    }

    /// Returns the URL's user and password, which only the origin gets. Nil without a user, and if the refused request
    /// carried them in the same way.
    func namedCredentials(for space: ProtectionSpace) -> Credentials? {
        guard space.side == .origin, let named = request.namedCredentials else { return nil }
        let refused = transaction?.authorized
        guard refused?.credentials != named || refused?.space.scheme != space.scheme || space.scheme != .basic else {
            return nil
        }
        return named
    }

    /// Tells the owner once that the server has accepted its credentials.
    private mutating func tellAccepted(_ space: ProtectionSpace, _ owner: any LoadOwner) {
        guard let (credentials, asked) = offered, asked == space else { return }
        offered = nil
        owner.hear(.accepted(credentials, space))
    }

    // MARK: A switch of protocols

    /// Keeps the cookies and credentials of a 101, as of any answer.
    mutating func noteSwitch(_ response: LocatedHead, _ owner: any LoadOwner, _ client: Client) {
        self.response = response
        guard let transaction else { return }
        client.keepCookies(of: response, from: transaction.place, to: request)
        func accept(_ machine: inout AnswerMachine, _ memory: inout AuthorizationMemory) -> ProtectionSpace? {
            let (space, url) = (transaction.authorized?.space, transaction.place)
            return machine.switchProtocols(response.fields, authorized: space, url: url, memory: &memory)
        }
        keepApart(client)
        let space = isAuthorizedAlone ? accept(&machine, &authorizations) : accept(&machine, &client.authorizations)
        if let space { tellAccepted(space, owner) }
    }
}

/// How an attempt sends an upload that can be resumed.
extension Attempt {
    /// Sets the next request to the given one, or to one that the upload needs.
    private mutating func replaceUpload(by request: Request) {
        guard let upload else { return }
        let from = upload.creation.web
        if upload.machine.isCreating {
            upload.create(request, hasLeftOrigin: hasLeftOrigin)
            self.request = request
        } else {
            // The first request of a resumed load asks how far the earlier one has come.
            self.request = transaction == nil ? upload.nextRequest() : request
        }
        guard !upload.machine.isCreating, !hasLeftOrigin, from.origin != self.request.web.origin else { return }
        // Another server does not get the client's secrets.
        _ = machine.follow(to: self.request.web, from: from, bringsContent: true)
    }

    /// Returns the upload's next request; nil if there is no upload.
    mutating func nextUploadRequest() -> Request? {
        guard let next = upload?.nextRequest() else { return nil }
        // An upload that begins anew has met neither redirects nor challenges yet.
        if upload?.machine.isCreating == true { machine = machine.anew(resuming: nil) }
        return next
    }

    /// Returns the upload's step after an answer; nil if the answer is the load's.
    func uploadStep(after response: LocatedHead) -> UploadStep? {
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
}

/// Makes an attempt's request for the client.
extension Attempt {
    /// Returns the first step, by the rules for stored responses; nil if the request is sent as it is.
    ///
    /// - Parameter found: what is stored for the request.
    mutating func begin(with found: StoredAnswer?, _ owner: any LoadOwner, _ client: Client) -> Step? {
        stored = found
        if found != nil, let place = try? HTTPURL(mending: request.url) {
            security = ownSecurity(to: place, owner, client)
        }
        rememberNamed(client)
        guard found != nil || request.cacheMode != .standard || isCacheControlled(client.settings) else {
            machine.beginUncached()
            return nil
        }
        return machine.begin(
            method: request.method,
            fields: fields(for: found, owner, client),
            mode: request.cacheMode,
            stored: found?.exchange,
            now: unixTime()
        )
    }

    /// Makes the request for the engine, and begins a transaction.
    ///
    /// - Parameter conditions: fields that make the request conditional, for the cache.
    mutating func transact(
        _ conditions: [(name: String, value: [UInt8])],
        _ first: HTTPURL?,
        _ owner: any LoadOwner,
        _ client: Client
    ) throws(LoadError) -> EngineRequest {
        let isUsual =
            handshake == nil && !hasLeftOrigin && isEmpty && request.terms == nil && proxyFailures == 0
            && !hasOwnProxies && !offersIdentity
        let prepared = client.prepared
        let place: HTTPURL
        do throws(HTTPURL.Problem) {
            place = try HTTPURL(mending: request.url, near: prepared?.place)
        } catch {
            throw .url(error)
        }
        security = ownSecurity(to: place, owner, client)
        var extra = conditions + machine.resumptionFields
        if let upload, !isEmpty { extra += upload.creationFields.map { ($0.name, Array($0.value.utf8)) } }
        var secrets: [(name: String, value: [UInt8])] = []
        if let cookies = cookieField(CookieScope(place), client.settings) { secrets.append(("Cookie", cookies)) }
        let authorization = try authorization(place, owner, client)
        if let authorization { secrets.append(("Authorization", authorization.octets)) }
        // Connections of the client are not for a request under another security.
        let isPlain = isUsual && security == nil && extra.isEmpty && secrets.isEmpty
        let (made, fields): (EngineRequest, HTTPFields)
        if isPlain, let prepared, prepared.serves(request), let request = prepared.request(to: place) {
            (made, fields) = (request, prepared.fields)
        } else {
            var builder = try builder(content, to: place, owner, client)
            (builder.extra, builder.secrets) = (extra, secrets)
            if let endpoint = request.terms?.endpoint, place.origin == first?.origin { builder.endpoint = endpoint }
            builder.handshake = handshake
            (made, fields) = try builder.build(to: place)
            if isPlain { client.prepared = PreparedRequest(made, fields, to: place, for: request) }
        }
        transaction = Transaction(
            request: made,
            fields: fields,
            place: place,
            url: request.url,
            sent: unixTime(),
            authorized: authorization
        )
        return made
    }

    /// Returns the security under which a request is sent; nil for the client's, and where there is no TLS.
    private func ownSecurity(to place: HTTPURL, _ owner: any LoadOwner, _ client: Client) -> ClientSecurity? {
        guard place.scheme == .https || request.terms?.proxies?.areSecure ?? client.proxies.areSecure else {
            return nil
        }
        return owner.answerer.map { client.security(of: $0) }
    }

    /// Returns the builder of a request under the load's terms. They have their own proxies, or none for the client's.
    private func builder(
        _ content: Content,
        to place: HTTPURL,
        _ owner: any LoadOwner,
        _ client: Client
    ) throws(LoadError) -> RequestBuilder {
        var builder = builder(content, client)
        builder.proxies = request.terms?.proxies
        if builder.proxies == nil {
            do throws(ProxyFault) { builder.proxies = try proxies(to: place, client) } catch { throw .proxy(error) }
        }
        builder.evaluator = security
        if place.scheme == .https {
            do throws(TLSError) { builder.context = try client.context(owner.expectQuestions) } catch {
                throw .engine(.tls(error))
            }
        } else if builder.proxies?.areSecure == true {
            owner.expectQuestions()
        }
        return builder
    }

    private func builder(_ content: Content, _ client: Client) -> RequestBuilder {
        RequestBuilder(
            client.settings,
            request,
            content,
            hasLeftOrigin: hasLeftOrigin,
            offersIdentity: offersIdentity
        )
    }

    /// Returns the storage's cookies, unless the request has its own or wants none.
    private func cookieField(_ scope: CookieScope, _ settings: ClientSettings) -> [UInt8]? {
        guard let cookies = settings.cookies else { return givenCookies }
        return takesCookies(settings) ? cookies.header(scope, request.document) : nil
    }

    /// Whether the request carries cookies of the session's storage.
    func takesCookies(_ settings: ClientSettings) -> Bool {
        guard settings.setsCookies, request.handlesCookies, !isTrace else { return false }
        return request.fields?.contains(.cookie) != true
    }

    /// Whether the answer repeats the request: then it carries neither stored cookies nor stored credentials (RFC 9110
    /// §9.3.8).
    private var isTrace: Bool { request.method == "TRACE" }

    /// Returns the credentials that the request carries from the start: the task's answer to a challenge, or one that
    /// this server has accepted before from the task or the session. A field that the caller has set takes precedence.
    private mutating func authorization(
        _ place: HTTPURL,
        _ owner: any LoadOwner,
        _ client: Client
    ) throws(LoadError) -> SentAuthorization? {
        if let own = request.fields, own.contains(.authorization) { return nil }
        guard !isTrace else { return nil }
        guard machine.hasAuthorizer || !authorizations.isEmpty || !client.authorizations.isEmpty else { return nil }
        let (method, octets) = (request.method, owner.contentOctets)
        do throws(AuthenticationError) {
            let own = try machine.authorization(method: method, target: place.target, content: octets)
            if let own { return own }
        } catch {
            throw .authentication(error)
        }
        guard known(for: place, client) != nil else { return nil }
        isAuthorizedAlone = authorizations.credentials(for: place) != nil
        return isAuthorizedAlone
            ? authorizations.authorization(for: place, method: method, target: place.target, content: octets)
            : client.authorizations.authorization(for: place, method: method, target: place.target, content: octets)
    }

    /// Returns the user name and password that the server has accepted before; nil if the request's URL names others.
    func known(for url: HTTPURL, _ client: Client) -> Credentials? {
        let known = authorizations.credentials(for: url) ?? client.authorizations.credentials(for: url)
        guard let known, let named = request.namedCredentials else { return known }
        let isSame = named.user == known.user && (!request.namesPassword || named.password == known.password)
        return isSame ? known : nil
    }

    /// Returns the user name and password with which a request would be sent.
    private func credentials(_ client: Client) -> Credentials? {
        if let own = request.fields, own.contains(.authorization) { return nil }
        if let authorizer = machine.challenges.authorizer, authorizer.side == .origin { return authorizer.credentials }
        guard !authorizations.isEmpty || !client.authorizations.isEmpty else { return nil }
        return (try? HTTPURL(mending: request.url)).flatMap { known(for: $0, client) }
    }

    // MARK: For the cache

    /// Whether the request has a Cache-Control field (RFC 9111 §5.2.1). If nothing is stored, no other field matters to
    /// the cache.
    private func isCacheControlled(_ settings: ClientSettings) -> Bool {
        request.fields?.contains(.cacheControl) == true || settings.fields.contains(.cacheControl)
    }

    /// Returns the fields that the cache's rules need. If the stored response varies by fields (RFC 9111 §4.1), these
    /// are the fields as they would be sent, since the session adds most of those.
    private func fields(
        for found: StoredAnswer?,
        _ owner: any LoadOwner,
        _ client: Client
    ) -> HTTPFields {
        let security = security ?? client.security
        let plain = client.settings.fields(with: request.fields)
        guard let record = found?.exchange.record else { return plain }
        let credentials = credentials(client)
        let isAnyone =
            credentials == nil && !client.settings.vary.identifies(plain) && !security.isSpecial
        guard !isAnyone || !record.varying.isEmpty else { return plain }
        var builder = builder(content, client)
        guard let place = try? HTTPURL(mending: request.url) else { return plain }
        if let cookies = cookieField(CookieScope(place), client.settings) {
            builder.secrets.append(("Cookie", cookies))
        }
        guard let sent = try? builder.build(to: place).1 else { return plain }
        let expected = security.expectedIdentity(for: place.origin) { owner.storedIdentity(for: place.origin) }
        return selecting(sent, credentials, expected, security)
    }

    /// Returns the fields of the request that was sent, in the form in which they are compared with other requests'.
    func selecting(_ transaction: Transaction, _ client: Client) -> HTTPFields {
        let credentials = transaction.authorized?.credentials
        return selecting(transaction.fields, credentials, transaction.identity, security ?? client.security)
    }

    /// Returns the sent fields in the form in which they are compared with other requests', with everything that
    /// identifies the user to the server.
    ///
    /// - Parameter credentials: those that the session answers challenges with. They stand for the Authorization field,
    ///   since each Digest answer differs.
    private func selecting(
        _ sent: HTTPFields,
        _ credentials: Credentials?,
        _ identity: [UInt8]?,
        _ security: ClientSecurity
    ) -> HTTPFields {
        var fields = sent
        if let credentials {
            let octets = Array("\(credentials.user)\u{0}\(credentials.password)".utf8)
            try? fields.replace("Authorization", "Session \(base64Text(octets))")
        }
        // The engine writes Host. A Host of the caller's own may name another server than the URL does.
        if let host = request.fields?["Host"] { try? fields.replace("Host", host) }
        security.mark(&fields, with: identity)
        return fields
    }

    /// Whether the transaction's server was trusted in spite of its certificate: then nothing of its answer is stored.
    func isExcused(_ client: Client) -> Bool {
        transaction.map { (security ?? client.security).hasExcused($0.place.origin) } ?? false
    }

    /// Updates a stored response that was served stale (RFC 5861 §3), by a request under the task's terms.
    ///
    /// - Parameter isAsked: whether the task's delegate decides what is stored.
    mutating func refresh(
        _ found: StoredAnswer,
        _ conditions: [(name: String, value: [UInt8])],
        _ owner: any LoadOwner,
        _ client: Client
    ) {
        guard let store = client.settings.answers, let place = try? HTTPURL(mending: request.url) else { return }
        var secrets: [(name: String, value: [UInt8])] = []
        // The request carries the credentials of the user that was served: another user may get other content under the
        // same URL.
        let scope = CookieScope(place)
        if let cookies = cookieField(scope, client.settings) { secrets.append(("Cookie", cookies)) }
        do throws(LoadError) {
            let answer = try authorization(place, owner, client)
            if let answer { secrets.append(("Authorization", answer.octets)) }
            security = ownSecurity(to: place, owner, client)
            let security = security ?? client.security
            var builder = try builder(.none, to: place, owner, client)
            (builder.extra, builder.secrets) = (conditions, secrets)
            let (made, sent) = try builder.build(to: place)
            let fields = selecting(sent, answer?.credentials, nil, client.security)
            let (isAsked, vary) = (owner.decidesOnStoring, client.settings.vary)
            let refresh = CacheRefresh(found, in: store, isAsked: isAsked, request.url, vary) { connection in
                guard !security.hasExcused(place.origin) else { return nil }
                var fields = fields
                security.mark(&fields, with: connection?.security?.shownIdentity)
                return fields
            } hear: { [request, isAuthorizedAlone, settle = owner.cookieKeeper] response in
                client.keepCookies(of: response, from: place, to: request)
                settle?(response, scope, request)
                if let answer, !isAuthorizedAlone {
                    client.authorizations.note(response.fields, for: place, in: answer.space)
                }
            }
            client.engine.start(made, delegate: refresh)
        } catch {
            // The program has the stored answer; the next request tries again.
        }
    }

    /// Returns the stored answer as the transaction's 304 has updated it; nil if the request turned out to be another
    /// user's than the answer was stored for.
    func updatedStored(_ fresh: StoredExchange, _ client: Client) -> StoredAnswer? {
        guard let transaction, let stored else { return nil }
        let (fields, vary) = (selecting(transaction, client), client.settings.vary)
        guard vary.isSameAsker(stored.exchange.record, fields) else { return nil }
        return stored.updated(fresh, for: fields, vary)
    }

    /// How the answer is stored; nil: not at all.
    func storage(of response: LocatedHead, _ storage: CacheStorage, _ client: Client) -> CacheStorage? {
        guard storage == .inMemory || storage == .everywhere, let limit = client.settings.answers?.contentLimit,
            response.length <= limit
        else { return nil }
        return storage
    }

    /// Compares the answer to a HEAD with what is stored for GET (RFC 9111 §4.3.5).
    ///
    /// - Returns: nil if that is done; if what is stored is not in memory, a function that reads it, which blocks, and
    ///   compares.
    func compare(_ response: LocatedHead, _ client: Client) -> (@Sendable () -> Void)? {
        guard let transaction, let store = client.settings.answers else { return nil }
        let key = CacheKey(method: "GET", url: transaction.url)
        // As it was sent, in the form in which it is compared with other requests.
        let (request, vary) = (selecting(transaction, client), client.settings.vary)
        let (requested, received) = (transaction.sent, unixTime())
        let compare: @Sendable (StoredAnswer) -> Void = { answer in
            guard vary.matches(answer.exchange.record, request) else { return }
            let effect = CacheRule.effect(
                ofHead: response.fields,
                status: response.status,
                on: answer.exchange,
                requested: requested,
                received: received
            )
            switch effect {
            case .none: break
            case .update(let fresh): store.keep(answer.updated(fresh, for: request, vary), for: key)
            case .remove: store.discard(key)
            }
        }
        switch store.find(key) {
        case .nothing: return nil
        case .answer(let answer):
            compare(answer)
            return nil
        case .unread: return { if let answer = store.read(key) { compare(answer) } }
        }
    }
}
