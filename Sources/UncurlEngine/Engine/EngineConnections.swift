internal import UncurlHTTP1
internal import UncurlReactor

/// Decides which exchange gets which connection, and which connection is closed to make room.
extension Engine {
    func host(for destination: Destination) -> Host {
        hosts.recent(destination) ?? hosts.find(destination) { makeHost(destination) }
    }

    func makeHost(_ destination: Destination) -> Host {
        let route = Route(to: destination, configuration.proxies)
        return Host(destination, route, limit: configuration.connectionsPerHost)
    }

    /// Returns the connection that has just come free. It skips the pool and counts as busy all the time.
    func takeWarm(for request: EngineRequest, _ keeper: ConnectionKeeper?) -> Connection? {
        guard let connection = warm, connection.keeper === keeper,
            connection.host.destination == request.destination
        else { return nil }
        warm = nil
        let isTrusted = mayCarry(request, connection)
        if isTrusted, connection.isJustDrained || connection.isQuiet { return connection }
        noteNews(of: connection)
        retire(connection, isTrusted ? .peer : .used, abruptly: false)
        return nil
    }

    /// Returns the idle connection that was used last and is still usable.
    func takeIdle(_ host: Host, for request: EngineRequest) -> Connection? {
        while let id = host.pool.takeIdle() {
            guard let connection = connections[id] else {
                host.pool.discardBusy()
                continue
            }
            if isUsable(connection, for: request) { return connection }
        }
        return nil
    }

    /// Returns the connection to the request's destination that the keeper has, if it is still usable.
    func takeKept(by keeper: ConnectionKeeper, for request: EngineRequest) -> Connection? {
        for index in keeper.resting.indices.reversed() {
            guard let connection = connections[keeper.resting[index]], connection.isIdle else {
                keeper.resting.remove(at: index)
                continue
            }
            guard connection.host.destination == request.destination else { continue }
            keeper.resting.remove(at: index)
            if isUsable(connection, for: request) { return connection }
        }
        return nil
    }

    /// Lets the connection rest until its keeper's next exchange. Its place in the pool stays taken.
    func keep(_ connection: Connection, by keeper: ConnectionKeeper) {
        keeper.resting.append(connection.id)
        park(connection)
    }

    /// Closes the connections that rest. The keeper may be used again.
    package func closeConnections(of keeper: ConnectionKeeper) {
        let ids = keeper.resting
        keeper.resting = []
        for id in ids { if let connection = connections[id] { closeIdle(connection, .used) } }
    }

    /// Whether an idle connection that has been taken, and counts as busy, can carry the request. If not, it is closed.
    func isUsable(_ connection: Connection, for request: EngineRequest) -> Bool {
        let isTrusted = mayCarry(request, connection)
        if isTrusted, connection.isAlive { return true }
        noteNews(of: connection)
        connection.host.pool.discardBusy()
        forget(connection)
        connection.close(isTrusted ? .peer : .used, abruptly: false)
        return false
    }

    /// Whether `request` can be sent on this connection. False if the connection is retired, and if the request could
    /// be lost without a way to tell: the server may be closing the connection, and the request may be sent only once.
    func mayCarry(_ request: EngineRequest, _ connection: Connection) -> Bool {
        if connection.isRetired { return false }
        if request.isIdempotent, request.isReplayable { return true }
        let destination = connection.host.destination
        return !closingServers.mayClose(destination, answered: connection.answered, now: loop.now)
    }

    /// Notes what came on an idle connection: an answer to no request, or the server's end. It must be called before
    /// the connection is given up.
    func noteNews(of connection: Connection) {
        if connection.holdsStrayBytes {
            noteStray()
        } else if !connection.isQuiet {
            noteClose(of: connection)
        }
    }

    /// - Parameter now: when the close showed; nil for now.
    func noteClose(of connection: Connection, at now: Instant? = nil) {
        guard configuration.foreseesCloses else { return }
        closingServers.note(connection.host.destination, answered: connection.answered, now: now ?? loop.now)
    }

    func enqueue(_ exchange: Exchange, _ host: Host, _ priority: UInt8) {
        let (ticket, step) = host.pool.wait(exchange.id, priority: priority)
        exchange.wait(for: host, ticket, since: loop.now)
        observe(.waiting(exchange.id, host.destination.origin))
        exchange.watch(at: loop.now)
        perform(step, host)
        watchPlaces(at: host)
    }

    func assign(_ connection: Connection, to exchange: Exchange) {
        connection.lease(to: exchange)
        exchange.run(on: connection.id, connection.record, isReused: connection.isReused, at: loop.now)
        observe(.leased(exchange.id, connection: connection.number, reused: connection.isReused))
        connection.send(exchange)
        guard connection.isServing(exchange) else { return }
        exchange.watch(at: loop.now)
        watchPlaces(at: connection.host)
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
            // Its own waiters have been served.
            starved.remove(host)
            park(connection)
        case .nothing:
            break
        }
    }

    /// Lets a connection rest, or closes it if others need its place.
    func park(_ connection: Connection) {
        connection.park()
        if isDraining { return closeIdle(connection, .shutDown) }
        let isExcess = connection.host.pool.isOverfull || configuration.budget?.isExceeded == true
        if isExcess || !starved.isEmpty || !descriptorLine.isEmpty { closeIdle(connection, .room) }
    }

    func decoder(for encoding: String, _ limits: DecodingLimits) throws(ContentDecodingError) -> CodingDecoder? {
        if let spare = spareDecoders.take(encoding, limits) { return spare }
        return try CodingDecoder.make(for: encoding, limits: limits)
    }

    /// Removes a connection from the engine's table: it is about to be closed, or becomes another protocol's.
    func forget(_ connection: Connection) {
        connections.remove(connection.id)
        configuration.budget?.closed(by: self, open: connections.count)
    }

    /// Gives up an idle connection's place in its pool. A kept one counts as busy there.
    func leavePool(_ connection: Connection) {
        if connection.keeper == nil {
            connection.host.pool.closedIdle(connection.id)
        } else {
            connection.host.pool.discardBusy()
        }
    }

    /// Lets the dial that waits longest for a descriptor try again, and hosts dial that wait for a place, unless their
    /// waiters have left. Called when a place or a descriptor may have come free.
    func feedStarved() {
        feedDials()
        while hasRoom, let host = starved.next() {
            perform(host.pool.dialIfNeeded(), host)
            // If it needs more places than this one, it waits for another turn.
            if host.pool.needsDial { starved.append(host) }
            hosts.tidy(host)
        }
    }

    /// Whether there is room within the limit on all connections. The limit is at least one, or exchanges would wait
    /// for ever.
    var hasRoom: Bool { connections.count + dials.count - places.lent < max(1, configuration.connections) }

    func closeEldestIdle() -> Bool {
        let eldest =
            hosts.all
            .compactMap { host in host.pool.eldestIdle.flatMap { connections[$0] } }
            .min { $0.idleSince < $1.idleSince }
            ?? connections.all.filter { $0.isIdle && $0.keeper != nil }.min { $0.idleSince < $1.idleSince }
        guard let eldest else { return false }
        leavePool(eldest)
        forget(eldest)
        eldest.close(.room, abruptly: false)
        hosts.tidy(eldest.host)
        return true
    }
}
