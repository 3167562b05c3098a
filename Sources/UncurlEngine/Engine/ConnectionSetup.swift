internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS
import UncurlText

/// Makes a transport that HTTP can use of a connected socket, in one step after the other; each gets the bytes that
/// come in. It owns the socket and its registration until it hands both over. Loop-confined.
///
/// ```
///   begin ──▶ step ──▶ step ──▶ … ──▶ opened
///             │  ▲
///             ▼  │ the answer
///            waiting (trust store, trust decision)       any ──▶ failed / cancelled
/// ```
final class ConnectionSetup: ReadinessHandler {
    /// The step under way, with its machine.
    enum Step {
        case secure(TLSLayer, proxy: Bool)
        /// CONNECT was sent, with these credentials. `isRepeated`: for a second time, and nothing has come since.
        case tunnel(ProxyTunnel, sent: [UInt8]?, isRepeated: Bool)
        case socks(SOCKS5)
        /// The addresses for a SOCKS proxy; `other` is what the first family has, if it has no IPv4 address.
        case lookup(Lookup, other: Result<IPAddress, ResolveError>?)
        case none
        case over
    }

    let dial: Dial
    private var link: Link
    private var steps: [RouteStep]
    private var step = Step.none
    /// The bytes that came while the step waits for the trust store or a decision. Nothing more is read meanwhile.
    private var held: [UInt8] = []
    private var isWaiting = false

    init(_ dial: Dial, _ link: consuming Link) {
        self.dial = dial
        self.link = link
        steps = dial.host.route.steps.reversed()
        loop.handOver(self.link.token, to: self)
    }

    var loop: EventLoop { dial.engine.loop }

    func begin(_ rest: Span<UInt8> = Span()) { nextStep(rest) }

    /// Releases everything. The dial is not told.
    func cancel() {
        switch step {
        case .over: return
        case .lookup(let lookup, _): lookup.cancel()
        case .secure, .tunnel, .socks, .none: break
        }
        step = .over
        link.drop()
    }

    // MARK: Events

    func ready(_ readiness: Readiness) {
        if let refusal = link.refusal { return fail(.system(refusal)) }
        if readiness.contains(.writable) { flush() }
        guard !isOver else { return }
        if isWaiting {
            // Nothing is read, so the loop would report the end again and again.
            if !readiness.isDisjoint(with: [.hungUp, .failed]) {
                fail(.closedWhileOpening(link.pendingError))
            }
        } else if !readiness.isDisjoint(with: [.readable, .peerFinished, .hungUp, .failed]) {
            receive()
        }
    }

    private func receive() {
        let buffer = loop.readBuffer
        for _ in 0..<Link.readsPerTurn {
            let result: Socket.Read
            do throws(Errno) {
                result = try link.read(into: buffer)
            } catch {
                return ended(error)
            }
            switch result {
            case .wouldBlock: return
            case .endOfStream: return ended(nil)
            case .bytes(let count): buffer.withBytes(count) { pass($0) }
            }
            guard !isOver, !isWaiting else { return }
        }
    }

    /// Passes bytes through the TLS layers that are already open, to the step under way.
    private func pass(_ bytes: Span<UInt8>) {
        guard let layer = link.secure else { return feed(bytes) }
        let count = layer.decrypt(bytes)
        flush()
        if count > 0, !isOver { layer.withPlaintext(count) { feed($0) } }
        guard !isOver else { return }
        switch layer.ending {
        case nil: break
        case .closed: ended(nil)
        // Before all steps are done, only a proxy's layer is open.
        case .failed(let error): fail(.proxy(.tls(error)))
        }
    }

    func feed(_ bytes: Span<UInt8>) {
        switch step {
        case .secure(let layer, let isProxy): handshake(layer, withProxy: isProxy, bytes)
        case .tunnel(let tunnel, let sent, _): feed(tunnel, sent: sent, bytes)
        case .socks(let machine): feed(machine, bytes)
        case .none, .lookup: if !bytes.isEmpty { fail(.unsolicitedBytes) }
        case .over: break
        }
    }

    // MARK: Steps

