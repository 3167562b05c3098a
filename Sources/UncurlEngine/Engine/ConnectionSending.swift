internal import UncurlHTTP1
internal import UncurlReactor

/// Sends a request on the socket: written at once, and queued only if the kernel has no room.
extension Connection {
    func send(_ exchange: Exchange) {
        guard let request = exchange.request else { return }
        if request.chunked, host.isHTTP10 { return engine.fail(exchange, .invalidRequest(.unknownLengthToHTTP10)) }
        exchange.report.timings.requestStart = loop.now
        let waits = request.continueWait > 0 && !exchange.expectationFailed
        var head = exchange.expectationFailed ? request.serializedWithoutExpectation : request.serialized
        if host.route.isAbsolute, let proxy = host.route.proxy {
            do throws(ProxyError) {
                head = try engine.proxied(head, request, of: exchange, by: proxy)
            } catch {
                return engine.fail(exchange, .proxy(error))
            }
        }
        exchange.report.headLength = head.count
        if request.hasLargeContent {
            link.limitUnsent(to: EngineRequest.mostUnsent)
            exchange.watchSending(at: loop.now)
        }
        if request.body.bytes != nil, request.continueWait == 0, exchange.throttle == nil, !exchange.isSendingHeld {
            return sendFromMemory(exchange, request, head)
        }
        link.queue.append(head, isContent: false)
        if waits {
            exchange.sending = .awaitingContinue(until: loop.now.advanced(byNanoseconds: request.continueWait))
        } else {
            beginContent(exchange, request)
        }
        // The source is asked after this turn's events, and so not before ``Engine/start(_:delegate:priority:)`` has
        // returned the id.
        loop.reschedule(link.token)
    }

    /// Sends content that waited for a 100, which has come, or for which the wait is over.
    func sendAwaitedContent(_ exchange: Exchange) {
        guard case .awaitingContinue = exchange.sending, let request = exchange.request else { return }
        beginContent(exchange, request)
        loop.reschedule(link.token)
    }

    private func beginContent(_ exchange: Exchange, _ request: EngineRequest) {
        if request.body.bytes != nil {
            link.queue.append(request.content, isContent: true)
            exchange.sending = .memory
        } else {
            exchange.sending = .content(BodyReader(request.body, wake: waking(exchange)))
        }
    }

    private func waking(_ exchange: Exchange) -> @Sendable () -> Void {
        let (handle, id) = (engine.handle, exchange.id)
        return { handle.post { $0.bodyReady(id) } }
    }

    /// Handles a final answer that came before the request was sent completely. The rest of the content is not sent if
    /// the server was asked whether it wants the content, or if the answer is an error. With a status of success the
    /// answer may be made of that content, as an echo is, and sending goes on.
    func answeredEarly(_ exchange: Exchange, status: Int) {
        switch exchange.sending {
        case .idle, .done, .stopped, .broken: return
        case .awaitingContinue: break
        // The rest of a pipeline is other requests.
        case .memory, .content:
            guard status >= 300, exchange.request?.pipelineDepth == 1 else { return }
        }
        exchange.sending = .stopped
        link.queue.removeAll()
        link.updateInterest(reading: exchange.isReading, writing: false)
    }

    /// Sends head and content together. This is the common case, in one call and without a state.
    private func sendFromMemory(_ exchange: Exchange, _ request: EngineRequest, _ head: [UInt8]) {
        exchange.sending = .memory
        let content = request.content
        let taken: Int
        do throws(Errno) {
            let count = try link.write(head.span, content.span)
            taken = count ?? 0
        } catch {
            return sendingBroke(exchange, error)
        }
        exchange.report.bytesSent += UInt64(taken)
        guard taken < head.count + content.count else {
            return sendingEnded(exchange, content: request.contentBytes)
        }
        link.queue.append(head, isContent: false)
        link.queue.append(content, isContent: true)
        link.queue.skip(taken)
        link.updateInterest(reading: exchange.isReading, writing: true)
        noteSent(exchange, content: max(0, taken - head.count))
    }

    /// Empties the queue into the socket, and asks the body's source for more while there is room.
    func pump(_ exchange: Exchange) {
        if exchange.isSendingHeld { return link.updateInterest(reading: exchange.isReading, writing: false) }
        for _ in 0..<Connection.partsPerTurn {
            switch exchange.sending {
            case .idle, .done, .stopped, .broken:
                return link.updateInterest(reading: exchange.isReading, writing: false)
            case .awaitingContinue, .memory, .content:
                break
            }
            let allowance = exchange.throttle?.sendable(at: loop.now) ?? .max
            let progress: SendQueue.Progress
            do throws(Errno) {
                progress = try link.flush(atMost: allowance)
            } catch {
                return sendingBroke(exchange, error)
            }
            if progress.bytes > 0 {
                guard moved(exchange, progress.bytes, content: progress.content) else { return }
            }
            guard progress.finished else {
                if progress.bytes >= allowance { return holdSending(exchange) }
                return link.updateInterest(reading: exchange.isReading, writing: true)
            }
            guard refill(exchange) else { return }
        }
        loop.reschedule(link.token)
    }

