internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS
import UncurlText

/// One socket and its exchange: the owner of a ``ConnectionMachine``, which decides, and of a ``Link``, which moves
/// bytes. Loop-confined.
///
/// Once closed, it has no descriptor, no registration and no timer.
final class Connection: ReadinessHandler, TimerHandler {
    /// How many parts of a streamed body are sent in a turn, so that a source of small ones cannot keep the loop busy.
    static let partsPerTurn = 16

    /// For how many nanoseconds a socket counts as empty after it was emptied in the same turn: a packet to the next
    /// machine and back takes longer.
    private static let freshness: Int64 = 100_000

    let id: ConnectionID
    let engine: Engine
    let loop: EventLoop
    let host: Host
    let record: ConnectionRecord
    /// The connection's number in the order of opening, for observers.
    let number: Int
    /// Whether it carries no further exchange; see ``Engine/retireConnections(where:)``.
    var isRetired = false

    private var machine: ConnectionMachine
    private var exchange: Exchange?
    var link: Link
    /// Nil until the first byte of the response has come.
    private(set) var reading: Reading?
    /// When the last read was made, if it took all that the socket held. The loop's time does not tell it later: each
    /// stamp moves that on.
    @CompactInstant private var drained: Instant?
    /// How much a connection may decode in one turn of its loop, in bytes: some milliseconds' work. A few kilobytes may
    /// expand to gigabytes. Without a limit, the loop would serve no other socket, fire no timer and take no cancel
    /// until all of it is decoded. One read of ordinary text, of 256 KiB, expands to less.
    static let mostDecoded = 4 << 20
    /// How much of that is left in this turn.
    private var decodable = mostDecoded
    /// The longest chunk, in bytes, that is joined to others of its read, and the most that is delivered together: a
    /// delegate is called as often as the socket is read, and not as often as a server makes a chunk
    /// (`./dev bench chunks`). To deliver a longer one costs less than to copy it.
    static let longestJoined = 1 << 10
    static let joinedCapacity = 16 << 10
    /// Whether content waits for the other sockets' turn.
    private var deliversLater = false
    private var timer: TimerID?
    /// What the last exchange kept to; nil if it had no rates.
    private var throttle: RateKeeper?
    /// The keeper whose exchanges alone it serves; nil if it serves any.
    private(set) var keeper: ConnectionKeeper?

    /// - Parameter link: its registration becomes this connection's.
    init(
        _ link: consuming Link,
        record: ConnectionRecord,
        number: Int,
        id: ConnectionID,
        host: Host,
        engine: Engine
    ) {
        self.link = link
        self.record = record
        self.number = number
        self.id = id
        self.host = host
        self.engine = engine
        loop = engine.loop
        let discount = ConnectionMachine.ageDiscount(number: number, spread: engine.maximumAgeSpread)
        machine = ConnectionMachine(
            opened: engine.loop.sinceBoot,
            now: engine.loop.now,
            maximumAge: engine.maximumAge - discount
        )
        engine.loop.handOver(self.link.token, to: self)
    }

    var isReused: Bool { machine.isReused }
    var answered: Instant { machine.answered }
    var peerFinished: Bool { machine.peerFinished }

    var isIdle: Bool {
        if case .idle = machine.state { true } else { false }
    }

    /// Since when it has been idle; never if it is not. The oldest connection is closed to make room.
    var idleSince: Instant {
        if case .idle(let since) = machine.state { since } else { .never }
    }

    // MARK: Events

    func ready(_ readiness: Readiness) {
        let reaction = machine.heard(readiness, isSecure: link.secure != nil)
        guard let exchange else { return readyIdle(reaction) }
        if let refusal = link.refusal { return engine.fail(exchange, .system(refusal)) }
        if let failure = link.secure?.sealFailure { return engine.fail(exchange, .tls(failure)) }
        if reaction.contains(.flush) { try? link.flushSecure() }
        if case .broken(let error) = exchange.sending, !error.isPeerClosure {
            return engine.fail(exchange, .sendFailed(error))
        }
        if reaction.contains(.send) { pump(exchange) }
        guard isServing(exchange) else { return }
        if exchange.isReading {
            if reaction.contains(.receive) { receive(exchange) }
        } else if reaction.contains(.broken) {
            link.suspend()
        }
    }