    /// - Parameter rest: the bytes after the end of the step before; they belong to the next.
    func nextStep(_ rest: Span<UInt8>) {
        step = .none
        switch steps.popLast() {
        case .secureProxy:
            guard let proxy = dial.host.route.proxy else { return }
            secure(rest, withProxy: true) { () throws(TLSError) in
                try dial.engine.security.makeLayer(proxy, for: dial.host.destination)
            }
        case .tunnel(let authority):
            let configuration = dial.engine.configuration
            ask(ProxyTunnel(to: authority, limits: configuration.limits, leniency: configuration.leniency), rest)
        case .socks(let host, let port):
            beginSOCKS(host, port, rest)
        case .secure(let host):
            dial.handshakeBegins()
            secure(rest, withProxy: false) { () throws(TLSError) in
                try dial.engine.security.makeLayer(
                    dial.host.destination,
                    host,
                    scope: dial.scope,
                    inside: link.secure
                )
            }
        case nil:
            guard rest.isEmpty || dial.isForStream else { return fail(.unsolicitedBytes) }
            opened(rest)
        }
    }

    private func secure(_ rest: Span<UInt8>, withProxy isProxy: Bool, _ layer: () throws(TLSError) -> TLSLayer) {
        do throws(TLSError) {
            step = .secure(try layer(), proxy: isProxy)
        } catch {
            return fail(isProxy ? .proxy(.tls(error)) : .tls(error))
        }
        feed(rest)
    }

    private func handshake(_ layer: TLSLayer, withProxy isProxy: Bool, _ bytes: Span<UInt8>) {
        var offset = 0
        let result: Result<TLSSession.Handshake, TLSError>
        do throws(TLSError) {
            result = .success(try layer.session.handshake(bytes, from: &offset))
        } catch {
            result = .failure(error)
        }
        // This also sends an alert if the handshake failed.
        layer.takeOutput { send($0) }
        guard !isOver else { return }
        let rest = bytes.extracting(droppingFirst: offset)
        switch result {
        case .failure(let error):
            fail(isProxy ? .proxy(.tls(error)) : .tls(error))
        case .success(.needsInput):
            break
        case .success(.needsRoots):
            wait(holding: rest)
            dial.awaitsRoots()
            dial.engine.security.loadTrust(layer.trust) { [weak self] in self?.goOn() }
        case .success(.trust(let trust)):
            wait(holding: rest)
            dial.ask(about: trust, ofProxy: isProxy) { [weak self] verdict in
                layer.session.decide(verdict)
                self?.goOn()
            }
        case .success(.identity(let request)):
            wait(holding: rest)
            dial.ask(about: request, ofProxy: isProxy) { [weak self] answer in
                layer.session.present(answer)
                self?.goOn()
            }
        case .success(.done):
            if !isProxy, let info = layer.session.info { dial.handshakeEnded(info) }
            link.wrap(in: layer)
            step = .none
            if rest.isEmpty { nextStep(rest) } else { pass(rest, through: layer, withProxy: isProxy) }
        }
    }

    /// Passes bytes that came after a handshake to the new layer alone: the layers around it have already decrypted
    /// them. A server's tickets may follow the last bytes of its handshake; its data, or its end, only on a stream.
    private func pass(_ rest: Span<UInt8>, through layer: TLSLayer, withProxy isProxy: Bool) {
        let count = layer.decryptOwn(rest)
        flush()
        guard !isOver else { return }
        if case .failed(let error) = layer.ending { return fail(.tls(error)) }
        let isAwaited = dial.isForStream && !isProxy
        guard isAwaited || count == 0 && layer.ending == nil else { return fail(.unsolicitedBytes) }
        layer.withPlaintext(count) { nextStep($0) }
    }

    func wait(holding rest: Span<UInt8>) {
        isWaiting = true
        held = Array(rest)
        updateInterest()
    }

    private func goOn() { goOn { feed($0) } }

    func goOn(_ next: (Span<UInt8>) -> Void) {
        guard isWaiting, !isOver else { return }
        isWaiting = false
        updateInterest()
        let bytes = held
        held = []
        if !isOver { next(bytes.span) }
    }

