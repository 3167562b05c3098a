internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import Synchronization
internal import TLS

/// How each transaction begins: by a class of the user's, from here, or over the network.
extension TaskLoad {
    /// Begins with the order's content, or begins anew with another request.
    func start(_ request: URLRequest) {
        self.request = prepared(request)
        guard sendsContent else {
            content = .none
            return transact()
        }
        // A proxy has asked first, or a server that was asked whether it wants the content.
        if case .stream(let stream) = content, stream.isUnread(for: request) { return transact() }
        do throws(URLError) {
            content = try UploadContent(order.content, request)
        } catch {
            return end(error)
        }
        switch (order.content, content) {
        case (.stream, .none): askForStream()
        case (_, .stream) where hasReadStream: askForStream()
        case (_, .stream):
            hasReadStream = true
            transact()
        case (_, .segments(let body)) where hasReadStream && !body.isReplayable:
            end(ErrorTranslation.urlError(.requestBodyStreamExhausted, request.url, ContentUsedUp()))
        case (_, .segments):
            hasReadStream = true
            transact()
        case (_, .none), (_, .data), (_, .file): transact()
        }
    }

    func transact() {
        if isSuspended {
            phase = .starting(nil)
            return whenRunning { [self] in transact() }
        }
        let length = content.length
        task.snapshot.withLock { $0.counts.expectedToSend = length }
        sent = 0
        if let load = ProtocolLoad.make(for: self) {
            phase = .loading(.classLoad(load))
            return load.begin()
        }
        loadItself()
    }

    /// By this module: from here, from the cache, or over the network.
    func loadItself() {
        if isSocket { return beginSocket() }
        guard let url = request.url else {
            return end(ErrorTranslation.urlError(.badURL, nil, "the request has no URL"))
        }
        switch url.scheme {
        case "http", "https": lookIntoCache(url)
        case "data", "file": load(from: LocalLoad(url, self))
        case let scheme?:
            if scheme != scheme.lowercased(), let other = URLText.withLowercaseScheme(url) {
                request.url = other
                return loadItself()
            }
            end(ErrorTranslation.urlError(.unsupportedURL, url, "nobody loads URLs of the scheme “\(scheme)”"))
        case nil: end(ErrorTranslation.urlError(.unsupportedURL, url, "the URL has no scheme"))
        }
    }

    func load(from local: LocalLoad) {
        phase = .loading(.local(local))
        local.begin()
    }

    /// - Parameter conditions: fields that make the request conditional, for the cache.
    func exchange(_ url: URL, _ conditions: [(name: String, value: String)] = []) {
        let network = engine.engine
        do throws(URLError) {
            let (plan, authorization) = try plan(url, conditions)
            transaction = Transaction(plan: plan, sent: Transaction.now, authorized: authorization)
            let id = network.start(plan.request, delegate: self, priority: priority)
            // Content in memory may leave within that call, and be told; nothing else is before it has returned.
            switch phase {
            case .new, .starting, .asking: phase = .loading(.exchange(id))
            case .loading, .draining, .ended: network.cancel(id)
            }
        } catch {
            end(error)
        }
    }

    /// The request for the engine, and the answer to a challenge in it.
    private func plan(
        _ url: URL,
        _ conditions: [(name: String, value: String)]
    ) throws(URLError) -> (RequestPlan, SentAuthorization?) {
        // An upload's content is not the request's: the same request may have been sent without any. Nor are the rates, which stay the task's
        // when it goes on with another request.
        let isRepeatable = !isSocket && !isAmongStrangers && content.isEmpty && order.request?.rates == nil
        var last: RequestPlan?
        if isRepeatable, let plan = engine.lastPlan, plan.serves(request, url) { last = plan }
        let place: HTTPURL
        if let last { place = last.place } else { place = try RequestBuilder.place(url) }
        let scope = last?.scope ?? CookieScope(place)
        var extra = conditions + resumptionFields()
        if let cookies = cookieField(scope) { extra.append(("Cookie", cookies)) }
        let authorization = try authorization(url, place)
        if let authorization { extra.append(("Authorization", authorization.value)) }
        if extra.isEmpty, let last { return (last, nil) }
        var builder = RequestBuilder(settings: engine.settings, request: request, url: url, content: content)
        builder.extra = extra
        builder.proxies = engine.proxies
        builder.context = try context(for: place, url)
        builder.rates = order.request?.rates
        builder.isAmongStrangers = isAmongStrangers
        builder.handshake = opening?.handshake
        let (made, fields) = try builder.build(to: place)
        let plan = RequestPlan(made, fields, to: place, scope, for: request, url)
        if extra.isEmpty, isRepeatable { engine.lastPlan = plan }
        return (plan, authorization)
    }

    /// How to speak to an https server; nil for others.
    func context(for place: HTTPURL, _ url: URL) throws(URLError) -> TLSContext? {
        guard place.scheme == .https else { return nil }
        do throws(TLSError) {
            return try engine.context()
        } catch {
            throw ErrorTranslation.error(.tls(error), url)
        }
    }

    /// As the engine counts it: 0.5, the default, is its usual one.
    private var priority: UInt8 { UInt8(clamping: Int(task.snapshot.withLock { $0.priority } * 256)) }

    /// The jar's, unless the request has its own or wants none.
    func cookieField(_ scope: CookieScope) -> String? {
        let settings = engine.settings
        guard settings.setsCookies, let cookies = settings.cookies, request.httpShouldHandleCookies else { return nil }
        if let own = request.values.fields, own.contains(.cookie) { return nil }
        return cookies.cookieHeader(for: scope, mainDocumentURL: request.mainDocumentURL)
    }

    /// A redirect or a challenge: another request follows on this answer.
    func follow(_ next: URLRequest, after held: Held) { settle(held) { [self] in start(next) } }

    /// Nobody wants what is left of this answer: it is read if it is short, so that its connection serves the next.
    func settle(_ held: Held, _ next: @escaping () -> Void) {
        switch held {
        case .source(.exchange(let id)):
            let timer = engine.loop.arm(
                at: engine.loop.now.advanced(by: Drain.limit),
                Alarm { [weak self] in
                    self?.engine.engine.cancel(id)
                }
            )
            phase = .draining(Drain(exchange: id, timer: timer, next: next))
            engine.engine.resume(id)
        case .source(let source):
            phase = .starting(nil)
            drop(source)
            response = nil
            next()
        case .nothing, .complete:
            (phase, response) = (.starting(nil), nil)
            next()
        }
    }

    /// False: there is more than is worth reading.
    func drained(_ count: Int, of drain: Drain) -> Bool {
        var drain = drain
        drain.left -= count
        phase = .draining(drain)
        return drain.left >= 0
    }

    /// Its exchange is over, read to its end or given up.
    func drained(_ drain: Drain) {
        engine.loop.cancel(drain.timer)
        (phase, response) = (.starting(nil), nil)
        drain.next()
    }

    /// An answer that is not the last one, on its way to its end.
    struct Drain {
        let exchange: ExchangeID
        let timer: TimerID
        let next: () -> Void
        /// More than a redirect's page needs; reading on costs less than a new connection up to about here.
        var left = 64 << 10

        /// Of the whole: a server need not send the rest at all.
        static let limit = Duration.seconds(1)
    }
}
