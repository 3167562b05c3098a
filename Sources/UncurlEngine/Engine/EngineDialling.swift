internal import UncurlHTTP1
internal import UncurlReactor

/// Opens connections for hosts that have waiters and room.
extension Engine: DialOwner {
    func startDial(_ host: Host, _ purpose: Dial.Purpose) {
        if case .pool = purpose, !hasRoom, !closeEldestIdle() {
            host.pool.dialAbandoned()
            return starved.append(host)
        }
        observe(.dialling(host.destination.origin))
        let dial = Dial(dialling, owner: self, host: host, purpose: purpose)
        dials.insert(dial)
        dial.start(timeout: connectLimit(host, purpose))
    }

    /// Returns the limit for a dial. The dial belongs to the pool; its limit is that of the exchange that it would
    /// serve if it were done now.
    private func connectLimit(_ host: Host, _ purpose: Dial.Purpose) -> Duration? {
        let id: ExchangeID?
        switch purpose {
        case .pool: id = host.pool.firstWaiter
        case .retry(let exchange): id = exchange
        case .stream(_, let limit): return limit
        // A probe brings its own limit.
        case .probe: id = nil
        }
        let request = id.flatMap { exchange($0) }?.request
        return (request?.options.timeouts ?? configuration.timeouts).connect
    }

    func dialled(
        _ dial: Dial,
        _ transport: consuming Transport,
        _ token: Token,
        _ record: ConnectionRecord,
        unread: [UInt8]
    ) {
        dials.remove(dial)
        if case .probe(let probe, let limit) = dial.purpose {
            if let info = record.security { observe(.secured(dial.host.destination.origin, info)) }
            feedStarved()
            return dialled(probe, limit, transport, token, record)
        }
        let connection = makeConnection(consume transport, token, record, dial.host)
        if dial.isRetired { connection.markRetired() }
        switch dial.purpose {
        case .probe:
            break
        case .stream(let asker, _):
            asker.ended(.success(giveAway(connection, unread: unread)))
        case .retry(let id):
            if let exchange = exchange(id) {
                dial.host.pool.redialled()
                assign(connection, to: exchange)
            } else {
                perform(dial.host.pool.redialUnclaimed(connection.id), dial.host)
            }
        case .pool:
            perform(dial.host.pool.dialled(connection.id), dial.host)
        }
        // A stream takes no place. This dial found a descriptor, so the next one may find one too.
        feedStarved()
        endIfDrained()
    }

    private func makeConnection(
        _ transport: consuming Transport,
        _ token: Token,
        _ record: ConnectionRecord,
        _ host: Host
    ) -> Connection {
        let id = connections.reserve()
        let connection = Connection(
            consume transport,
            token: token,
            record: record,
            number: connections.opened,
            id: id,
            host: host,
            engine: self
        )
        connections.fill(id, with: connection)
        configuration.budget?.opened(by: self, open: connections.count)
        if let info = record.security { observe(.secured(host.destination.origin, info)) }
        observe(.opened(connection.number, host.destination.origin, record))
        didOpen?(record)
        return connection
    }

    func dialFailed(_ dial: Dial, _ error: EngineError) {
        dials.remove(dial)
        let host = dial.host
        observe(.dialFailed(host.destination.origin, error))
        switch dial.purpose {
        case .pool:
            if let waiter = host.pool.dialFailed(), let exchange = exchange(waiter) { fail(exchange, error) }
        case .retry(let id):
            host.pool.redialEnded()
            if let exchange = exchange(id) { fail(exchange, error) }
        case .probe(let probe, _):
            feedStarved()
            return probe.failed(error)
        case .stream(let asker, _):
            feedStarved()
            asker.ended(.failure(error))
            return endIfDrained()
        }
        feedStarved()
        perform(host.pool.dialIfNeeded(), host)
        hosts.tidy(host)
        endIfDrained()
    }

    func waiter(for dial: Dial) -> ExchangeID? {
        switch dial.purpose {
        case .pool: dial.host.pool.firstWaiter
        case .retry(let id): exchange(id) == nil ? nil : id
        case .probe, .stream: nil
        }
    }

    func dialUnjudged(_ dial: Dial) {
        abandon(dial)
        feedStarved()
        perform(dial.host.pool.dialIfNeeded(), dial.host)
        endIfDrained()
    }

    func observed(_ event: EngineEvent) { observe(event) }

    func abandon(_ dial: Dial) {
        dials.remove(dial)
        leaveLine(dial)
        dial.cancel()
        switch dial.purpose {
        case .pool: dial.host.pool.dialAbandoned()
        case .retry: dial.host.pool.redialEnded()
        case .probe(let probe, _): return probe.abandon()
        case .stream(let asker, _): return asker.ended(.failure(.shutDown))
        }
        hosts.tidy(dial.host)
    }

    func connectorOptions(to target: Connector.Target, for host: Host) -> Connector.Options {
        var options = Connector.Options()
        let asked = target.family == .unix ? nil : host.destination.localAddress
        options.localAddress = asked ?? localAddresses.next(reaching: target.family)
        return options
    }
}
