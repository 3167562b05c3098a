internal import HTTP1
internal import Reactor

/// Who gets which connection, and what happens when an exchange or a connection ends.
extension Engine {
    // MARK: Leasing

    func host(for destination: Destination) -> Host {
        if let lastHost, lastHost.destination == destination { return lastHost }
        if let host = hosts[destination] {
            lastHost = host
            return host
        }
        let host = Host(destination, limit: configuration.connectionsPerHost)
        hosts[destination] = host
        lastHost = host
        return host
    }

    /// The connection just come free, without the way through the pool: it counts as busy all along.
    func takeWarm(for request: EngineRequest) -> Connection? {
        guard let connection = warm, connection.host.destination == request.destination else { return nil }
        warm = nil
        return connection
    }

    /// The warmest idle connection that still lives.
    func takeIdle(_ host: Host) -> Connection? {
        while let id = host.pool.takeIdle() {
            guard let connection = connections[id] else {
                host.pool.discardBusy()
                continue
            }
            if connection.isAlive { return connection }
            host.pool.discardBusy()
            connections.remove(id)
            connection.close(abruptly: false)
        }
        return nil
    }

    func enqueue(_ exchange: Exchange, _ host: Host) {
        let (ticket, step) = host.pool.wait(exchange.id)
        exchange.phase = .waiting(host, ticket, since: loop.now)
        exchange.watch(at: loop.now)
        perform(step, host)
    }

    func assign(_ connection: Connection, to exchange: Exchange) {
        connection.lease(to: exchange)
        exchange.phase = .running(connection)
        exchange.lastActivity = loop.now
        exchange.report.timings.leased = loop.now
        exchange.report.connection = connection.record
        exchange.report.reusedConnection = connection.isReused
        connection.send(exchange)
        if connection.isServing(exchange) { exchange.watch(at: loop.now) }
    }

    func perform(_ step: ConnectionPool.Step, _ host: Host) {
        switch step {
        case .assign(let connection, let exchange):
            guard let connection = connections[connection], let exchange = self.exchange(exchange) else { return }
            assign(connection, to: exchange)
        case .dial:
            startDial(host, .pool)
        case .park(let id):
            guard let connection = connections[id] else { return }
            connection.park()
            if isDraining || !starved.isEmpty { connectionDied(connection) }
        case .nothing:
            break
        }
    }

    // MARK: Dialling

    private func startDial(_ host: Host, _ purpose: Dial.Purpose) {
        if case .pool = purpose, !hasRoom, !closeEldestIdle() {
            host.pool.dialAbandoned()
            if !host.isStarved {
                host.isStarved = true
                starved.append(host)
            }
            return
        }
        let dial = Dial(engine: self, host: host, purpose: purpose)
        dials[ObjectIdentifier(dial)] = dial
        dial.start(timeout: configuration.timeouts.connect)
    }

    func dialled(_ dial: Dial, _ socket: consuming Socket, _ token: Token, _ timings: ConnectTimings) {
        dials[ObjectIdentifier(dial)] = nil
        let record = ConnectionRecord(timings: timings)
        let connection = makeConnection(consume socket, token, record, dial.host)
        if case .retry(let id) = dial.purpose, let exchange = exchange(id) {
            dial.host.pool.redialled()
            assign(connection, to: exchange)
        } else {
            perform(dial.host.pool.dialled(connection.id), dial.host)
        }
        endIfDrained()
    }

    private func makeConnection(
        _ socket: consuming Socket,
        _ token: Token,
        _ record: ConnectionRecord,
        _ host: Host
    ) -> Connection {
        let id = connections.reserve()
        let connection = Connection(consume socket, token: token, record: record, id: id, host: host, engine: self)
        connections.fill(id, with: connection)
        return connection
    }

