internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// An engine's part in TLS: layers, reading the trust store off the loop, and decisions about peers. Loop-confined.
final class EngineSecurity {
    private let loop: EventLoop
    private let configuration: EngineConfiguration
    /// Threads for work that may wait for disks.
    private let blocking: BlockingPool
    /// The buffers of TLS by depth; none in an engine that never uses TLS. The second is for TLS inside TLS.
    private var layerBuffers: [TLSBuffers] = []
    private var trustWaiters: [ObjectIdentifier: [() -> Void]] = [:]
    /// The questions about certificates that wait for their answer, by numbers that none has twice: whether one is
    /// trusted, and which one to show. A question is answered only once, and not after its connection was given up.
    private var trustQuestions: [UInt64: (TrustVerdict?) -> Void] = [:]
    private var identityQuestions: [UInt64: (IdentityAnswer?) -> Void] = [:]
    private var lastQuestion: UInt64 = 0

    init(on loop: EventLoop, _ configuration: EngineConfiguration, _ blocking: BlockingPool) {
        self.loop = loop
        self.configuration = configuration
        self.blocking = blocking
    }

    // MARK: Layers

    /// Returns the request's context, or the configuration's, or the process's own, which is made when it is first
    /// used.
    private func context(for destination: Destination) throws(TLSError) -> TLSContext {
        if let context = destination.context ?? configuration.tls { return context }
        return try TLSContext.standard
    }

    /// Returns the context for proxies: what is meant for an origin, such as a client certificate, is not shown to a
    /// proxy.
    private func proxyContext(for destination: Destination) throws(TLSError) -> TLSContext {
        if let context = configuration.proxyTLS { return context }
        return try evaluator(for: destination) == nil ? TLSContext.standard : TLSContext.asking
    }

    /// - Parameter scope: what must be equal besides the name for a session to be resumed.
    func makeLayer(
        _ destination: Destination,
        _ host: String,
        scope: String,
        inside outer: TLSLayer?
    ) throws(TLSError) -> TLSLayer {
        try makeLayer(try context(for: destination), host, scope + owner(of: destination), inside: outer)
    }

    func makeLayer(_ proxy: Proxy, for destination: Destination) throws(TLSError) -> TLSLayer {
        let scope = "proxy \(proxy)" + owner(of: destination)
        return try makeLayer(try proxyContext(for: destination), proxy.host.bare, scope, inside: nil)
    }

    /// Returns the part of a scope that says under whose answers the TLS session is made.
    private func owner(of destination: Destination) -> String {
        guard let scope = evaluator(for: destination)?.resumptionScope, !scope.isEmpty else { return "" }
        return " of \(scope)"
    }

    private func makeLayer(
        _ context: TLSContext,
        _ host: String,
        _ scope: String,
        inside outer: TLSLayer?
    ) throws(TLSError) -> TLSLayer {
        let buffers = tlsBuffers(inside: outer)
        let session = try TLSSession(
            client: context,
            name: try ServerName(host),
            resumptionScope: scope,
            output: buffers.output
        )
        return TLSLayer(session, context.trust, inside: outer, buffers)
    }

    private func tlsBuffers(inside outer: TLSLayer?) -> TLSBuffers {
        let depth = outer?.depth ?? 0
        while layerBuffers.count <= depth {
            layerBuffers.append(TLSBuffers(decrypting: layerBuffers.last?.capacity ?? ReadBuffer.bulk))
        }
        return layerBuffers[depth]
    }

    // MARK: Trust

    /// Begins to read the store of trusted authorities while names are looked up and sockets connected, not after that.
    func prepareTrust(for destination: Destination, by route: Route) {
        for step in route.steps {
            // The handshake reports a context that cannot be made.
            let context: TLSContext? =
                switch step {
                case .secureProxy: try? proxyContext(for: destination)
                case .secure: try? context(for: destination)
                case .tunnel, .socks: nil
                }
            if let context, context.configuration.verifiesServers { prepare(context.trust) }
        }
    }

    private func prepare(_ trust: TrustStore) {
        if !trust.isLoaded { return loadTrust(trust) {} }
        // Handshakes go on with the roots that are there. If there is no thread to check the files now, they are
        // checked five minutes later.
        if trust.claimRefresh() {
            try? blocking.run(on: loop) {
                trust.refresh()
            } then: {
            }
        }
    }

    /// Reads the store on a thread that may wait for disks. `then` is called on the loop once it is there, or has
    /// failed: the handshake finds out which.
    func loadTrust(_ trust: TrustStore, then: @escaping () -> Void) {
        let key = ObjectIdentifier(trust)
        if trustWaiters[key] != nil {
            trustWaiters[key]?.append(then)
            return
        }
        trustWaiters[key] = [then]
        let bound = LoopBound(self, on: loop)
        do throws(BlockingPool.Refusal) {
            try blocking.run(on: loop) {
                trust.load()
            } then: {
                bound.value.trustLoaded(key)
            }
        } catch {
            // There is no thread, so the store is read on the loop: a pause is better than an exchange that never ends.
            trust.load()
            loop.post { bound.value.trustLoaded(key) }
        }
    }

    private func trustLoaded(_ key: ObjectIdentifier) {
        for then in trustWaiters.removeValue(forKey: key) ?? [] { then() }
    }

    /// Returns the evaluator to ask: the request's own, or else the configuration's.
    func evaluator(for destination: Destination) -> (any TrustEvaluator)? {
        destination.evaluator ?? configuration.trustEvaluator
    }

    func timeLimit(for destination: Destination) -> Duration {
        evaluator(for: destination)?.timeLimit(for: destination.origin) ?? configuration.trustTimeout
    }

    /// Asks the evaluator about a server, or about the proxy on the way to it. The answer may come at
    /// any time, or too late.
    ///
    /// - Returns: the question's number, for ``forget(_:)``.
    func ask(
        about trust: PeerTrust,
        of proxy: Proxy?,
        to destination: Destination,
        then: @escaping (TrustVerdict?) -> Void
    ) -> UInt64 {
        let origin = destination.origin
        lastQuestion += 1
        let number = lastQuestion
        trustQuestions[number] = then
        let bound = LoopBound(self, on: loop)
        let answer: @Sendable (TrustVerdict?) -> Void = { [loop] verdict in
            loop.post { bound.value.trustQuestions.removeValue(forKey: number)?(verdict) }
        }
        if let evaluator = evaluator(for: destination) {
            if let proxy {
                evaluator.evaluate(trust, of: proxy, to: origin, answer: answer)
            } else {
                evaluator.evaluate(trust, of: origin, answer: answer)
            }
        } else {
            answer(.builtIn)
        }
        return number
    }

    /// Asks about the certificate that a server wants to see.
    ///
    /// - Returns: the question's number.
    func ask(
        about request: IdentityRequest,
        of destination: Destination,
        then: @escaping (IdentityAnswer?) -> Void
    ) -> UInt64 {
        lastQuestion += 1
        let number = lastQuestion
        identityQuestions[number] = then
        let bound = LoopBound(self, on: loop)
        let answer: @Sendable (IdentityAnswer?) -> Void = { [loop] given in
            loop.post { bound.value.identityQuestions.removeValue(forKey: number)?(given) }
        }
        if let evaluator = evaluator(for: destination) {
            evaluator.chooseIdentity(for: request, of: destination.origin, answer: answer)
        } else {
            answer(.configured)
        }
        return number
    }

    /// Notes that the answer to this question does not count any more.
    func forget(_ question: UInt64) {
        trustQuestions[question] = nil
        identityQuestions[question] = nil
    }
}
