internal import Dispatch
internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import TLS

/// A session's part on its loop: the engine and the loads on it. Loop-confined.
final class SessionEngine {
    let loop: EventLoop
    let settings: SessionSettings
    let batch: BatchedResumption
    let security: SessionSecurity
    private var made: Engine?
    private var madeForHTTP: TLSContext?
    private var madeForStreams: TLSContext?
    /// In no order; each knows its index.
    private(set) var loaders: [TaskLoader] = []
    /// What servers have taken before, and are given unasked.
    var authorizations = AuthorizationMemory()
    /// With the credentials that proxies have been given since.
    private(set) var proxies: ProxyConfiguration
    /// The request sent last, for the next that says the same: most programs ask one URL again and again.
    var lastPlan: RequestPlan?

    init(on loop: EventLoop, _ settings: SessionSettings, _ security: SessionSecurity) {
        self.loop = loop
        batch = BatchedResumption(on: loop)
        self.settings = settings
        proxies = settings.proxies.configuration
        self.security = security
    }

    /// Made when it is first needed: a session that only reads `data:` URLs has none.
    var engine: Engine {
        if let made { return made }
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = settings.connectionsPerHost
        configuration.connections = SessionEngine.mostConnections
        configuration.proxies = settings.proxies.configuration
        configuration.trustEvaluator = security
        configuration.recordsLocalAddress = true
        let engine = Engine(
            on: loop,
            configuration: configuration,
            resolver: SharedLoops.resolver,
            blocking: SharedLoops.blocking
        )
        made = engine
        return engine
    }

    /// How https servers are spoken to, made with the first that is met: OpenSSL takes milliseconds to start, which a program that only
    /// speaks http has no use for.
    func context() throws(TLSError) -> TLSContext {
        if let madeForHTTP { return madeForHTTP }
        let context = try security.context()
        madeForHTTP = context
        return context
    }

    /// For streams: the session's rules about certificates, without a word on HTTP.
    func streamContext() throws(TLSError) -> TLSContext {
        if let madeForStreams { return madeForStreams }
        let context = try security.streamContext()
        madeForStreams = context
        return context
    }

    /// What TLS with proxies uses, where there is an https proxy.
    private var contextOfProxies: TLSContext? {
        guard
            settings.proxies.configuration.http?.kind == .https || settings.proxies.configuration.https?.kind == .https
        else { return nil }
        return try? TLSContext.standard
    }

    /// URLSession has no limit over all hosts; this one keeps a crawler from eating every descriptor of its process.
    private static let mostConnections = 1024

    /// The proxy for that URL is told these from here on.
    func use(_ credentials: Credentials, forProxyOf url: URL) {
        lastPlan = nil
        func renewed(_ proxy: Proxy?) -> Proxy? {
            proxy.map { Proxy($0.kind, host: $0.host, port: $0.port, credentials: credentials) }
        }
        if url.scheme == "https" {
            proxies.https = renewed(proxies.https)
        } else {
            proxies.http = renewed(proxies.http)
        }
    }

    func add(_ loader: TaskLoader) {
        loader.move(to: loaders.count)
        loaders.append(loader)
        loader.task.stage = .loading(loader)
    }

    func remove(_ loader: TaskLoader) {
        loader.task.stage = .over
        // The last one takes its place.
        let last = loaders.removeLast()
        guard last !== loader else { return }
        last.move(to: loader.index)
        loaders[loader.index] = last
    }

    /// What the session wants of each request's answers.
    func answerRules(isBackground: Bool) -> AnswerMachine.Rules {
        AnswerMachine.Rules(
            secrets: settings.secrets,
            waitsForConnectivity: settings.waitsForConnectivity,
            triesAgain: isBackground,
            reading: WebURL.read
        )
    }

    /// Connections are closed; loads end as cancelled.
    func shutDown() {
        for loader in loaders { loader.cancel() }
        made?.shutdown()
        made = nil
        lastPlan = nil
    }

    /// Nothing that was learnt from servers is used again: connections, challenges, tickets.
    func forget() {
        for context in [madeForHTTP, madeForStreams, contextOfProxies] { context?.sessions.removeAll() }
        lastPlan = nil
        authorizations.forgetAll()
        proxies = settings.proxies.configuration
        guard loaders.isEmpty else { return }
        made?.shutdown()
        made = nil
        (madeForHTTP, madeForStreams) = (nil, nil)
    }

    // MARK: What answers leave

    func keepCookies(of response: HTTPURLResponse, for attempt: borrowing Attempt) {
        guard let cookies = settings.cookies, let scope = attempt.transaction?.plan.scope,
            attempt.request.httpShouldHandleCookies
        else { return }
        let lines = response.fields.setCookieLines
        guard !lines.isEmpty else { return }
        cookies.store(
            setCookieLines: lines,
            from: scope,
            mainDocumentURL: attempt.request.mainDocumentURL,
            policy: settings.cookiePolicy
        )
    }

    /// A name and a password that a server has taken.
    func store(_ credential: URLCredential, for space: ProtectionSpace) {
        guard let storage = settings.credentials else { return }
        let place = URLProtectionSpace(ProtectionSpaceValues(space))
        guard credential.persistence == .permanent else { return storage.set(credential, for: place) }
        SessionEngine.keeping.async { storage.set(credential, for: place) }
    }

    /// Where the disk is waited for, which a loop does not.
    private static let keeping = DispatchQueue(label: "URLLoading.URLCredentialStorage", qos: .utility)
}