    /// Refills the empty queue. Returns false if nothing more can be sent now, or the exchange is over.
    private func refill(_ exchange: Exchange) -> Bool {
        switch exchange.sending {
        case .idle, .done, .stopped, .broken:
            return false
        case .awaitingContinue:
            link.updateInterest(reading: exchange.isReading, writing: false)
            return false
        case .memory:
            sendingEnded(exchange, content: unreportedContent(exchange))
            if isServing(exchange) { exchange.watch(at: loop.now) }
            return false
        case .content(let reader):
            do throws(EngineError) {
                let next = try reader.next { offset in
                    exchange.delegate?.exchange(exchange.id, needsBodyAt: offset) ?? .failed
                }
                // The delegate may have ended the exchange.
                guard isServing(exchange) else { return false }
                return try take(next, of: reader, exchange)
            } catch .bodyUnreadable(let error) where error.isResourceExhaustion {
                // The exchange's time limits end a wait in vain.
                engine.awaitDescriptor(then: waking(exchange))
                link.updateInterest(reading: exchange.isReading, writing: false)
                return false
            } catch {
                if isServing(exchange) { engine.fail(exchange, error) }
                return false
            }
        }
    }

    private func take(
        _ next: BodyReader.Next,
        of reader: BodyReader,
        _ exchange: Exchange
    ) throws(EngineError) -> Bool {
        switch next {
        case .send(let before, let content, let after):
            link.queue.append(before, isContent: false)
            link.queue.append(content, isContent: true)
            link.queue.append(after, isContent: false)
        case .end(let last):
            link.queue.append(last, isContent: false)
            exchange.sending = .memory
        case .again: break
        case .later:
            link.updateInterest(reading: exchange.isReading, writing: false)
            return false
        case .file(let file, let offset, let count):
            if count > UInt64(FileBody.bite), link.sendsFiles {
                return try sendSlice(of: file, at: offset, Int(clamping: count), reader, exchange)
            }
            try readBite(of: file, at: offset, Int(clamping: count), reader)
        }
        return true
    }

    private func readBite(
        of file: OpenFile,
        at offset: UInt64,
        _ count: Int,
        _ reader: BodyReader
    ) throws(EngineError) {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try file.read(at: offset, atMost: min(count, FileBody.bite))
        } catch {
            throw .bodyUnreadable(error)
        }
        try reader.advance(bytes.count)
        link.queue.append(bytes, isContent: true)
    }

    /// Sends a part of a file from the page cache without a copy, which takes a third of the CPU time of reading and
    /// sending.
    private func sendSlice(
        of file: OpenFile,
        at offset: UInt64,
        _ count: Int,
        _ reader: BodyReader,
        _ exchange: Exchange
    ) throws(EngineError) -> Bool {
        let wanted = min(count, FileBody.slice, exchange.throttle?.sendable(at: loop.now) ?? .max)
        guard wanted > 0 else {
            holdSending(exchange)
            return false
        }
        let sent: Int?
        do throws(Errno) {
            sent = try link.write(file, at: offset, atMost: wanted)
        } catch {
            if error.endsConnection {
                sendingBroke(exchange, error)
                return false
            }
            // The file is at fault, which reading tells, or only sendfile(2): some file systems and sandboxes lack it.
            try readBite(of: file, at: offset, wanted, reader)
            return true
        }
        guard let sent else {
            link.updateInterest(reading: exchange.isReading, writing: true)
            return false
        }
        try reader.advance(sent)
        guard moved(exchange, sent, content: sent) else { return false }
        guard sent == wanted else { return true }
        // A slice is a turn's share: other connections come first.
        loop.reschedule(link.token)
        return false
    }

    /// Counts `bytes` that the kernel took. Returns false if the delegate, which is told, has ended the exchange.
    private func moved(_ exchange: Exchange, _ bytes: Int, content: Int) -> Bool {
        exchange.report.bytesSent += UInt64(bytes)
        exchange.throttle?.sent(bytes)
        exchange.noteActivity(at: loop.now)
        noteSent(exchange, content: content)
        return isServing(exchange)
    }

    /// Looks how much of what the kernel took has not arrived at the peer's: bytes move although none are written.
    func lookAtSending(_ exchange: Exchange) {
        if let count = link.unacknowledged { exchange.noteUnacknowledged(count, at: loop.now) }
    }

    private func sendingEnded(_ exchange: Exchange, content: Int) {
        exchange.sending = .done
        exchange.report.timings.requestEnd = loop.now
        if exchange.watchesSending { lookAtSending(exchange) }
        link.updateInterest(reading: exchange.isReading, writing: false)
        noteSent(exchange, content: content)
    }

    /// Stops sending after EPIPE and the like. The server may have answered before it closed (413, 401), so reading
    /// goes on, and what comes, or the end, decides. Epoll reports that end by itself; a fault on this side is handled
    /// next turn.
    private func sendingBroke(_ exchange: Exchange, _ error: Errno) {
        exchange.sending = .broken(error)
        if !error.isPeerClosure { loop.reschedule(link.token) }
        link.queue.removeAll()
        link.updateInterest(reading: exchange.isReading, writing: false)
    }

    /// A pipeline is one piece of heads and contents: its content counts once all of it has been sent.
    private func unreportedContent(_ exchange: Exchange) -> Int {
        guard let request = exchange.request, request.pipelineDepth > 1 else { return 0 }
        return request.contentBytes
    }

    private func noteSent(_ exchange: Exchange, content: Int) {
        guard content > 0 else { return }
        exchange.report.contentSent += UInt64(content)
        exchange.delegate?.exchange(exchange.id, didSend: content)
    }
}

extension Errno {
    /// Whether it is the end of a connection, which the kernel tells once: the next call gets EPIPE.
    fileprivate var endsConnection: Bool {
        switch self {
        case .timedOut, .hostUnreachable, .networkUnreachable: true
        default: isPeerClosure
        }
    }
}
