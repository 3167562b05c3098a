internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics

/// How exchanges end, and what becomes of their connections.
extension Engine {
    func complete(_ exchange: Exchange, on connection: Connection, trailers: HTTPFields?, surplus: Bool) {
        // This comes first, since a socket on which it fails is not used again.
        connection.endGathering()
        endRest(of: exchange)
        // While other hosts wait for any place, a connection is closed after each exchange: hosts take turns.
        let isExcess = starved.hasOthers(than: connection.host) || connection.host.pool.isOverfull
        var reusable =
            !surplus && !isDraining && !connection.isRetired && !isExcess && connection.isReusable(after: exchange)
        // A connection that is handed on at once is checked here; others are checked when they are leased.
        if reusable, connection.host.pool.waiting > 0 { reusable = connection.isJustDrained || connection.isQuiet }
        let isCutOff = !reusable && exchange.request?.closes == false && connection.isFinishedUnannounced
        connection.endReading()
        if isCutOff { noteClose(of: connection) }
        if reusable, !closingServers.isEmpty,
            let next = connection.host.pool.firstWaiter.flatMap({ self.exchange($0)?.request })
        {
            reusable = mayCarry(next, connection)
        }
        if let decoder = exchange.decoder { spareDecoders.keep(decoder) }
        let farewell = exchange.takeFarewell()
        observe(.ended(exchange.id, nil))
        giveBack(exchange)
        if reusable, connection.keeper != nil || connection.host.pool.waiting == 0 {
            warm = connection
            farewell.deliver(.completed(trailers: trailers))
            guard let left = warm else { return }
            warm = nil
            if let keeper = left.keeper {
                keep(left, by: keeper)
            } else {
                perform(left.host.pool.released(left.id), left.host)
            }
        } else {
            tell {
                if reusable {
                    perform(connection.host.pool.released(connection.id), connection.host)
                } else {
                    // A request that was not sent to its end must not look complete to the server.
                    retire(connection, .used, abruptly: farewell.unsent || configuration.closing == .rst)
                }
                farewell.deliver(.completed(trailers: trailers))
            }
        }
        endIfDrained()
    }

    /// Ends an exchange, and HTTP on its connection: the pool's place comes free, and the delegate gets the upgraded
    /// connection.
    func handOver(_ connection: Connection, of exchange: Exchange, unread: [UInt8]) {
        let upgraded = giveAway(connection, unread: unread)
        let farewell = exchange.takeFarewell()
        observe(.ended(exchange.id, nil))
        giveBack(exchange)
        tell {
            feedStarved()
            perform(connection.host.pool.closedBusy(), connection.host)
            hosts.tidy(connection.host)
            farewell.delegate?.exchange(farewell.id, didUpgrade: upgraded)
            farewell.deliver(.completed(trailers: nil))
        }
        endIfDrained()
    }

    /// Ends one response of a pipeline that others follow. Returns false if the delegate has ended the exchange.
    func continuePipeline(
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
        exchange.nextOfPipeline(received: surplus, at: loop.now)
        guard persists else {
            exchange.report.closeAnnounced = true
            fail(exchange, .closedBeforeResponse(nil))
            return false
        }
        return true
    }

    func fail(_ exchange: Exchange, _ error: EngineError) {
        if isStarting {
            detach(exchange, error)
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
            hosts.tidy(host)
        case .running(let id):
            guard let connection = connections[id] else { return conclude(exchange, error) }
            let facts = retryFacts(exchange, on: connection, error)
            if facts.meetsClosedConnection {
                noteClose(of: connection, at: exchange.report.timings.leased)
            }
            if configuration.resendsRequests, RetryRule.allows(facts), !isDraining {
                return retry(exchange, instead: connection, .failed(error))
            }
            let (farewell, id) = (exchange.takeFarewell(), exchange.id)
            giveBack(exchange)
            observe(.ended(id, error))
            retire(connection, .failed(error), abruptly: true)
            farewell.deliver(.failed(error))
        }
        endIfDrained()
    }

    /// Takes an exchange off its connection or out of the queue. Its delegate is called once more, with the outcome.
    private func detach(_ exchange: Exchange, _ error: EngineError) {
        switch exchange.phase {
        case .free, .starting:
            return
        case .waiting(let host, let ticket, _):
            if let ticket { host.pool.leave(ticket) }
            hosts.tidy(host)
        case .running(let id):
            endRest(of: exchange)
            if let connection = connections[id] { retire(connection, .failed(error), abruptly: true) }
        }
        exchange.detach()
    }

    private func conclude(_ exchange: Exchange, _ error: EngineError) {
        let farewell = exchange.takeFarewell()
        observe(.ended(exchange.id, error))
        giveBack(exchange)
        farewell.deliver(.failed(error))
    }

    private func retryFacts(
        _ exchange: Exchange,
        on connection: Connection,
        _ error: EngineError
    ) -> RetryRule.Facts {
        var (peerClosed, unreceived) = (false, false)
        switch error {
        case .closedBeforeResponse(let cause), .uploadAborted(_, let cause):
            peerClosed = cause?.isPeerClosure ?? true
            unreceived = connection.wasClosedBeforeRequest(exchange, cause)
        default: break
        }
        // The server has acted on a pipeline once one answer has come, whatever became of the rest.
        let begun = exchange.request.map { exchange.expected < $0.pipelineDepth } ?? false
        return RetryRule.Facts(
            reusedConnection: exchange.report.reusedConnection,
            responseStarted: begun || exchange.report.timings.responseStart != nil,
            peerClosed: peerClosed,
            sent: exchange.report.bytesSent > 0 || connection.link.hasUncountedBytes,
            unreceived: unreceived,
            idempotent: exchange.request?.isIdempotent ?? false,
            replayable: exchange.request?.isReplayable ?? false,
            alreadyRetried: exchange.report.retried
        )
    }

    /// Retries after a 417 (RFC 9110 §15.5.18), which concerns the expectation alone. Returns false if there was none,
    /// or the content is gone.
    func retryWithoutExpectation(_ exchange: Exchange, instead connection: Connection) -> Bool {
        guard let request = exchange.request, request.continueWait > 0, !exchange.expectationFailed, !isDraining else {
            return false
        }
        guard exchange.isRepeatable else { return false }
        exchange.dropExpectation()
        retry(exchange, instead: connection, .used)
        return true
    }

    func retry(_ exchange: Exchange, instead connection: Connection, _ reason: EngineEvent.Closing) {
        observe(.retrying(exchange.id))
        takePlaceBack(of: exchange)
        let host = connection.host
        forget(connection)
        connection.close(reason, abruptly: true)
        host.pool.redial()
        exchange.restart(waitingFor: host, at: loop.now)
        startDial(host, .retry(exchange.id))
    }

    func closeIdle(_ connection: Connection, _ reason: EngineEvent.Closing) {
        guard connection.isIdle else { return }
        if reason == .peer { noteNews(of: connection) }
        leavePool(connection)
        forget(connection)
        connection.close(reason, abruptly: false)
        hosts.tidy(connection.host)
        feedStarved()
        endIfDrained()
    }

    func retire(_ connection: Connection, _ reason: EngineEvent.Closing, abruptly: Bool) {
        forget(connection)
        connection.close(reason, abruptly: abruptly)
        feedStarved()
        perform(connection.host.pool.closedBusy(), connection.host)
        hosts.tidy(connection.host)
    }
}
