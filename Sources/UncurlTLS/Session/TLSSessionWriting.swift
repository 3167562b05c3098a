internal import CUncurlOpenSSL

/// The way of plaintext to the output.
extension TLSSession {
    /// Encrypts `first` and `second` into the output. Parts of both share a record where they fit.
    ///
    /// - Returns: The number of bytes taken: all, or none while over 256 KiB wait for the peer to end a message that it
    ///   has begun. Only more input can change that.
    public func write(_ first: Span<UInt8>, _ second: Span<UInt8> = Span()) throws(TLSError) -> Int {
        switch state {
        case .handshaking: throw .protocolViolation("data before the handshake is done")
        case .open, .peerClosed: break
        case .closed: throw .closed
        case .failed(let error): throw error
        }
        guard delayed.isEmpty else {
            guard !delayed.isFull else { return 0 }
            delayed.append(first, from: 0)
            delayed.append(second, from: 0)
            return first.count + second.count
        }
        let taken = try encrypt(first, second)
        delayed.append(first, from: taken)
        delayed.append(second, from: max(0, taken - first.count))
        return first.count + second.count
    }

    /// Encrypts what OpenSSL takes now.
    private func encrypt(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(TLSError) -> Int {
        if second.isEmpty {
            return try unsafe first.withUnsafeBufferPointer { head throws(TLSError) in try unsafe encrypt(head) }
        }
        guard first.count < TLSRecord.maximumPlaintext else {
            let taken = try encrypt(first, Span())
            guard taken > 0 else { return 0 }
            return try taken + encrypt(second, Span())
        }
        if first.isEmpty { return try encrypt(second, Span()) }
        let shared = min(second.count, TLSRecord.maximumPlaintext - first.count)
        let taken = try unsafe encrypt(output.joined(first, second.extracting(first: shared)))
        guard taken > 0, shared < second.count else { return taken }
        return try taken + encrypt(second.extracting(droppingFirst: shared), Span())
    }

    /// Encrypts all of the bytes or none: the transport never blocks.
    private func encrypt(_ bytes: UnsafeBufferPointer<UInt8>) throws(TLSError) -> Int {
        guard !bytes.isEmpty else { return 0 }
        var count = 0
        let code = unsafe uncurl_write(ssl, bytes.baseAddress, bytes.count, &count)
        switch code {
        case SSL_ERROR_NONE: return count
        case SSL_ERROR_WANT_READ: return 0
        default: throw fail(code)
        }
    }

    /// Encrypts delayed plaintext after input has come: the peer's message may be whole now.
    func sendDelayed() throws(TLSError) {
        switch state {
        case .open, .peerClosed: break
        case .handshaking, .closed, .failed: return
        }
        let waiting = delayed.bytes
        if try encrypt(waiting.span, Span()) > 0 { delayed = DelayedPlaintext() }
    }
}
