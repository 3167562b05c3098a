package import UncurlEngine
internal import UncurlHTTP1
package import UncurlReactor
package import UncurlSemantics
package import UncurlTLS

/// What loads share on their loop: the settings, the engine, and what was learnt from servers. Loop-confined.
package final class Client {
    package let loop: EventLoop
    package let settings: ClientSettings
    package let security: ClientSecurity
    private let resolver: Resolver
    package let blocking: BlockingPool
    /// The securities of the objects that answer for their own loads.
    private var owned: [ObjectIdentifier: ClientSecurity] = [:]
    /// With so many of them, those whose objects are gone are looked for.
    private var mostOwned = Client.fewOwned
    private static let fewOwned = 4
    private var made: Engine?
    private var madeForHTTP: TLSContext?
    private var madeForStreams: TLSContext?
    /// The credentials that servers have accepted: later requests carry them from the start.
    var authorizations = AuthorizationMemory()
    /// How often stored credentials have been replaced or removed: what was asked for before is not remembered.
    private(set) var replacements = 0
    /// The proxies, with the credentials that the program has given for them since.
    private(set) var proxies: ClientProxies
    /// The last request of which the next ones of its origin may take the head.
    var prepared: PreparedRequest?

    package init(
        on loop: EventLoop,
        _ settings: ClientSettings,
        _ security: ClientSecurity,
        resolver: Resolver,
        blocking: BlockingPool
    ) {
        (self.loop, self.settings, self.security) = (loop, settings, security)
        (self.resolver, self.blocking) = (resolver, blocking)
        proxies = settings.proxies
    }

    /// The engine. It is made when it is first needed: a client that only reads `data:` URLs has none.
    package var engine: Engine {
        if let made { return made }
        var configuration = settings.engine
        configuration.proxies = settings.proxies.configuration
        configuration.trustEvaluator = security
        let engine = Engine(on: loop, configuration: configuration, resolver: resolver, blocking: blocking)
        made = engine
        return engine
    }

    /// Returns the proxies of a connection for a host.
    package func route(for scheme: Origin.Scheme, _ host: String) -> Result<OriginProxies, ProxyFault> {
        proxies.route(for: scheme, host)
    }

    // MARK: TLS

    /// Returns the context for https. It is made for the first https server: OpenSSL takes milliseconds to start, and a
    /// program that only uses http does not need it.
    ///
    /// - Parameter expect: runs before a context is used first.
    func context(_ expect: () -> Void) throws(TLSError) -> TLSContext {
        if let madeForHTTP { return madeForHTTP }
        let context = try security.context()
        expect()
        madeForHTTP = context
        return context
    }

    /// Makes this the context for https.
    package func begin(with context: TLSContext) { madeForHTTP = context }

    /// Returns the context for streams: the client's rules about certificates, without ALPN for HTTP.
    package func streamContext() throws(TLSError) -> TLSContext {
        if let madeForStreams { return madeForStreams }
        let context = try security.streamContext()
        madeForStreams = context
        return context
    }

    /// Returns the security of an object that answers for its loads alone.
    package func security(of owner: ClientSecurity.Owner) -> ClientSecurity {
        let key = ObjectIdentifier(owner)
        // Another object may have the place in memory of one that is gone.
        if let known = owned[key], known.owner === owner { return known }
        if owned.count >= mostOwned {
            owned = owned.filter { $0.value.owner != nil }
            mostOwned = max(Client.fewOwned, 2 * owned.count)
            // No load can take the connections of objects that are gone.
            made?.retireConnections { _, _, evaluator in
                (evaluator as? ClientSecurity).map { $0.isOwned && $0.owner == nil } ?? false
            }
        }
        let new = ClientSecurity(of: owner, in: security)
        owned[key] = new
        return new
    }

    /// The context for TLS with an https proxy; nil without such a proxy.
    private var contextOfProxies: TLSContext? {
        settings.proxies.areSecure ? try? TLSContext.asking : nil
    }

    // MARK: What is forgotten

    /// Gives these credentials to the proxy for that origin from here on; see ``ClientProxies/use(_:for:after:)``.
    func use(_ credentials: Credentials, forProxyTo origin: Origin, after failures: Int) {
        prepared = nil
        proxies.use(credentials, for: origin, after: failures)
    }

    /// Closes the connections.
    package func shutDown() {
        made?.shutdown()
        made = nil
        prepared = nil
    }

    /// Forgets what was learnt from servers, so that it is not used again: connections, challenges, tickets.
    ///
    /// - Parameter hasLoads: whether loads are under way. They keep their connections to their ends.
    package func forget(hasLoads: Bool) {
        for context in [madeForHTTP, madeForStreams, contextOfProxies] { context?.sessions.removeAll() }
        prepared = nil
        authorizations.forgetAll()
        proxies = settings.proxies
        (madeForHTTP, madeForStreams) = (nil, nil)
        guard !hasLoads else {
            made?.retireConnections()
            return
        }
        made?.shutdown()
        made = nil
    }

    /// Forgets what is known by a credential for this host, which its store has replaced or removed: answers to
    /// challenges, connections and tunnels, tickets.
    package func forgetCredentials(for host: String, _ port: Int, isProxy: Bool) {
        replacements += 1
        prepared = nil
        for context in [madeForHTTP, madeForStreams] { context?.sessions.removeAll() }
        let wanted = host.lowercased()
        func isPlace(_ host: String, _ number: UInt16) -> Bool { host.lowercased() == wanted && Int(number) == port }
        if isProxy {
            proxies = settings.proxies
            made?.retireConnections { _, proxy, _ in proxy.map { isPlace($0.host.bare, $0.port) } ?? false }
        } else {
            authorizations.forget(host: host, port: port)
            made?.retireConnections { origin, _, _ in isPlace(origin.host, origin.port) }
        }
    }

    /// Lets loads that begin from here on have new connections. Loads under way keep theirs to their ends.
    package func renewConnections() { made?.retireConnections() }

    // MARK: What is kept of answers

    func keepCookies(of response: LocatedHead, from place: HTTPURL, to request: Request) {
        guard let cookies = settings.cookies, request.handlesCookies, response.fields.contains(.setCookie) else {
            return
        }
        let lines = response.fields.octets(of: "Set-Cookie")
        cookies.store(lines, CookieScope(place), request.document)
    }
}