    /// Goes on with content that was left for a later turn, once the loop has served the other sockets.
    func deliverLater() {
        deliversLater = true
        loop.runWhenIdle { [self] in
            deliversLater = false
            guard let exchange, exchange.isReading else { return }
            exchange.noteActivity(at: loop.now)
            receive(exchange)
        }
    }

    private func readyIdle(_ reaction: ConnectionMachine.Reaction) {
        if reaction.contains(.flush) {
            try? link.flushSecure()
            link.updateInterest(reading: true, writing: false)
        }
        if reaction.contains(.readNews), staysIdle() { return }
        if !reaction.isDisjoint(with: [.close, .readNews]) { engine.closeIdle(self, .peer) }
    }

    func isServing(_ exchange: Exchange) -> Bool { self.exchange === exchange }

    // MARK: Lease and release

    /// Whether it can carry a request now. Epoll has reported nothing as of the loop's last wait. What came since then
    /// shows in the socket alone: the server's FIN, or an answer to no request, which would be taken for the next
    /// one's.
    var isAlive: Bool { machine.isFresh(at: loop.sinceBoot, idleLimit: engine.idleLimit) && isQuiet }

    /// Whether the socket holds nothing unread: no bytes, and no end. One check of the loop's tells it for all
    /// connections that a burst of requests takes; if that cannot tell, the socket is asked.
    var isQuiet: Bool { !loop.mayHaveNews(link.token) || link.unread == .quiet }

    /// Whether the socket holds bytes that no request has asked for. Over TLS they may be the session's own.
    var holdsStrayBytes: Bool { link.secure == nil && link.unread == .strayBytes }

    /// Whether the read that brought the end of the response has emptied the socket, and the clock shows that it was
    /// just now. For a connection whose response has ended in this turn: another check would cost a fifteenth of a
    /// request's time. The result is false if the delegate has worked since then, or another process had the core; if
    /// the read took as much as it might, since more may follow; and if a pause held the end back.
    var isJustDrained: Bool {
        guard let drained else { return false }
        return loop.stamp().nanoseconds(since: drained) < Connection.freshness
    }

    /// Whether the peer had closed its side before anything of the request reached it, so that it cannot have acted on
    /// the request. That is so if the connection ended by FIN (an RST after one is EPIPE; ECONNRESET is an RST without
    /// one), and the peer's kernel has acknowledged nothing of what was sent since the lease. An RST alone proves
    /// nothing: its acknowledgement is not looked at, and a server may have read the request before it.
    func wasClosedBeforeRequest(_ exchange: Exchange, _ cause: Errno?) -> Bool {
        guard cause == nil || cause == .brokenPipe, let unacknowledged = link.unacknowledged else { return false }
        return UInt64(unacknowledged) >= link.secure?.ciphertextSent ?? exchange.report.bytesSent
    }

    func lease(to exchange: Exchange) {
        machine.leased()
        link.secure?.countFromHere()
        throttle = exchange.keepToRates(after: throttle, at: loop.now)
        keeper = exchange.keeper
        self.exchange = exchange
    }

    /// Whether another exchange may follow the one just completed.
    func isReusable(after exchange: Exchange) -> Bool {
        guard case .done = exchange.sending, exchange.request?.closes == false, link.refusal == nil else {
            return false
        }
        return machine.mayServeAnother(
            after: reading?.parser.persistence ?? .close,
            at: loop.sinceBoot,
            limit: engine.configuration.exchangesPerConnection
        )
    }

    /// Whether the server closed with its answer without announcing that.
    var isFinishedUnannounced: Bool { peerFinished && reading?.parser.persistence == .keepAlive }

    func beginReading(_ exchange: Exchange) -> Reading {
        let reading = engine.readings.next
        reading.pace = .usual
        if let request = exchange.request { reading.begin(request, engine.configuration.limits) }
        self.reading = reading
        return reading
    }

    /// Keeps the reading, since the bytes that came did not end the response. Returns false if the heads that have come
    /// in part take too much memory together.
    func holdReading(_ reading: Reading) -> Bool {
        if reading === engine.readings.next { engine.readings.replaceNext(engine.configuration) }
        engine.readings.count(reading)
        return engine.readings.held <= engine.configuration.heldHeadBytes
    }

