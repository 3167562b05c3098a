internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// Receives a response from the socket and delivers it to the delegate: bytes are parsed where they were read, and
/// content is delivered as a slice of the loop's buffer.
extension Connection {
    func receive(_ exchange: Exchange) {
        guard beginReceiving() else { return }
        noteDrained(false)
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
                noteDrained(count < limit)
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
        var chunks = JoinedChunks()
        while true {
            let rest = input.extracting(droppingFirst: offset)
            let step: ParseStep
            do throws(HTTP1Error) {
                step = try reading.parser.parse(rest, into: &head)
            } catch {
                if deliver(&chunks, exchange, reading) {
                    engine.fail(exchange, .malformedResponse(error))
                } else if isServing(exchange) {
                    // The parser repeats its error.
                    reading.heldInput = Connection.copy(rest)
                }
                return false
            }
            offset += step.consumed
            if exchange.receiving == .content { exchange.report.framedReceived += UInt64(step.consumed) }
            var goesOn = true
            switch step.event {
            case .needsInput:
                return deliver(&chunks, exchange, reading)
            case .informational:
                exchange.delegate?.exchange(exchange.id, didReceive: head)
                goesOn = isServing(exchange)
                if goesOn, head.status == 100 { sendAwaitedContent(exchange) }
            case .head:
                goesOn = begin(exchange, head)
            case .body(let range):
                let isLast = offset == input.count
                goesOn = take(rest.extracting(range), isLast: isLast, after: &chunks, exchange, reading)
            case .end:
                goesOn = deliver(&chunks, exchange, reading)
                // The parser repeats the end.
                guard goesOn else { break }
                goesOn = completed(exchange, reading, surplus: input.count - offset)
                guard goesOn else { return false }
            case .tunnel:
                upgrade(exchange, head, unread: Connection.copy(input.extracting(droppingFirst: offset)))
                return false
            }
            guard goesOn, !exchange.isPaused else {
                if isServing(exchange) { reading.heldInput = Connection.copy(input.extracting(droppingFirst: offset)) }
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
                try exchange.decode(with: engine.decoder(for: encoding, request.options.decodingLimits))
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
        guard let offer = exchange.request?.offer, offer.isEmpty || offer.isTaken(by: head) else {
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
        after chunks: inout JoinedChunks,
        _ exchange: Exchange,
        _ reading: Reading
    ) -> Bool {
        // Small content that is alone in its read is not copied.
        let isJoined = piece.count <= JoinedChunks.most && !(isLast && chunks.isEmpty)
        if !isJoined || !chunks.hasRoom(for: piece) {
            guard deliver(&chunks, exchange, reading) else {
                if isServing(exchange) { reading.heldContent = (reading.heldContent ?? []) + Connection.copy(piece) }
                return false
            }
        }
        guard isJoined else { return deliver(piece, exchange, reading) }
        unsafe chunks.add(piece, to: engine.joined)
        return true
    }

    /// Delivers the chunks that were joined, if there are any.
    private func deliver(_ chunks: inout JoinedChunks, _ exchange: Exchange, _ reading: Reading) -> Bool {
        guard !chunks.isEmpty else { return true }
        let count = chunks.take()
        return unsafe deliver(UnsafeBufferPointer(rebasing: engine.joined[..<count]).span, exchange, reading)
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
            let mayGoOn = noteDecoded(count)
            if exchange.isPaused || !mayGoOn {
                reading.heldContent = Connection.copy(content.extracting(droppingFirst: offset))
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
        peerEnded()
        if let error, !error.isPeerClosure, error != .timedOut { return engine.fail(exchange, .system(error)) }
        guard exchange.report.timings.responseStart != nil else {
            var cause = error
            if case .broken(let sendError) = exchange.sending { cause = cause ?? sendError }
            guard exchange.isMidUpload else { return engine.fail(exchange, .closedBeforeResponse(cause)) }
            return engine.fail(exchange, .uploadAborted(sent: exchange.report.contentSent, cause))
        }
        guard exchange.receiving == .content, let reading else { return engine.fail(exchange, .truncatedHead(error)) }
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

    private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }
}
