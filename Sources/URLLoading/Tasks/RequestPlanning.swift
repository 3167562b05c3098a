internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics
internal import UncurlTLS

/// Makes an attempt's request for the engine.
extension Attempt {
    /// Returns the first step, by the rules for stored responses; nil if the request is sent as it is.
    ///
    /// - Parameter found: what is stored for the request.
    mutating func begin(
        with found: CachedURLResponse?,
        _ url: URL,
        _ spec: TaskSpec,
        _ session: URLSession,
        _ engine: SessionEngine
    ) -> Step? {
        let mode = cacheMode(engine.settings)
        stored = found
        if found != nil, listener != nil, let place = try? RequestBuilder.place(url) {
            security = ownSecurity(to: place, spec.request?.values.terms?.values, session, engine)
        }
        rememberNamed(url, engine)
        guard found != nil || mode != .standard || isCacheControlled(engine.settings) else {
            machine.beginUncached()
            return nil
        }
        return machine.begin(
            method: request.values.httpMethod,
            fields: fields(for: found, url, session, engine),
            mode: mode,
            stored: found?.exchange,
            now: UnixTime.now
        )
    }

    /// Makes the request for the engine, and begins a transaction.
    ///
    /// - Parameter conditions: fields that make the request conditional, for the cache.
    mutating func transact(
        _ url: URL,
        _ conditions: [(name: String, value: [UInt8])],
        _ spec: TaskSpec,
        _ session: URLSession,
        _ engine: SessionEngine
    ) throws(URLError) -> EngineRequest {
        // An upload's content is not the request's: the same request may have been sent without any. Nor are the terms,
        // which stay the task's when it continues with another request.
        let terms = spec.request?.values.terms?.values
        let isUsual =
            opening == nil && !hasLeftOrigin && content.isEmpty && terms == nil && proxyFailures == 0 && !hasOwnProxies
            && !offersIdentity
        let prepared = engine.prepared
        let place = try RequestBuilder.place(url, near: prepared?.place)
        security = ownSecurity(to: place, terms, session, engine)
        var extra = conditions + machine.resumptionFields
        if let upload, !content.isEmpty { extra += upload.creationFields.map { ($0.name, Array($0.value.utf8)) } }
        var secrets: [(name: String, value: [UInt8])] = []
        if let cookies = cookieField(CookieScope(place), engine.settings) { secrets.append(("Cookie", cookies)) }
        let authorization = try authorization(url, place, engine)
        if let authorization { secrets.append(("Authorization", authorization.octets)) }
        // Connections of the session are not for a request under another security.
        let isPlain = isUsual && security == nil && extra.isEmpty && secrets.isEmpty
        let (made, fields): (EngineRequest, HTTPFields)
        if isPlain, let prepared, prepared.serves(request.storage), let request = prepared.request(to: place) {
            (made, fields) = (request, prepared.fields)
        } else {
            var builder = try builder(url, content, to: place, terms, session, engine)
            (builder.extra, builder.secrets) = (extra, secrets)
            if let endpoint = terms?.endpoint, isFirstOrigin(place, of: spec) { builder.endpoint = endpoint }
            builder.handshake = opening?.handshake
            (made, fields) = try builder.build(to: place)
            if isPlain { engine.prepared = PreparedRequest(made, fields, to: place, for: request.storage) }
        }
        transaction = Transaction(
            request: made,
            fields: fields,
            place: place,
            url: url,
            sent: UnixTime.now,
            authorized: authorization
        )
        return made
    }

    /// Whether this is the scheme, host and port that the task began with.
    private func isFirstOrigin(_ place: HTTPURL, of spec: TaskSpec) -> Bool {
        guard let url = spec.request?.url else { return false }
        let first = opening == nil ? url : URLText.handshakePlace(of: url) ?? url
        return (try? RequestBuilder.place(first))?.origin == place.origin
    }

