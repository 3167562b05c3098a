internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor

/// The cache: what it answers by itself, what it has the server asked, and what it keeps (RFC 9111).
extension TaskLoad {
    private var policy: NSURLRequest.CachePolicy {
        let own = request.cachePolicy
        return own == .useProtocolCachePolicy ? engine.settings.cachePolicy : own
    }

    // MARK: Before

    /// Whether the request lets what is stored have a part in its answer.
    var looksIntoCache: Bool { CacheMode(policy).looksIntoCache }

    func lookIntoCache(_ url: URL) {
        validation = nil
        storing = nil
        guard let cache = engine.settings.cache, order.resumption == nil else { return decide(nil, url) }
        switch cache.find(request) {
        case .nothing: decide(nil, url)
        case .response(let found): decide(found, url)
        case .onDisk(let key): read(key, cache, url)
        }
    }

    /// Files are read off the loop; the load asks nobody meanwhile.
    private func read(_ key: CacheKey, _ cache: URLCache, _ url: URL) {
        let question = ask()
        let request = request
        let home = LoopBound(self, on: engine.loop)
        do throws(BlockingPool.Refusal) {
            try SharedLoops.blocking.run(on: engine.loop) {
                cache.load(key, request)
            } then: { found in
                home.value.answered(question) { _ in
                    home.value.phase = .starting(nil)
                    home.value.decide(found, url)
                }
            }
        } catch {
            // No thread to read on: the network knows as well.
            phase = .starting(nil)
            decide(nil, url)
        }
    }

    private func decide(_ found: CachedURLResponse?, _ url: URL) {
        if found == nil, policy == .useProtocolCachePolicy, !isCacheControlled { return exchange(url) }
        let fields = fields(for: found, url)
        let decision = CacheRule.decide(
            method: request.values.httpMethod,
            request: fields,
            mode: CacheMode(policy),
            stored: found?.exchange,
            now: Transaction.now
        )
        switch decision {
        case .load(let mayServeStale):
            if let found, mayServeStale { validation = CacheUse(found, isConditional: false, mayServeStale: true) }
            exchange(url, CacheRule.additions(CacheMode(policy), fields))
        case .validate(let conditions, let mayServeStale):
            if let found { validation = CacheUse(found, isConditional: true, mayServeStale: mayServeStale) }
            exchange(url, conditions)
        case .serve(let age, _, let refresh):
            guard let found else { return exchange(url) }
            serve(found, age: age)
            if let refresh { self.refresh(found, url, refresh) }
        case .fail(.nothingStored):
            let reason = "nothing is cached for this request, and only the cache was to be asked"
            end(ErrorTranslation.urlError(.resourceUnavailable, url, reason))
        case .fail(.gatewayTimeout):
            // RFC 9111 §5.2.1.7.
            let response = HTTPURLResponse(url: url, statusCode: 504, httpVersion: "HTTP/1.1", headerFields: nil)
            guard let response else { return }
            load(from: LocalLoad(response, Data(), self))
        }
    }

    /// The fields as far as the cache's rules care; if a stored answer was selected by some, those as they would be sent
    /// (RFC 9111 §4.1): what an answer varies by is mostly what nobody has set by hand.
    private func fields(for found: CachedURLResponse?, _ url: URL) -> HTTPFields {
        let plain = requestFields
        guard let record = found?.record else { return plain }
        let credentials = credentials(for: url)
        let isAnyone = credentials == nil && !VaryRule.identifies(plain) && !engine.security.hasShownIdentities
        guard !isAnyone || !record.varying.isEmpty else { return plain }
        var builder = RequestBuilder(settings: engine.settings, request: request, url: url, content: content)
        builder.isAmongStrangers = isAmongStrangers
        guard let place = try? builder.place() else { return plain }
        if let cookies = cookieField(CookieScope(place)) { builder.extra.append(("Cookie", cookies)) }
        return (try? builder.build(to: place).1).map { selecting($0, place, credentials) } ?? plain
    }

    /// Fields as they are sent, made fit to be compared with other requests': with whatever else tells who asks.
    ///
    /// - Parameter credentials: those that the session answers challenges with: a Digest answer is another one each time.
    private func selecting(_ sent: HTTPFields, _ place: HTTPURL, _ credentials: Credentials?) -> HTTPFields {
        var fields = sent
        if let credentials {
            let octets = Array("\(credentials.user)\u{0}\(credentials.password)".utf8)
            try? fields.replace("Authorization", "Session \(Data(octets).base64EncodedString())")
        }
        // The engine writes Host. One of the caller's own asks another server than the URL's.
        if let host = request.values.fields?["Host"] { try? fields.replace("Host", host) }
        if let identity = engine.security.identity(shownTo: place.origin) {
            try? fields.replace(VaryRule.clientCertificate, Data(identity).base64EncodedString())
        }
        return fields
    }