    func dialFailed(_ dial: Dial, _ error: EngineError) {
        dials[ObjectIdentifier(dial)] = nil
        let host = dial.host
        // Out of descriptors while some lie parked: give one back and try once more.
        if case .connect(let cause) = error, cause.isResourceExhaustion, closeEldestIdle() {
            return startDial(host, dial.purpose)
        }
        switch dial.purpose {
        case .pool:
            if let waiter = host.pool.dialFailed(), let exchange = exchange(waiter) { fail(exchange, error) }
            feedStarved()
            perform(host.pool.dialIfNeeded(), host)
        case .retry(let id):
            host.pool.dialAbandoned()
            if let exchange = exchange(id) { fail(exchange, error) }
            feedStarved()
            perform(host.pool.dialIfNeeded(), host)
        }
        tidy(host)
        endIfDrained()
    }

    func abandon(_ dial: Dial) {
        dials[ObjectIdentifier(dial)] = nil
        dial.cancel()
        dial.host.pool.dialAbandoned()
        tidy(dial.host)
    }

    func connectorOptions(to target: Connector.Target) -> Connector.Options {
        var options = Connector.Options()
        options.localAddress = localAddress(reaching: target.family)
        return options
    }

    /// The next in turn that can reach the family, where that is known before any look-up. With none of it, one that
    /// makes the dial fail: leaving by an address nobody asked for would be worse.
    private func localAddress(reaching family: SocketAddress.Family?) -> SocketAddress? {
        let candidates = configuration.localAddresses
        guard !candidates.isEmpty, family != .unix else { return nil }
        for _ in candidates {
            let candidate = candidates[nextLocalAddress]
            nextLocalAddress = (nextLocalAddress + 1) % candidates.count
            if family == nil || candidate.family == family { return candidate }
        }
        return candidates[nextLocalAddress]
    }

    func decoder(for encoding: String, _ limits: DecodingLimits) throws(ContentDecodingError) -> ContentDecoder? {
        if let spare = spareDecoders.take(encoding, limits) { return spare }
        return try ContentDecoder.make(for: encoding, limits: limits)
    }

    // MARK: Endings

    func complete(_ exchange: Exchange, on connection: Connection, trailers: HTTPFields?, surplus: Bool) {
        // While other hosts wait for any place at all, a connection is given up after each exchange: hosts take turns.
        let reusable = !surplus && !isDraining && starved.isEmpty && connection.isReusable(after: exchange)
        connection.endReading()
        if let decoder = exchange.decoder { spareDecoders.keep(decoder) }
        let farewell = exchange.takeFarewell()
        giveBack(exchange)
        if reusable, connection.host.pool.waiting == 0 {
            warm = connection
            farewell.deliver(.completed(trailers: trailers))
            guard let left = warm else { return }
            warm = nil
            perform(left.host.pool.released(left.id), left.host)
        } else {
            untold += 1
            if reusable {
                perform(connection.host.pool.released(connection.id), connection.host)
            } else {
                // A request not sent to its end must not look whole to the server.
                retire(connection, abruptly: farewell.unsent || configuration.closing == .rst)
            }
            farewell.deliver(.completed(trailers: trailers))
            untold -= 1
        }
        endIfDrained()
    }

    /// One response of a burst is whole and others follow. False if the delegate ended the exchange.
    func continueBurst(
        _ exchange: Exchange,
        on connection: Connection,
        trailers: HTTPFields?,
        surplus: Int
    ) -> Bool {
        guard let request = exchange.request, let reading = connection.reading else { return false }
        let persists = reading.parser.persistence == .keepAlive
        reading.parser.begin(answering: request.context)
        exchange.report.bytesReceived -= min(UInt64(surplus), exchange.report.bytesReceived)
        exchange.delegate?.exchange(exchange.id, didFinish: .completed(trailers: trailers), report: exchange.report)
        guard connection.isServing(exchange) else { return false }
        exchange.nextOfBurst(received: surplus, at: loop.now)
        guard persists else {
            fail(exchange, .closedBeforeResponse(nil))
            return false
        }
        return true
    }