    /// Returns the security under which a request is sent; nil for the session's, and where there is no TLS.
    private func ownSecurity(
        to place: HTTPURL,
        _ terms: TransferTerms?,
        _ session: URLSession,
        _ engine: SessionEngine
    ) -> SessionSecurity? {
        guard let listener,
            place.scheme == .https || terms?.proxies?.areSecure ?? engine.proxies.areSecure
        else { return nil }
        return engine.ownSecurity(listener, in: session)
    }

    /// Returns the builder of a request under the task's terms. They have their own proxies, or none for the session's.
    private func builder(
        _ url: URL,
        _ content: UploadContent,
        to place: HTTPURL,
        _ terms: TransferTerms?,
        _ session: URLSession,
        _ engine: SessionEngine
    ) throws(URLError) -> RequestBuilder {
        var builder = builder(url, content, engine)
        builder.terms = terms
        builder.proxies = terms?.proxies
        if builder.proxies == nil { builder.proxies = try proxies(to: place, url, engine) }
        builder.context = try engine.context(for: place, by: builder.proxies, url, of: session)
        builder.evaluator = security
        return builder
    }

    private func builder(_ url: URL, _ content: UploadContent, _ engine: SessionEngine) -> RequestBuilder {
        var builder = RequestBuilder(settings: engine.settings, request: request, url: url, content: content)
        builder.hasLeftOrigin = hasLeftOrigin
        builder.offersIdentity = offersIdentity
        return builder
    }

    /// Returns the storage's cookies, unless the request has its own or wants none.
    private func cookieField(_ scope: CookieScope, _ settings: SessionSettings) -> [UInt8]? {
        guard let cookies = settings.cookieStore else { return givenCookies }
        return takesCookies(settings) ? cookies.header(for: scope, document: request.mainDocumentURL) : nil
    }

    /// Whether the request carries cookies of the session's storage.
    func takesCookies(_ settings: SessionSettings) -> Bool {
        guard settings.setsCookies, request.httpShouldHandleCookies, !isTrace else { return false }
        return request.values.fields?.contains(.cookie) != true
    }

    /// Whether the answer repeats the request: then it carries neither stored cookies nor stored credentials (RFC 9110
    /// §9.3.8).
    private var isTrace: Bool { request.values.httpMethod == "TRACE" }

    /// Returns the credentials that the request carries from the start: the task's answer to a challenge, or one that
    /// this server has accepted before from the task or the session. A field that the caller has set takes precedence.
    private mutating func authorization(
        _ url: URL,
        _ place: HTTPURL,
        _ engine: SessionEngine
    ) throws(URLError) -> SentAuthorization? {
        if let own = request.values.fields, own.contains(.authorization) { return nil }
        guard !isTrace else { return nil }
        guard machine.hasAuthorizer || !authorizations.isEmpty || !engine.authorizations.isEmpty else { return nil }
        let (method, octets) = (request.values.httpMethod, content.octets)
        do throws(AuthenticationError) {
            let own = try machine.authorization(method: method, target: place.target, content: octets)
            if let own { return own }
        } catch {
            throw ErrorTranslation.urlError(.userAuthenticationRequired, url, error)
        }
        guard known(for: place, engine) != nil else { return nil }
        isAuthorizedAlone = authorizations.credentials(for: place) != nil
        return isAuthorizedAlone
            ? authorizations.authorization(for: place, method: method, target: place.target, content: octets)
            : engine.authorizations.authorization(for: place, method: method, target: place.target, content: octets)
    }

    /// Returns the user name and password that the server has accepted before; nil if the request's URL names others.
    func known(for url: HTTPURL, _ engine: SessionEngine) -> Credentials? {
        let known = authorizations.credentials(for: url) ?? engine.authorizations.credentials(for: url)
        guard let known, let named = namedCredentials else { return known }
        let isSame = named.user == known.user && (request.url?.password == nil || named.password == known.password)
        return isSame ? known : nil
    }

    /// Returns the user name and password with which a request would be sent.
    private func credentials(for url: URL, _ engine: SessionEngine) -> Credentials? {
        if let own = request.values.fields, own.contains(.authorization) { return nil }
        if let authorizer = machine.challenges.authorizer, authorizer.side == .origin { return authorizer.credentials }
        guard !authorizations.isEmpty || !engine.authorizations.isEmpty else { return nil }
        return (try? RequestBuilder.place(url)).flatMap { known(for: $0, engine) }
    }

