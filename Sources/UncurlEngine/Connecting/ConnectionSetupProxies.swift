internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

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
            let authorization = try dial.services.authenticators.authorization(
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
            dial.services.authenticators.note(tunnel.fields, of: proxy)
            nextStep(rest)
        case .refused(let refusal, let reusable):
            guard refusal.status == ChallengeAuthenticator.Side.proxy.status else { return fail(.proxy(.refused(refusal))) }
            guard dial.services.authenticators.accept(refusal, of: proxy, refusing: sent, round: dial.proxyRounds)
            else {
                return fail(.proxy(.authenticationRequired(refusal)))
            }
            dial.proxyRounds += 1
            if reusable { ask(tunnel, rest, isRepeated: true) } else { reconnect() }
        }
    }

    /// Asks the proxy on another connection.
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
        if let address = IPAddress(host) { return greet(.address(address), port, rest) }
        switch dial.host.route.proxy?.kind {
        case .socks5: lookUp(host, port, rest)
        case .socks5h, .http, .https, nil: greet(.name(host), port, rest)
        }
    }

    private func greet(_ target: SOCKS5.Target, _ port: UInt16, _ rest: Span<UInt8>) {
        do throws(SOCKS5Error) {
            let machine = try SOCKS5(to: target, port: port, credentials: dial.host.route.proxy?.credentials)
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
            let result: SOCKS5.Step
            do throws(SOCKS5Error) {
                result = try machine.receive(bytes, from: &offset)
            } catch {
                return fail(.proxy(.socks(error)))
            }
            step = .socks(machine)
            switch result {
            case .needsInput: return
            case .open: return nextStep(bytes.extracting(droppingFirst: offset))
            case .send(let message): send(message.span)
            }
            if isOver { return }
        }
    }

    /// Looks a host up for a `socks5` proxy, which gets one address: IPv4 if there is one, since every proxy reaches
    /// that.
    private func lookUp(_ host: String, _ port: UInt16, _ rest: Span<UInt8>) {
        do throws(ResolveError) {
            let resolution = try dial.services.resolver.resolve(host, on: loop) { [weak self] family, result in
                self?.found(family, result, port)
            }
            switch resolution {
            case .known(let addresses):
                guard let address = addresses.first(where: { $0.family == .v4 }) ?? addresses.first else {
                    throw .noAddress
                }
                greet(.address(address), port, rest)
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
            goOn { greet(.address(chosen), port, $0) }
        case _ where !lookup.pending.isEmpty: step = .lookup(lookup, other: found)
        case (.success(let chosen), _), (_, .success(let chosen)?): goOn { greet(.address(chosen), port, $0) }
        case (.failure(let error), .failure(let first)?): lookupFailed(first.joined(with: error))
        case (.failure(let error), nil): lookupFailed(error)
        }
    }
}