    /// Ends the reading: the response is complete, and nothing of it is needed any more.
    func endReading() {
        guard let reading else { return }
        machine.answered(at: loop.now)
        endGathering()
        self.reading = nil
        engine.readings.keep(reading)
    }

    func park() {
        exchange = nil
        machine.parked(at: loop.sinceBoot)
        engine.observe(.parked(connection: number))
        link.secure?.releaseBuffers()
        // The timer of an earlier parking stays armed: it re-arms itself when it finds the connection idle for a
        // shorter time.
        if timer == nil { armIdleTimer(machine.idleLimit(engine.idleLimit)) }
    }

    func note(_ head: ResponseHead) {
        host.isHTTP10 = head.version == .http10
        guard head.contains(.keepAlive), engine.configuration.foreseesCloses, let hint = KeepAliveHint(head.fields)
        else { return }
        if machine.heard(hint) { cancelTimer() }
    }

    func timerFired(_ id: TimerID) {
        if let exchange { gatheringTimerFired(id, exchange) }
        guard id == timer else { return }
        timer = nil
        guard let left = machine.idleTimeLeft(at: loop.sinceBoot, idleLimit: engine.idleLimit) else { return }
        // It may have become idle later than the timer knew.
        if left > 0 { armIdleTimer(left) } else { engine.closeIdle(self, .expired) }
    }

    private func armIdleTimer(_ nanoseconds: Int64) {
        timer = loop.arm(at: loop.now.advanced(byNanoseconds: nanoseconds), self)
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    // MARK: Ends

    /// Returns the link, still registered, for another protocol's connection. This one is over, and observers are not
    /// told.
    func giveAway() -> Link {
        _ = machine.closed()
        cancelTimer()
        endReading()
        exchange = nil
        link.updateInterest(reading: false, writing: false)
        return link.take()
    }

    /// Releases everything. `abruptly` sends RST: after a truncated request, so that the peer cannot take it for whole.
    func close(_ reason: EngineEvent.Closing, abruptly: Bool) {
        guard machine.closed() else { return }
        exchange = nil
        engine.observe(.closed(connection: number, reason))
        cancelTimer()
        link.close(abruptly: abruptly)
        endReading()
    }
}

/// Decides when a connection lets the kernel gather bytes, and when not.
extension Connection {
    /// Begins or ends the gathering. Called when a part of a large response has been delivered.
    func gather(_ exchange: Exchange, _ reading: Reading) {
        let left = reading.parser.bodyRemaining ?? 0
        let isWorth = left >= UInt64(ReadingPace.gatheredAmount) && exchange.throttle == nil
        switch reading.pace {
        case .usual, .fitful:
            break
        case .bulk:
            guard isWorth else { return }
            do throws(Errno) { try link.wake(for: ReadingPace.gatheredAmount) } catch { return }
            reading.pace = .gathering(loop.arm(at: loop.now.advanced(byNanoseconds: ReadingPace.patience), self))
        case .gathering:
            if !isWorth { endGathering() }
        }
    }

    /// Makes every byte wake the reader again.
    func endGathering(_ pace: ReadingPace = .bulk) {
        guard let reading, case .gathering(let timer) = reading.pace else { return }
        loop.cancel(timer)
        reading.pace = pace
        do throws(Errno) { try link.wake(for: 1) } catch { link.refused(error) }
    }