    // MARK: Sending

    func send(_ bytes: Span<UInt8>) {
        if let layer = link.secure {
            layer.sealAll(bytes)
            if let failure = layer.sealFailure { return fail(.tls(failure)) }
        } else {
            link.queue.append(Array(bytes), isContent: false)
        }
        flush()
    }

    private func flush() {
        do throws(Errno) {
            try link.flushSecure()
            _ = try link.flush()
        } catch {
            // The peer may have sent the reason before it closed, so that is read first.
            guard error.isPeerClosure else { return fail(.closedWhileOpening(error)) }
            link.queue.removeAll()
        }
        updateInterest()
    }

    private func updateInterest() {
        if !isOver { link.updateInterest(reading: !isWaiting, writing: !link.queue.isEmpty) }
    }

    // MARK: Ends

    var isOver: Bool {
        if case .over = step { true } else { false }
    }

    /// - Parameter rest: the first bytes of a server that speaks first.
    private func opened(_ rest: Span<UInt8>) {
        step = .over
        dial.opened(link.take(), unread: Array(rest))
    }

    func fail(_ error: EngineError) {
        guard !isOver else { return }
        let blamed = isWithProxy ? error.ofProxy : error
        cancel()
        dial.failed(blamed)
    }

    private var isWithProxy: Bool {
        switch step {
        case .secure(_, let isProxy): isProxy
        case .tunnel, .socks, .lookup: true
        case .none, .over: false
        }
    }
}

/// The steps of a ``ConnectionSetup`` that a proxy answers.
extension ConnectionSetup {
    // MARK: CONNECT

    /// - Parameters:
    ///   - rest: the bytes that came before CONNECT was sent.
    ///   - isRepeated: whether CONNECT was sent before on this connection.
    func ask(_ tunnel: consuming ProxyTunnel, _ rest: Span<UInt8>, isRepeated: Bool = false) {
        guard let proxy = dial.host.route.proxy else { return }
        var tunnel = tunnel
        do throws(ProxyError) {
            let authorization = try dial.engine.authenticators.authorization(
                for: proxy,
                method: "CONNECT",
                target: tunnel.target,
                content: []
            )
            let request: [UInt8]
            do throws(HTTP1Error) {
                request = try tunnel.ask(authorization: authorization)
            } catch {
                throw .target(error)
            }
            step = .tunnel(tunnel, sent: authorization, isRepeated: isRepeated)
            send(request.span)
        } catch {
            return fail(.proxy(error))
        }
        if !isOver, !rest.isEmpty { feed(rest) }
    }

    func feed(_ tunnel: consuming ProxyTunnel, sent: [UInt8]?, _ bytes: Span<UInt8>) {
        var tunnel = tunnel
        var offset = 0
        do throws(ProxyError) {
            let result = try tunnel.receive(bytes, from: &offset)
            step = .tunnel(tunnel, sent: sent, isRepeated: false)
            proxyAnswered(result, tunnel, sent: sent, bytes.extracting(droppingFirst: offset))
        } catch {
            fail(.proxy(error))
        }
    }

    func proxyAnswered(_ answer: ProxyTunnel.Step, _ tunnel: ProxyTunnel, sent: [UInt8]?, _ rest: Span<UInt8>) {
        guard let proxy = dial.host.route.proxy else { return }
        switch answer {
        case .needsInput:
            break
        case .open:
            dial.engine.authenticators.note(tunnel.fields, of: proxy)
            nextStep(rest)
        case .refused(let refusal, let reusable):
            guard refusal.status == ChallengeAuthenticator.Side.proxy.status else {
                return fail(.proxy(.refused(refusal)))
            }
            guard dial.engine.authenticators.accept(refusal, of: proxy, refusing: sent, round: dial.proxyRounds)
            else {
                return fail(.proxy(.authenticationRequired(refusal)))
            }
            dial.proxyRounds += 1
            if reusable { ask(tunnel, rest, isRepeated: true) } else { reconnect() }
        }
    }

    private func reconnect() {
        cancel()
        dial.connect()
    }