    // MARK: For the cache

    func cacheMode(_ settings: SessionSettings) -> CacheMode {
        let own = request.cachePolicy
        return CacheMode(own == .useProtocolCachePolicy ? settings.cachePolicy : own)
    }

    /// Whether the request has a Cache-Control field (RFC 9111 §5.2.1). If nothing is stored, no other field matters to
    /// the cache.
    private func isCacheControlled(_ settings: SessionSettings) -> Bool {
        request.values.fields?.contains(.cacheControl) == true || settings.fields.contains(.cacheControl)
    }

    /// Returns the fields that the cache's rules need. If the stored response varies by fields (RFC 9111 §4.1), these
    /// are the fields as they would be sent, since the session adds most of those.
    private func fields(
        for found: CachedURLResponse?,
        _ url: URL,
        _ session: URLSession,
        _ engine: SessionEngine
    ) -> HTTPFields {
        let security = security ?? engine.security
        let plain = engine.settings.fields(with: request.values.fields)
        guard let record = found?.record else { return plain }
        let credentials = credentials(for: url, engine)
        let isAnyone =
            credentials == nil && !engine.settings.vary.identifies(plain) && !security.isSpecial
        guard !isAnyone || !record.varying.isEmpty else { return plain }
        var builder = builder(url, content, engine)
        guard let place = try? RequestBuilder.place(url) else { return plain }
        if let cookies = cookieField(CookieScope(place), engine.settings) {
            builder.secrets.append(("Cookie", cookies))
        }
        guard let sent = try? builder.build(to: place).1 else { return plain }
        let expected = security.expectedIdentity(for: place.origin) {
            ConnectionQuestion.storedDigest(for: place.origin, session)
        }
        return selecting(sent, credentials, expected, security)
    }

    /// Returns the fields of the request that was sent, in the form in which they are compared with other requests'.
    private func selecting(_ transaction: Transaction, _ engine: SessionEngine) -> HTTPFields {
        let credentials = transaction.authorized?.credentials
        return selecting(transaction.fields, credentials, transaction.identity, security ?? engine.security)
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
        _ security: SessionSecurity
    ) -> HTTPFields {
        var fields = sent
        if let credentials {
            let octets = Array("\(credentials.user)\u{0}\(credentials.password)".utf8)
            try? fields.replace("Authorization", "Session \(Data(octets).base64EncodedString())")
        }
        // The engine writes Host. A Host of the caller's own may name another server than the URL does.
        if let host = request.values.fields?["Host"] { try? fields.replace("Host", host) }
        security.mark(&fields, with: identity)
        return fields
    }

    /// Whether the transaction's server was trusted in spite of its certificate: then nothing of its answer is stored.
    func isExcused(_ engine: SessionEngine) -> Bool {
        transaction.map { (security ?? engine.security).hasExcused($0.place.origin) } ?? false
    }