    /// Ends the gathering if no byte has come for ``Gathering/patience``; otherwise waits for the rest of that time:
    /// the timer is not moved with each byte.
    func gatheringTimerFired(_ id: TimerID, _ exchange: Exchange) {
        guard let reading, reading.pace == .gathering(id) else { return }
        // A pause of the reader is not a pause of the peer.
        guard exchange.isReading else { return endGathering() }
        let limit = exchange.lastActivity.advanced(byNanoseconds: ReadingPace.patience)
        guard limit > loop.now else { return endGathering(.fitful) }
        reading.pace = .gathering(loop.arm(at: limit, self))
    }
}

/// Receives a response from the socket and delivers it to the delegate: bytes are parsed where they were read, and
/// content is delivered as a slice of the loop's buffer.
extension Connection {
    func receive(_ exchange: Exchange) {
        decodable = Connection.mostDecoded
        guard !deliversLater else { return }
        drained = nil
        if let reading {
            guard passHeld(exchange, reading) else { return }
        }
        if let secure = link.secure, secure.ending != nil { return secureEnded(exchange, secure) }
        let isBulk = reading.map { $0.pace != .usual } ?? false
        let buffer = isBulk ? loop.bulkBuffer : loop.readBuffer
        for _ in 0..<(isBulk ? 1 : Link.readsPerTurn) {
            let limit = min(buffer.capacity, exchange.throttle?.readable(at: loop.now) ?? .max)
            let result: Socket.Read
            do throws(Errno) {
                result = try link.read(into: buffer, atMost: limit)
            } catch {
                return ended(exchange, error)
            }
            switch result {
            case .wouldBlock:
                return
            case .endOfStream:
                return ended(exchange, resetMetBySending(exchange))
            case .bytes(let count):
                exchange.noteActivity(at: loop.now)
                drained = count < limit ? loop.now : nil
                exchange.throttle?.received(count, at: loop.now)
                let goesOn =
                    if let secure = link.secure {
                        receive(buffer, count, exchange, through: secure)
                    } else {
                        buffer.withBytes(count) { pass($0, exchange) }
                    }
                if let throttle = exchange.throttle, isServing(exchange), throttle.holdReading() {
                    return holdReading(exchange)
                }
                if isBulk, let reading { gather(exchange, reading) }
                // A short read has emptied the socket. If the FIN was already announced, the end is read at once.
                guard goesOn, count == limit || peerFinished else { return }
            }
        }
        if !isBulk { reading?.pace = .bulk }
    }

    /// Passes bytes to the parser. Returns false if the exchange is over, or paused with the rest held back.
    func pass(_ bytes: Span<UInt8>, _ exchange: Exchange) -> Bool {
        exchange.report.bytesReceived += UInt64(bytes.count)
        if exchange.report.timings.responseStart == nil { exchange.report.timings.responseStart = loop.now }
        let reading = reading ?? beginReading(exchange)
        let goesOn = process(bytes, exchange, reading)
        if isServing(exchange), self.reading === reading, !holdReading(reading), reading.parser.heldBytes > 0 {
            engine.fail(exchange, .tooManyHeldHeads(limit: engine.configuration.heldHeadBytes))
            return false
        }
        return goesOn
    }

    /// Delivers what a pause had held back. Returns false if the exchange is paused again, or over.
    private func passHeld(_ exchange: Exchange, _ reading: Reading) -> Bool {
        if let content = reading.heldContent {
            reading.heldContent = nil
            guard deliver(content.span, exchange, reading) else { return false }
        }
        if let input = reading.heldInput {
            reading.heldInput = nil
            return process(input.span, exchange, reading)
        }
        return true
    }

    /// Parses all of `input`. Returns false if the exchange is over, or paused with the rest held back.
    private func process(_ input: Span<UInt8>, _ exchange: Exchange, _ reading: Reading) -> Bool {
        // The head is moved out of the engine meanwhile: lending it from a local variable counts no references.
        var head = ResponseHead()
        swap(&head, &engine.head)
        defer { swap(&head, &engine.head) }
        return process(input, exchange, reading, &head)
    }

    private func process(
        _ input: Span<UInt8>,
        _ exchange: Exchange,
        _ reading: Reading,
        _ head: inout ResponseHead
    ) -> Bool {
        var offset = 0
        var joined = 0
        while true {
            let rest = input.extracting(droppingFirst: offset)
            let step: ParseStep
            do throws(HTTP1Error) {
                step = try reading.parser.parse(rest, into: &head)
            } catch {
                if deliver(&joined, exchange, reading) {
                    engine.fail(exchange, .malformedResponse(error))
                } else if isServing(exchange) {
                    // The parser repeats its error.
                    reading.heldInput = Array(rest)
                }
                return false
            }
            offset += step.consumed
            if exchange.isReceivingContent { exchange.report.framedReceived += UInt64(step.consumed) }
            var goesOn = true
            switch step.event {
            case .needsInput:
                return deliver(&joined, exchange, reading)
            case .informational:
                exchange.delegate?.exchange(exchange.id, didReceive: head)
                goesOn = isServing(exchange)
                if goesOn, head.status == 100 { sendAwaitedContent(exchange) }
            case .head:
                goesOn = begin(exchange, head)
            case .body(let range):
                let isLast = offset == input.count
                goesOn = take(rest.extracting(range), isLast: isLast, after: &joined, exchange, reading)
            case .end:
                goesOn = deliver(&joined, exchange, reading)
                // The parser repeats the end.
                guard goesOn else { break }
                goesOn = completed(exchange, reading, surplus: input.count - offset)
                guard goesOn else { return false }
            case .tunnel:
                upgrade(exchange, head, unread: Array(input.extracting(droppingFirst: offset)))
                return false
            }
            guard goesOn, !exchange.isPaused else {
                if isServing(exchange) { reading.heldInput = Array(input.extracting(droppingFirst: offset)) }
                return false
            }
        }
    }