    /// Handles the end of the connection to the proxy. The content of its answer may end with the connection.
    func ended(_ error: Errno?) {
        switch step {
        case .tunnel(_, _, isRepeated: true) where error?.isPeerClosure ?? true:
            // The proxy closed after its refusal without a word of it, and has not read what was sent since.
            reconnect()
        case .tunnel(let tunnel, let sent, _):
            do throws(ProxyError) {
                proxyAnswered(try tunnel.ended(error), tunnel, sent: sent, Span())
            } catch {
                fail(.proxy(error))
            }
        case .secure(let layer, _):
            // The TLS session knows whether the bytes that came were TLS at all.
            let failure = layer.session.inputEnded() ?? .closedInHandshake
            let isKnown = error == nil || failure != .closedInHandshake
            fail(isKnown ? .tls(failure) : .closedWhileOpening(error))
        case .socks, .lookup, .none, .over: fail(.closedWhileOpening(error))
        }
    }

    // MARK: SOCKS

    func beginSOCKS(_ host: String, _ port: UInt16, _ rest: Span<UInt8>) {
        if dial.host.route.proxy?.kind == .socks5, IPAddress(host) == nil { return lookUp(host, port, rest) }
        greet(host, port, rest)
    }

    private func greet(_ host: String, _ port: UInt16, _ rest: Span<UInt8>) {
        do throws(SOCKS5Error) {
            let machine = try SOCKS5(to: host, port: port, credentials: dial.host.route.proxy?.credentials)
            step = .socks(machine)
            send(machine.greeting.span)
        } catch {
            return fail(.proxy(.socks(error)))
        }
        if !isOver, !rest.isEmpty { feed(rest) }
    }

    func feed(_ machine: consuming SOCKS5, _ bytes: Span<UInt8>) {
        var machine = machine
        var offset = 0
        while true {
            let message: [UInt8]?
            do throws(SOCKS5Error) {
                message = try machine.receive(bytes, from: &offset)
            } catch {
                return fail(.proxy(.socks(error)))
            }
            step = .socks(machine)
            if machine.isOpen { return nextStep(bytes.extracting(droppingFirst: offset)) }
            guard let message else { return }
            send(message.span)
            if isOver { return }
        }
    }

    /// Looks a host up for a `socks5` proxy, which gets one address: IPv4 if there is one, since every proxy reaches
    /// that.
    private func lookUp(_ host: String, _ port: UInt16, _ rest: Span<UInt8>) {
        do throws(ResolveError) {
            let resolution = try dial.engine.resolver.resolve(host, on: loop) { [weak self] family, result in
                self?.found(family, result, port)
            }
            switch resolution {
            case .known(let addresses):
                guard let address = addresses.first(where: { $0.family == .v4 }) ?? addresses.first else {
                    throw .noAddress
                }
                greet(address.description, port, rest)
            case .pending(let lookup):
                step = .lookup(lookup, other: nil)
                wait(holding: rest)
            }
        } catch {
            lookupFailed(error)
        }
    }

    /// Fails the dial; for want of a descriptor it waits, and begins again.
    private func lookupFailed(_ reason: ResolveError) {
        let error = ConnectError(attempts: [], resolution: reason)
        guard error.isResourceExhaustion else { return fail(.connect(error)) }
        cancel()
        dial.awaitDescriptor(orFail: .connect(error))
    }

    private func found(_ family: IPAddress.Family, _ result: Result<[IPAddress], ResolveError>, _ port: UInt16) {
        guard case .lookup(let lookup, let other) = step else { return }
        let found = result.flatMap { $0.first.map(Result.success) ?? .failure(.noAddress) }
        switch (found, other) {
        case (.success(let chosen), _) where family == .v4:
            lookup.cancel()
            goOn { greet(chosen.description, port, $0) }
        case _ where !lookup.pending.isEmpty: step = .lookup(lookup, other: found)
        case (.success(let chosen), _), (_, .success(let chosen)?): goOn { greet(chosen.description, port, $0) }
        case (.failure(let error), .failure(let first)?): lookupFailed(first.joined(with: error))
        case (.failure(let error), nil): lookupFailed(error)
        }
    }
}