    private func selecting(_ transaction: Transaction) -> HTTPFields {
        selecting(transaction.fields, transaction.place, transaction.authorized?.credentials)
    }

    /// Whether the request says a word to caches (RFC 9111 §5.2.1): nothing else is of weight where nothing is stored.
    private var isCacheControlled: Bool {
        request.values.fields?.contains(.cacheControl) == true || engine.settings.fields.contains(.cacheControl)
    }

    /// The request's and the session's own.
    private var requestFields: HTTPFields { engine.settings.fields(with: request.values.fields) }

    private func serve(_ found: CachedURLResponse, age: Int64) {
        isFromCache = true
        let response = found.served(age: age)
        if wantsMetrics {
            let facts = TransactionFacts(stored: response, found.data.count, since: Date())
            transactions.append(URLSessionTaskTransactionMetrics(request, facts))
        }
        load(from: LocalLoad(response, found.data, self))
    }

    /// Brings the cache up to date behind the answer's back (RFC 5861 §3).
    private func refresh(_ found: CachedURLResponse, _ url: URL, _ conditions: [(name: String, value: String)]) {
        var builder = RequestBuilder(settings: engine.settings, request: request, url: url, content: .none)
        guard let cache = engine.settings.cache, let place = try? builder.place() else { return }
        builder.extra = conditions
        builder.proxies = engine.proxies
        builder.isAmongStrangers = isAmongStrangers
        // As whoever was served: others may get other content under the same URL.
        if let cookies = cookieField(CookieScope(place)) { builder.extra.append(("Cookie", cookies)) }
        let answer = try? authorization(url, place)
        if let answer { builder.extra.append(("Authorization", answer.value)) }
        do throws(URLError) {
            builder.context = try context(for: place, url)
            let (made, sent) = try builder.build(to: place)
            let fields = selecting(sent, place, answer?.credentials)
            let refresh = CacheRefresh(found, cache, CacheKey(method: "GET", url: url), fields, url)
            engine.engine.start(made, delegate: refresh)
        } catch {
            // Who was served is content; the next to ask tries again.
        }
    }

    // MARK: After

    /// True if the answer only says that the stored one is good, or is an error that a stored one stands in for.
    func isCacheAnswer(_ response: HTTPURLResponse) -> Bool {
        guard let use = validation, let transaction, let stored = use.cached.exchange else { return false }
        let now = Transaction.now
        if use.isConditional, response.statusCode == 304 {
            let news = response.fields.list
            let key = CacheKey(method: "GET", url: transaction.url)
            let fresh = CacheValidation.freshened(stored, by: news, requested: transaction.sent, received: now)
            let question = ask()
            answered(question) { [self] held in
                settle(held) { [self] in whenRunning { [self] in confirmed(use, by: fresh, key, transaction) } }
            }
            return true
        }
        if use.mayServeStale, CacheRule.isError(response.statusCode) {
            let question = ask()
            answered(question) { [self] held in
                phase = .starting(nil)
                // Not waited for: a server in trouble may never send the rest.
                if case .source(let source) = held { drop(source) }
                serve(use.cached, age: use.cached.age)
            }
            return true
        }
        return false
    }

    /// True if a stored answer stands in for one that could not be had.
    func isCoveredByCache() -> Bool {
        guard let use = validation, use.mayServeStale, response == nil else { return false }
        phase = .starting(nil)
        serve(use.cached, age: use.cached.age)
        return true
    }

    /// - Parameter fresh: nil: the 304 speaks of another one than ours.
    private func confirmed(_ use: CacheUse, by fresh: StoredExchange?, _ key: CacheKey, _ transaction: Transaction) {
        guard let fresh else {
            engine.settings.cache?.discard(key)
            validation = nil
            return exchange(transaction.url)
        }
        let cached = use.cached.updated(fresh)
        engine.settings.cache?.keep(cached, for: key)
        serve(cached, age: cached.age)
    }

    /// Takes note of an answer from the network, one that redirects too: what was stored before may be no good now.
    func invalidateStored(by response: HTTPURLResponse) {
        let method = request.values.httpMethod
        guard !CacheInvalidation.isSafe(method), let cache = engine.settings.cache, let transaction else { return }
        for url in CacheInvalidation.urls(
            method: method,
            url: WebURL(transaction.url),
            status: response.statusCode,
            response: response.fields.list
        ) {
            cache.discard(CacheKey(method: "GET", url: url.text))
        }
    }

