internal import UncurlReactor
internal import UncurlTLS

/// Connections that carry no request, for tests of handshakes.
extension Engine {
    /// Opens a connection as `request` would need it, proxies and TLS included, sends nothing over it, and ends it.
    ///
    /// `then` is called once on the loop, and never before this call has returned: with the connection's record when it
    /// is closed, or with the error that kept it from opening. Under ``EngineConfiguration/Closing/fin`` both sides end
    /// the connection in order, so that tickets arrive for the next one; the peer has as much time for that as for a
    /// connect. Under ``EngineConfiguration/Closing/rst`` it ends at once. The connection belongs to no pool.
    public func probe(_ request: EngineRequest, then: @escaping (Result<ConnectionRecord, EngineError>) -> Void) {
        let probe = Probe(on: loop) { [self] probe, outcome in
            then(outcome)
            probes.remove(probe)
            endIfDrained()
        }
        probes.insert(probe)
        probe.start {
            guard !isDraining else { return probe.failed(.shutDown) }
            let limit = (request.options.timeouts ?? configuration.timeouts).connect
            let host = makeHost(request.destination)
            observe(.dialling(request.origin))
            let dial = Dial(dialling, owner: self, host: host, purpose: .probe(probe, limit))
            dials.insert(dial)
            dial.start(timeout: limit)
        }
    }

    func dialled(
        _ probe: Probe,
        _ limit: Duration?,
        _ transport: consuming Transport,
        _ token: Token,
        _ record: ConnectionRecord
    ) {
        switch configuration.closing {
        case .rst:
            transport.socket.resetOnClose()
            loop.deregister(token)
            probe.succeeded(record)
        case .fin:
            probe.part(transport, token, record, at: limit.map(loop.now.advanced(by:)) ?? .never)
        }
    }

    func abandonProbes() {
        for probe in probes.all { probe.abandon() }
    }
}