    /// Updates a stored response that was served stale (RFC 5861 §3), by a request under the task's terms.
    ///
    /// - Parameter isAsked: whether the task's delegate decides what is stored.
    mutating func refresh(
        _ found: CachedURLResponse,
        _ url: URL,
        _ conditions: [(name: String, value: [UInt8])],
        _ task: URLSessionTask,
        _ spec: TaskSpec,
        _ isAsked: Bool,
        _ session: URLSession,
        _ engine: SessionEngine
    ) {
        guard let cache = engine.settings.cache, let place = try? RequestBuilder.place(url) else { return }
        var secrets: [(name: String, value: [UInt8])] = []
        // The request carries the credentials of the user that was served: another user may get other content under the
        // same URL.
        let scope = CookieScope(place)
        if let cookies = cookieField(scope, engine.settings) { secrets.append(("Cookie", cookies)) }
        do throws(URLError) {
            let answer = try authorization(url, place, engine)
            if let answer { secrets.append(("Authorization", answer.octets)) }
            let terms = spec.request?.values.terms?.values
            security = ownSecurity(to: place, terms, session, engine)
            let security = security ?? engine.security
            var builder = try builder(url, .none, to: place, terms, session, engine)
            (builder.extra, builder.secrets) = (conditions, secrets)
            let (made, sent) = try builder.build(to: place)
            let fields = selecting(sent, answer?.credentials, nil, engine.security)
            let refresh = CacheRefresh(found, cache, isAsked: isAsked, url, engine.settings.vary) { connection in
                guard !security.hasExcused(place.origin) else { return nil }
                var fields = fields
                security.mark(&fields, with: connection?.security?.shownIdentity)
                return fields
            } hear: { [request, isAuthorizedAlone] response in
                engine.keepCookies(of: response, from: scope, to: request)
                engine.settings.giveCookies(of: response, from: scope, to: request, for: task)
                if let answer, !isAuthorizedAlone {
                    engine.authorizations.note(response.fields.list, for: place, in: answer.space)
                }
            }
            engine.engine.start(made, delegate: refresh)
        } catch {
            // The program has the stored answer; the next request tries again.
        }
    }

    /// Returns the stored answer as the transaction's 304 has updated it; nil if the request turned out to be another
    /// user's than the answer was stored for.
    func updatedStored(_ fresh: StoredExchange, _ engine: SessionEngine) -> CachedURLResponse? {
        guard let transaction, let stored else { return nil }
        let (fields, vary) = (selecting(transaction, engine), engine.settings.vary)
        guard stored.record.map({ vary.isSameAsker($0, fields) }) ?? true else { return nil }
        return stored.updated(fresh, for: fields, vary)
    }

    /// Returns the comparison of the answer to a HEAD with what is stored for GET; nil without a cache.
    func comparison(with response: HTTPURLResponse, _ engine: SessionEngine) -> HeadComparison? {
        guard let transaction, let cache = engine.settings.cache else { return nil }
        return HeadComparison(
            cache: cache,
            key: CacheKey(method: "GET", url: transaction.url),
            request: selecting(transaction, engine),
            head: response.fields.list,
            status: response.statusCode,
            requested: transaction.sent,
            received: UnixTime.now,
            vary: engine.settings.vary
        )
    }

    /// Returns the complete answer as the cache stores it, and its key; nil for an answer without either.
    func cached(_ entry: CacheEntry, _ data: Data, _ engine: SessionEngine) -> (CachedURLResponse, CacheKey)? {
        if let policy = entry.ofClass {
            guard let response, let key = CacheKey(request) else { return nil }
            let made = CachedURLResponse(response: response, data: data, storagePolicy: policy)
            let settings = engine.settings
            let fields = settings.fields(with: request.values.fields, hasLeftOrigin: hasLeftOrigin)
            return (made.answered(fields, at: Date(), settings.vary), key)
        }
        guard let transaction, let response = response as? HTTPURLResponse else { return nil }
        let cached = CachedURLResponse(
            response,
            data: data,
            storage: entry.storage,
            request: selecting(transaction, engine),
            requested: transaction.sent,
            received: entry.received,
            vary: engine.settings.vary
        )
        return (cached, CacheKey(method: "GET", url: transaction.url))
    }
}

extension CachedURLResponse {
    /// The response's age in seconds, by RFC 9111 §4.2.3.
    var age: Int64 {
        guard let exchange else { return 0 }
        return CacheFreshness(exchange, CacheControl(exchange.fields), now: UnixTime.now).age
    }
}

extension SessionEngine {
    /// Returns the TLS context for an https server; nil for others.
    func context(
        for place: HTTPURL,
        by proxies: OriginProxies?,
        _ url: URL,
        of session: URLSession
    ) throws(URLError) -> TLSContext? {
        guard place.scheme == .https else {
            if proxies?.areSecure == true { ask(session) }
            return nil
        }
        do throws(TLSError) {
            return try context(of: session)
        } catch {
            throw ErrorTranslation.error(.tls(error), url)
        }
    }
}
