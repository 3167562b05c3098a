internal import Dispatch
internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// A session's part on its loop: the engine and its loads. Loop-confined.
final class SessionEngine {
    let loop: EventLoop
    let settings: SessionSettings
    let batch: BatchedResumption
    let security: SessionSecurity
    /// The session's background part; nil for other sessions.
    let background: BackgroundSession?
    /// The securities of the objects that answer for their own tasks.
    private var owned: [ObjectIdentifier: SessionSecurity] = [:]
    /// With so many of them, those whose objects are gone are looked for.
    private var mostOwned = SessionEngine.fewOwned
    private static let fewOwned = 4
    private var made: Engine?
    private var madeForHTTP: TLSContext?
    private var madeForStreams: TLSContext?
    /// The loads, in no order; each knows its index.
    private var loads: [any TaskLoad] = []
    /// The credentials that servers have accepted: later requests carry them from the start.
    var authorizations = AuthorizationMemory()
    /// How often credentials of the storage have been replaced or removed: what was asked for before is not remembered.
    private(set) var replacements = 0
    /// The proxies, with the credentials that the program has given for them since.
    private(set) var proxies: SessionProxies
    /// The last request of which the next ones of its origin may take the head.
    var prepared: PreparedRequest?

    init(
        on loop: EventLoop,
        _ settings: SessionSettings,
        _ security: SessionSecurity,
        _ background: BackgroundSession?
    ) {
        self.loop = loop
        batch = BatchedResumption(on: loop)
        self.settings = settings
        proxies = settings.proxies
        self.security = security
        self.background = background
    }

    /// The engine. It is made when it is first needed: a session that only reads `data:` URLs has none.
    var engine: Engine {
        if let made { return made }
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = settings.connectionsPerHost
        configuration.connections = SessionEngine.mostConnections
        configuration.proxies = settings.proxies.configuration
        configuration.trustEvaluator = security
        configuration.recordsLocalAddress = true
        configuration.limits = settings.responseLimits.parserLimits
        configuration.heldHeadBytes = settings.maximumHeldHeadLength
        configuration.leniency.insert(.chunksBesideLength)
        if settings.acceptsLegacyResponses {
            configuration.leniency.formUnion([.bareLF, .spaceBeforeColon, .junkBeforeStatusLine])
        }
        let engine = Engine(
            on: loop,
            configuration: configuration,
            resolver: SharedLoops.resolver,
            blocking: SharedLoops.blocking
        )
        made = engine
        return engine
    }

    /// Returns the context for https. It is made for the first https server: OpenSSL takes milliseconds to start, and a
    /// program that only uses http does not need it.
    func context(of session: URLSession) throws(TLSError) -> TLSContext {
        if let madeForHTTP { return madeForHTTP }
        let context = try security.context()
        begin(with: context, of: session)
        return context
    }

    /// Makes this the context for https.
    func begin(with context: TLSContext, of session: URLSession) {
        ask(session)
        madeForHTTP = context
    }

    /// Returns the context for streams: the session's rules about certificates, without ALPN for HTTP.
    func streamContext(of session: URLSession) throws(TLSError) -> TLSContext {
        if let madeForStreams { return madeForStreams }
        ask(session)
        let context = try security.streamContext()
        madeForStreams = context
        return context
    }

    /// Returns the security of the object that answers for a task alone; nil if the session's applies.
    ///
    /// - Parameter listener: the task's own.
    func ownSecurity(_ listener: TaskListener?, in session: URLSession) -> SessionSecurity? {
        session.owner(listener).map { security(of: $0) }
    }

    private func security(of owner: SessionSecurity.Owner) -> SessionSecurity {
        let key = ObjectIdentifier(owner)
        // Another object may have the place in memory of one that is gone.
        if let known = owned[key], known.owner === owner { return known }
        if owned.count >= mostOwned {
            owned = owned.filter { $0.value.owner != nil }
            mostOwned = max(SessionEngine.fewOwned, 2 * owned.count)
            // No task can take the connections of objects that are gone.
            made?.retireConnections { _, _, evaluator in
                (evaluator as? SessionSecurity).map { $0.isOwned && $0.owner == nil } ?? false
            }
        }
        let new = SessionSecurity(of: owner, in: security)
        owned[key] = new
        return new
    }

    /// Lets connections ask the session's delegates about servers and proxies. It is called before the first context is
    /// used, and not earlier: it makes a weak reference to the session, after which every reference to the session is
    /// counted five times as slowly.
    func ask(_ session: URLSession) {
        security.ask(ConnectionQuestion.questions(to: session, settings.credentialSubclass))
    }