    private func begin(_ exchange: Exchange, _ head: ResponseHead) -> Bool {
        if host.route.isAbsolute, let proxy = host.route.proxy {
            if head.status == ChallengeAuthenticator.Side.proxy.status {
                engine.proxyRefused(exchange, head, on: self)
                return false
            }
            engine.authenticators.note(head.fields, of: proxy)
        }
        if head.status == 417, engine.retryWithoutExpectation(exchange, instead: self) { return false }
        answeredEarly(exchange, status: head.status)
        exchange.beginContent(status: head.status)
        note(head)
        // Codings of content that does not exist (HEAD, 304) are ignored.
        if let reading, !reading.parser.isBetweenMessages, let request = exchange.request, request.decodesContent,
            head.contains(.contentEncoding),
            let encoding = contentEncoding(head.fields)
        {
            do throws(ContentDecodingError) {
                exchange.decode(with: try engine.decoder(for: encoding, request.options.decodingLimits))
            } catch {
                engine.fail(exchange, .undecodable(error))
                return false
            }
        }
        exchange.delegate?.exchange(exchange.id, didReceive: head)
        return isServing(exchange)
    }

    /// Hands the connection over after an upgrade. The parser has checked that one was offered, or a tunnel asked for.
    private func upgrade(_ exchange: Exchange, _ head: ResponseHead, unread: [UInt8]) {
        guard exchange.request?.accepts(head) == true else {
            return engine.fail(exchange, .unexpectedUpgrade)
        }
        exchange.report.code = UInt16(clamping: head.status)
        exchange.delegate?.exchange(exchange.id, didReceive: head)
        guard isServing(exchange) else { return }
        exchange.report.bytesReceived -= min(UInt64(unread.count), exchange.report.bytesReceived)
        exchange.report.timings.responseEnd = loop.now
        engine.handOver(self, of: exchange, unread: unread)
    }

    /// Returns the field's whole value (RFC 9110 §5.3). One line with a short value, as nearly all are, allocates
    /// nothing.
    private func contentEncoding(_ fields: HTTPFields) -> String? {
        guard let value = fields.first(.contentEncoding) else { return nil }
        let lines = (0..<fields.count).count { fields.known(at: $0) == .contentEncoding }
        return lines == 1 ? String(decoding: fields.block[value], as: UTF8.self) : fields.joined("Content-Encoding")
    }

    /// Delivers a piece of content, or joins it to the small chunks before it. Returns as ``deliver(_:_:_:)`` does.
    ///
    /// - Parameter isLast: whether the piece ends what was read.
    private func take(
        _ piece: Span<UInt8>,
        isLast: Bool,
        after joined: inout Int,
        _ exchange: Exchange,
        _ reading: Reading
    ) -> Bool {
        // Small content that is alone in its read is not copied.
        let isJoined = piece.count <= Connection.longestJoined && !(isLast && joined == 0)
        if !isJoined || piece.count > Connection.joinedCapacity - joined {
            guard deliver(&joined, exchange, reading) else {
                if isServing(exchange) { reading.heldContent = (reading.heldContent ?? []) + Array(piece) }
                return false
            }
        }
        guard isJoined else { return deliver(piece, exchange, reading) }
        unsafe piece.withUnsafeBufferPointer { piece in
            guard let source = piece.baseAddress, let start = unsafe engine.joined.baseAddress else { return }
            unsafe (start + joined).update(from: source, count: piece.count)
        }
        joined += piece.count
        return true
    }

