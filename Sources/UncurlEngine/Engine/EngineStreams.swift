internal import UncurlReactor
public import UncurlSemantics
internal import UncurlTLS

/// Connections that do not begin with HTTP, through proxies where there are any.
extension Engine {
    /// Opens a connection to `origin`, with TLS if its scheme is https, and gives it away: it belongs to no pool, and
    /// does not wait for a place in one. HTTP proxies are asked for a tunnel.
    ///
    /// - Parameters:
    ///   - origin: the host and the port; with `https` the connection begins with a TLS handshake.
    ///   - options: those about the connection apply: endpoint, proxies, TLS, addresses, limit on connecting.
    ///   - then: called once on the loop, and never before this call has returned; not after ``StreamDial/cancel()``.
    @discardableResult
    public func open(
        _ origin: Origin,
        options: EngineRequest.Options = EngineRequest.Options(),
        then: @escaping (Result<UpgradedConnection, EngineError>) -> Void
    ) -> StreamDial {
        ask(options, then) { asker, limit in
            guard !isDraining else { return asker.ended(.failure(.shutDown)) }
            startDial(makeHost(Destination(origin, options, needsTunnel: true)), .stream(asker, limit))
        }
    }

    /// Begins TLS with `origin` on a connection in use, as STARTTLS and the like agree on. The old connection is over,
    /// and the new one is given to `then` as by ``open(_:options:then:)``. Everything queued must have been sent.
    ///
    /// - Parameters:
    ///   - connection: a connection in use; it belongs to the engine from here on.
    ///   - origin: the server that must show a certificate for its host.
    ///   - rest: what was read from the connection and not used. The handshake reads it, and usually fails because of
    ///     it: a peer sends nothing between its consent and the client's first message.
    ///   - options: TLS and the limit on connecting apply; the limit is that on the handshake here.
    ///   - then: called once on the loop, and never before this call has returned.
    @discardableResult
    public func secure(
        _ connection: UpgradedConnection,
        as origin: Origin,
        having rest: [UInt8],
        options: EngineRequest.Options = EngineRequest.Options(),
        then: @escaping (Result<UpgradedConnection, EngineError>) -> Void
    ) -> StreamDial {
        ask(options, then) { asker, limit in
            guard !isDraining else {
                connection.close()
                return asker.ended(.failure(.shutDown))
            }
            let unread = connection.takeUnread()
            guard let link = connection.surrender() else {
                return asker.ended(.failure(.connectionLost(nil)))
            }
            var options = options
            (options.endpoint, options.proxies, options.localAddress) = (.origin, .direct, nil)
            let destination = Destination(Origin(securing: origin), options)
            newDial(makeHost(destination), .stream(asker, limit))
                .secure(link, connection.record, rest + unread, timeout: limit)
        }
    }

    /// - Parameter begin: gets the limit on connecting.
    private func ask(
        _ options: EngineRequest.Options,
        _ then: @escaping (Result<UpgradedConnection, EngineError>) -> Void,
        _ begin: (StreamDial, Duration?) -> Void
    ) -> StreamDial {
        let asker = StreamDial(on: loop, cancelled: { [self] in abandonDial(of: $0) }, then: then)
        asker.start { begin(asker, (options.timeouts ?? configuration.timeouts).connect) }
        return asker
    }

    private func abandonDial(of asker: StreamDial) {
        let its = dials.values.first { dial in
            if case .stream(let other, _) = dial.purpose { other === asker } else { false }
        }
        if let its {
            abandon(its)
            feedStarved()
        }
        endIfDrained()
    }

    /// Takes a connection out of the engine's table and gives its link to an upgraded one.
    ///
    /// - Parameter unread: the bytes that have already come for it.
    func giveAway(_ connection: Connection, unread: [UInt8] = []) -> UpgradedConnection {
        let (number, peerFinished) = (connection.number, connection.peerFinished)
        let given = UpgradedConnection(
            connection.giveAway(),
            record: connection.record,
            unread: unread,
            peerFinished: peerFinished
        ) { [self] in observe(.closed(connection: number, $0)) }
        forget(connection)
        return given
    }
}

/// Connections that carry no request, for tests of handshakes.
extension Engine {
    /// Opens a connection as `request` would need it, proxies and TLS included, sends nothing over it, and ends it.
    ///
    /// `then` is called once on the loop, and never before this call has returned: with the connection's record when it
    /// is closed, or with the error that kept it from opening. Both sides end the connection in order, so that tickets
    /// arrive for the next one; the peer has as much time for that as for a connect. With
    /// ``EngineConfiguration/closesAbruptly`` it ends at once. The connection belongs to no pool.
    public func probe(_ request: EngineRequest, then: @escaping (Result<ConnectionRecord, EngineError>) -> Void) {
        let probe = Probe(on: loop) { [self] probe, outcome in
            then(outcome)
            probes[ObjectIdentifier(probe)] = nil
            endIfDrained()
        }
        probes[ObjectIdentifier(probe)] = probe
        probe.start {
            guard !isDraining else { return probe.failed(.shutDown) }
            let limit = (request.options.timeouts ?? configuration.timeouts).connect
            observe(.dialling(request.origin))
            newDial(makeHost(request.destination), .probe(probe, limit)).start(timeout: limit)
        }
    }

    func part(_ probe: Probe, _ limit: Duration?, _ link: consuming Link, _ record: ConnectionRecord) {
        guard configuration.closesAbruptly else {
            return probe.part(link, record, at: limit.map(loop.now.advanced(by:)) ?? .never)
        }
        link.close(abruptly: true)
        probe.succeeded(record)
    }
}