    /// The context for TLS with an https proxy; nil without such a proxy.
    private var contextOfProxies: TLSContext? {
        settings.proxies.areSecure ? try? TLSContext.asking : nil
    }

    /// The most connections in all. Apple's URLSession has no such limit; this one keeps a crawler from using every
    /// descriptor of its process.
    private static let mostConnections = 1024

    /// Gives these credentials to the proxy for that origin from here on; see ``SessionProxies/use(_:for:after:)``.
    func use(_ credentials: Credentials, forProxyTo origin: Origin, after failures: Int) {
        prepared = nil
        proxies.use(credentials, for: origin, after: failures)
    }

    func add(_ load: any TaskLoad) {
        load.move(to: loads.count)
        loads.append(load)
        load.task.stage = .loading(load)
    }

    func remove(_ load: any TaskLoad) {
        load.task.stage = .over
        // The last load takes its place.
        let last = loads.removeLast()
        guard last !== load else { return }
        last.move(to: load.index)
        loads[load.index] = last
    }

    var hasSeveralLoads: Bool { loads.count > 1 }

    /// Closes the connections; loads end as cancelled.
    func shutDown() {
        for load in loads { load.cancel(.atOnce) }
        made?.shutdown()
        made = nil
        prepared = nil
    }

    /// Forgets what was learnt from servers, so that it is not used again: connections, challenges, tickets.
    func forget() {
        for context in [madeForHTTP, madeForStreams, contextOfProxies] { context?.sessions.removeAll() }
        prepared = nil
        authorizations.forgetAll()
        proxies = settings.proxies
        (madeForHTTP, madeForStreams) = (nil, nil)
        // Loads under way keep their connections to their ends.
        guard loads.isEmpty else {
            made?.retireConnections()
            return
        }
        made?.shutdown()
        made = nil
    }

    /// Forgets what is known by a credential of this space, which its storage has replaced or removed: answers to
    /// challenges, connections and tunnels, tickets.
    func forget(_ space: ProtectionSpaceValues) {
        replacements += 1
        prepared = nil
        for context in [madeForHTTP, madeForStreams] { context?.sessions.removeAll() }
        func isPlace(_ host: String, _ port: UInt16) -> Bool {
            host.lowercased() == space.host.lowercased() && Int(port) == space.port
        }
        if space.isProxy {
            proxies = settings.proxies
            made?.retireConnections { _, proxy, _ in proxy.map { isPlace($0.host.bare, $0.port) } ?? false }
        } else {
            authorizations.forget(host: space.host, port: space.port)
            made?.retireConnections { origin, _, _ in isPlace(origin.host, origin.port) }
        }
    }

    /// Lets loads that begin from here on have new connections. Loads under way keep theirs to their ends.
    func renewConnections() { made?.retireConnections() }

    // MARK: What is kept of answers

    func keepCookies(of response: HTTPURLResponse, from scope: CookieScope, to request: URLRequest) {
        guard let cookies = settings.cookieStore, request.httpShouldHandleCookies else { return }
        let lines = response.fields.setCookieLines
        guard !lines.isEmpty else { return }
        cookies.store(
            setCookieLines: lines,
            from: scope,
            document: request.mainDocumentURL,
            policy: settings.cookiePolicy
        )
    }

    /// Stores a name and a password that a server has accepted from the task. Those that the storage had are not stored
    /// again: the program may have replaced them meanwhile.
    func store(_ credential: URLCredential, for space: ProtectionSpace, _ task: URLSessionTask, isStored: Bool) {
        guard credential.persistence != .none else { return }
        let place = URLProtectionSpace(ProtectionSpaceValues(space))
        settings.credentialSubclass?.set(credential, for: place, task)
        guard !isStored, let storage = settings.credentials else { return }
        SessionEngine.keeping.async { storage.add(credential, for: place) }
    }

    /// Runs `call` when the credentials that are on their way to their storage have arrived there.
    func whenKept(_ call: @escaping @Sendable () -> Void) {
        guard let storage = settings.credentialSubclass else { return SessionEngine.keeping.async(execute: call) }
        storage.whenKept(call)
    }

    /// The queue for work that waits for the disk, or for the storage's observers, which a loop must not do.
    private static let keeping = DispatchQueue(label: "URLLoading.URLCredentialStorage", qos: .utility)
}