    /// Delivers the chunks that were joined, if there are any.
    private func deliver(_ joined: inout Int, _ exchange: Exchange, _ reading: Reading) -> Bool {
        guard joined > 0 else { return true }
        let chunks = unsafe UnsafeBufferPointer(rebasing: engine.joined[..<joined])
        joined = 0
        return unsafe deliver(chunks.span, exchange, reading)
    }

    /// Delivers content. Returns false if the exchange is over, or if the rest of `content` is held back: the exchange
    /// is paused, or the rest is for a later turn.
    private func deliver(_ content: Span<UInt8>, _ exchange: Exchange, _ reading: Reading) -> Bool {
        guard let decoder = exchange.decoder else {
            exchange.report.contentReceived += UInt64(content.count)
            exchange.report.contentDelivered += UInt64(content.count)
            exchange.delegate?.exchange(exchange.id, didReceive: content)
            return isServing(exchange) && !exchange.isPaused
        }
        var offset = 0
        while true {
            let start = offset
            let count: Int
            do throws(ContentDecodingError) {
                count = try unsafe decoder.decode(content, from: &offset, into: engine.decoded)
            } catch {
                engine.fail(exchange, .undecodable(error))
                return false
            }
            exchange.report.contentReceived += UInt64(offset - start)
            guard count > 0 else { return true }
            exchange.report.contentDelivered += UInt64(count)
            let decoded = unsafe UnsafeBufferPointer(rebasing: engine.decoded[..<count])
            unsafe exchange.delegate?.exchange(exchange.id, didReceive: decoded.span)
            guard isServing(exchange) else { return false }
            decodable -= count
            if exchange.isPaused || decodable <= 0 {
                reading.heldContent = Array(content.extracting(droppingFirst: offset))
                if !exchange.isPaused { deliverLater() }
                return false
            }
        }
    }

    /// Ends one response, after which `surplus` bytes follow. Returns true if another of the pipeline follows.
    private func completed(_ exchange: Exchange, _ reading: Reading, surplus: Int) -> Bool {
        if let decoder = exchange.decoder {
            do throws(ContentDecodingError) {
                try decoder.finish()
            } catch {
                engine.fail(exchange, .undecodable(error))
                return false
            }
        }
        exchange.endResponse(at: loop.now)
        let trailers = reading.parser.hasTrailers ? reading.parser.trailers : HTTPFields()
        guard exchange.expected > 0 else {
            if surplus > 0 { exchange.report.surplus = UInt32(clamping: surplus) }
            engine.complete(exchange, on: self, trailers: trailers.isEmpty ? nil : trailers, surplus: surplus > 0)
            return false
        }
        return engine.continuePipeline(
            exchange,
            on: self,
            trailers: trailers.isEmpty ? nil : trailers,
            surplus: surplus
        )
    }

    /// Returns the RST that ended the connection, if the sending met it: the kernel tells it once, and reading finds no
    /// more than an end. An RST after a FIN is EPIPE, and then the end is the FIN's.
    private func resetMetBySending(_ exchange: Exchange) -> Errno? {
        if case .broken(.connectionReset) = exchange.sending { .connectionReset } else { nil }
    }