    func fail(_ exchange: Exchange, _ error: EngineError) {
        if isStarting {
            detach(exchange)
            return failLater(exchange, error)
        }
        switch exchange.phase {
        case .free:
            return
        case .starting:
            conclude(exchange, error)
        case .waiting(let host, let ticket, _):
            if let ticket { host.pool.leave(ticket) }
            conclude(exchange, error)
            tidy(host)
        case .running(let connection):
            let facts = retryFacts(exchange, error)
            if RetryRule.allows(facts), !isDraining {
                return retry(exchange, instead: connection)
            }
            let farewell = exchange.takeFarewell()
            giveBack(exchange)
            retire(connection, abruptly: true)
            farewell.deliver(.failed(error))
        }
        endIfDrained()
    }

    /// Takes an exchange off its connection, or out of the queue: it hears nothing more but its outcome.
    private func detach(_ exchange: Exchange) {
        switch exchange.phase {
        case .free, .starting:
            return
        case .waiting(let host, let ticket, _):
            if let ticket { host.pool.leave(ticket) }
            tidy(host)
        case .running(let connection):
            retire(connection, abruptly: true)
        }
        exchange.phase = .starting
    }

    private func conclude(_ exchange: Exchange, _ error: EngineError) {
        let farewell = exchange.takeFarewell()
        giveBack(exchange)
        farewell.deliver(.failed(error))
    }

    private func retryFacts(_ exchange: Exchange, _ error: EngineError) -> RetryRule.Facts {
        var peerClosed = false
        if case .closedBeforeResponse(let cause) = error { peerClosed = cause?.isPeerClosure ?? true }
        // A burst of which an answer came has been acted on, whatever became of the rest.
        let begun = exchange.request.map { exchange.expected < $0.burst } ?? false
        return RetryRule.Facts(
            reusedConnection: exchange.report.reusedConnection,
            responseStarted: begun || exchange.report.timings.responseStart != nil,
            peerClosed: peerClosed,
            bytesSent: exchange.report.bytesSent,
            idempotent: exchange.request?.isIdempotent ?? false,
            replayable: exchange.request?.isReplayable ?? false,
            alreadyRetried: exchange.report.retried
        )
    }

    private func retry(_ exchange: Exchange, instead connection: Connection) {
        let host = connection.host
        connections.remove(connection.id)
        connection.close(abruptly: true)
        host.pool.redial()
        exchange.restart(waitingFor: host, at: loop.now)
        startDial(host, .retry(exchange.id))
    }

    /// An idle connection's end: its peer finished, spoke unasked, or it grew too old.
    func connectionDied(_ connection: Connection) {
        guard case .idle = connection.state else { return }
        connection.host.pool.closedIdle(connection.id)
        connections.remove(connection.id)
        connection.close(abruptly: false)
        tidy(connection.host)
        feedStarved()
        endIfDrained()
    }

    private func retire(_ connection: Connection, abruptly: Bool) {
        connections.remove(connection.id)
        connection.close(abruptly: abruptly)
        feedStarved()
        perform(connection.host.pool.closedBusy(), connection.host)
        tidy(connection.host)
    }

    /// A place may be free: the host that waits longest for one may dial, unless its waiters have left.
    private func feedStarved() {
        while !starved.isEmpty, hasRoom {
            let host = starved.removeFirst()
            host.isStarved = false
            perform(host.pool.dialIfNeeded(), host)
            tidy(host)
        }
    }

    /// Within the limit on connections in all, which is one at least: nobody waits for ever.
    private var hasRoom: Bool { connections.count + dials.count < max(1, configuration.connections) }

    private func closeEldestIdle() -> Bool {
        let eldest = hosts.values
            .compactMap { host in host.pool.eldestIdle.flatMap { connections[$0] } }
            .min { $0.idleSince < $1.idleSince }
        guard let eldest else { return false }
        eldest.host.pool.closedIdle(eldest.id)
        connections.remove(eldest.id)
        eldest.close(abruptly: false)
        tidy(eldest.host)
        return true
    }

    /// A host with nothing left is forgotten: the table is as large as what is going on.
    private func tidy(_ host: Host) {
        guard host.pool.isEmpty, !host.isStarved else { return }
        hosts[host.destination] = nil
        if lastHost === host { lastHost = nil }
    }
}
