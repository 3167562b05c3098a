internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlTLS

/// How a response passes through TLS, and what an idle connection does with bytes that come.
extension Connection {
    /// Receives through TLS. Returns false if the exchange is over, or paused with the rest held back.
    func receive(_ buffer: ReadBuffer, _ count: Int, _ exchange: Exchange, through layer: TLSLayer) -> Bool {
        let heldBack = layer.waitsForInput
        let opened = buffer.withBytes(count) { layer.decrypt($0) }
        link.flushSecure()
        // This is done before the delivery: a consumer that pauses in it stops the reading, not the sending.
        if heldBack { link.updateInterest(reading: true, writing: !link.queue.isEmpty) }
        // No request may follow, however the response that is being read ends.
        if layer.ending != nil { peerEnded() }
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
            link.flushSecure()
            if opened > 0 { engine.noteStray() }
            guard opened == 0, secure.ending == nil else { return false }
            secure.releaseBuffers()
            if secure.hasUnsent { link.updateInterest(reading: true, writing: false) }
            return true
        }
    }
}