    /// Handles the end of the connection, by FIN (no error) or by a failed read.
    func ended(_ exchange: Exchange, _ error: Errno?) {
        machine.peerEnded()
        if let error, !error.isPeerClosure, error != .timedOut { return engine.fail(exchange, .system(error)) }
        guard exchange.report.timings.responseStart != nil else {
            var cause = error
            if case .broken(let sendError) = exchange.sending { cause = cause ?? sendError }
            guard exchange.isMidUpload else { return engine.fail(exchange, .closedBeforeResponse(cause)) }
            return engine.fail(exchange, .uploadAborted(sent: exchange.report.contentSent, cause))
        }
        guard exchange.isReceivingContent, let reading else { return engine.fail(exchange, .truncatedHead(error)) }
        let received = exchange.report.contentReceived
        let expected = reading.parser.bodyRemaining.map { received + $0 }
        // RST never is a proper end (RFC 9112 §9.6); a FIN is one only if the framing says "until close".
        if error == nil {
            do throws(HTTP1Error) {
                try reading.parser.finish()
                guard isWholeEnding(exchange) else { return engine.fail(exchange, .tls(.truncated)) }
                _ = completed(exchange, reading, surplus: 0)
                return
            } catch {}
        }
        engine.fail(exchange, .truncatedBody(expected: expected, received: received, error))
    }

}

/// How a response passes through TLS, and what an idle connection does with bytes that come.
extension Connection {
    /// Receives through TLS. Returns false if the exchange is over, or paused with the rest held back.
    func receive(_ buffer: ReadBuffer, _ count: Int, _ exchange: Exchange, through layer: TLSLayer) -> Bool {
        let heldBack = layer.waitsForInput
        let opened = buffer.withBytes(count) { layer.decrypt($0) }
        try? link.flushSecure()
        // This is done before the delivery: a consumer that pauses in it stops the reading, not the sending.
        if heldBack { link.updateInterest(reading: true, writing: !link.queue.isEmpty) }
        // No request may follow, however the response that is being read ends.
        if layer.ending != nil { machine.peerEnded() }
        if opened > 0 {
            guard layer.withPlaintext(opened, { pass($0, exchange) }) else { return false }
        }
        if layer.hasUnsent { link.updateInterest(reading: true, writing: !link.queue.isEmpty) }
        guard layer.ending != nil else { return true }
        secureEnded(exchange, layer)
        return false
    }

    /// Ends the exchange as TLS has ended. Everything before the end has been delivered.
    func secureEnded(_ exchange: Exchange, _ layer: TLSLayer) {
        switch layer.ending {
        case .closed: ended(exchange, nil)
        case .failed(let error): engine.fail(exchange, .tls(error))
        case nil: break
        }
    }

    /// Whether an end of the connection may count as the end of content (RFC 9112 §9.8): anyone can send a FIN, but
    /// only the peer can send a close_notify.
    func isWholeEnding(_ exchange: Exchange) -> Bool {
        guard let secure = link.secure else { return true }
        if case .closed = secure.ending { return true }
        return exchange.request?.options.toleratesMissingCloseNotify ?? false
    }

    // MARK: Parked

    /// Reads what came. Returns true for tickets and key updates alone, which a server may send at any time (RFC 8446
    /// §4.6); false for data that no request asked for, or the end.
    func staysIdle() -> Bool {
        guard let secure = link.secure else { return false }
        let buffer = loop.readBuffer
        guard let result = try? link.read(into: buffer) else { return false }
        switch result {
        case .wouldBlock:
            return true
        case .endOfStream:
            return false
        case .bytes(let count):
            let opened = buffer.withBytes(count) { secure.decrypt($0) }
            try? link.flushSecure()
            if opened > 0 { engine.noteStray() }
            guard opened == 0, secure.ending == nil else { return false }
            secure.releaseBuffers()
            if secure.hasUnsent { link.updateInterest(reading: true, writing: false) }
            return true
        }
    }
}

/// What a connection does when the rates of its exchange hold it.
extension Connection {
    /// Stops sending until the rate allows more: the loop does not report room in the socket meanwhile.
    func holdSending(_ exchange: Exchange) {
        exchange.throttle?.holdSending()
        link.updateInterest(reading: exchange.isReading, writing: false)
        exchange.watch(at: loop.now)
    }

    /// Stops reading until the rate allows more: the socket fills, and the peer waits.
    func holdReading(_ exchange: Exchange) {
        link.updateInterest(reading: false, writing: link.awaitsRoom)
        exchange.watch(at: loop.now)
    }

    /// Handles a timer of the exchange: content that waited for a 100 is sent without it, and transfers that the rates
    /// held may go on. What the kernel was given may have moved since the last look.
    func timerFired(of exchange: Exchange) {
        if exchange.isLookDue(at: loop.now) { lookAtSending(exchange) }
        if case .awaitingContinue(let end) = exchange.sending, loop.now >= end { sendAwaitedContent(exchange) }
        if let throttle = exchange.throttle { goOn(exchange, throttle) }
    }

    private func goOn(_ exchange: Exchange, _ throttle: RateKeeper) {
        let due = throttle.resume(at: loop.now)
        // The idle limit stops while the rate stops the reading.
        if due.reading {
            exchange.noteActivity(at: loop.now)
            link.resumeReading(exchange.isReading)
        }
        if due.sending { loop.reschedule(link.token) }
    }
}