    /// Takes note of an answer from the network: whether it is stored.
    func noteForCache(_ response: HTTPURLResponse) {
        guard let cache = engine.settings.cache, let transaction, !isFromCache else { return }
        let fields = response.fields.list
        let method = request.values.httpMethod
        if method == "HEAD" { return noteHead(response, transaction, cache) }
        guard isStorable else { return }
        let permitted = CacheStorage.permitted(
            method: method,
            request: transaction.fields,
            status: response.statusCode,
            response: fields
        )
        guard permitted != .forbidden, response.expectedContentLength <= cache.contentLimit else { return }
        storing = CacheEntry(permitted, received: Transaction.now, limit: cache.contentLimit)
    }

    /// Takes note of an answer of a class's, which says itself whether it may be stored.
    func noteForCache(_ load: ProtocolLoad) {
        storing = nil
        guard let cache = engine.settings.cache, load.storagePolicy != .notAllowed, isStorable else { return }
        storing = CacheEntry(ofClass: load.storagePolicy, limit: cache.contentLimit)
    }

    /// Answers that go to files and streams are not kept, as on Apple's platforms: they are large, and have been kept already.
    private var isStorable: Bool {
        switch order.reception {
        case .data, .awaitedData: !(task is URLSessionDownloadTask)
        case .delegate: !(task is URLSessionDownloadTask)
        case .report(let terms): if case .memory = terms.keeping { true } else { false }
        case .download, .awaitedFile, .bytes: false
        }
    }

    private func noteHead(_ response: HTTPURLResponse, _ transaction: Transaction, _ cache: URLCache) {
        let key = CacheKey(method: "GET", url: transaction.url)
        guard case .response(let cached) = cache.find(key), let stored = cached.exchange,
            VaryRule.matches(stored.record, selecting(transaction))
        else { return }
        let effect = CacheValidation.effect(
            ofHead: response.fields.list,
            status: response.statusCode,
            on: stored,
            requested: transaction.sent,
            received: Transaction.now
        )
        switch effect {
        case .none: break
        case .update(let fresh): cache.keep(cached.updated(fresh), for: key)
        case .remove: cache.discard(key)
        }
    }

    /// The answer is complete: it is stored, after a delegate has had its say. True if he is being asked.
    func isStoring() -> Bool {
        guard let entry = storing, let cache = engine.settings.cache else { return false }
        storing = nil
        guard let data = entry.content(of: sink), let (cached, key) = proposed(entry, data) else { return false }
        guard involvesDelegate, hasListener(for: .caching), listener?.delegate is any URLSessionDataDelegate,
            let dataTask = task as? URLSessionDataTask
        else {
            cache.keep(cached, for: key, by: task as? URLSessionDataTask)
            return false
        }
        ask(.caching, otherwise: Optional(cached)) { session, _, delegate, answer in
            guard let delegate = delegate as? any URLSessionDataDelegate else { return answer.give(cached) }
            delegate.urlSession(session, dataTask: dataTask, willCacheResponse: cached) { answer.give($0) }
        } _: { [self] answer, _ in
            if let answer { cache.keep(cached.record.map(answer.with) ?? answer, for: key, by: dataTask) }
            end(nil)
        }
        return true
    }
}

extension TaskLoad {
    /// What would be stored, and under what.
    private func proposed(_ entry: CacheEntry, _ data: Data) -> (CachedURLResponse, CacheKey)? {
        if let policy = entry.ofClass {
            guard let response, let key = CacheKey(request) else { return nil }
            let made = CachedURLResponse(response: response, data: data, storagePolicy: policy)
            return (made.answered(requestFields, at: Date()), key)
        }
        guard let transaction, let response = response as? HTTPURLResponse else { return nil }
        let cached = CachedURLResponse(
            response,
            data: data,
            storage: entry.storage,
            request: selecting(transaction),
            requested: transaction.sent,
            received: entry.received
        )
        return (cached, CacheKey(method: "GET", url: transaction.url))
    }
}

extension CachedURLResponse {
    /// In seconds, as RFC 9111 §4.2.3 counts it.
    fileprivate var age: Int64 {
        guard let exchange else { return 0 }
        return CacheFreshness(exchange, CacheControl(exchange.fields), now: Transaction.now).age
    }
}
