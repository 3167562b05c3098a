internal import COpenSSL

/// One TLS connection without its transport: ciphertext comes in as a span, goes out through a ``CiphertextBuffer``.
///
/// Confined to one loop. Every call may write to the output, the failing ones too (the alert): its owner sends it after
/// each. Nothing hides here: ``handshake(_:from:)`` and ``read(_:from:into:)`` ask for input only once they have taken
/// all of it.
///
/// ```
///  handshaking ── done ──▶ open ── close_notify came ──▶ peerClosed
///       │                   │                               │
///       ├── any error ──────┴──────────▶ failed(error)      │
///       └── close(), abandon() ────────▶ closed ◀───────────┘
/// ```
@safe public final class TLSSession {
    /// Where a call of ``TLSSession/handshake(_:from:)`` stopped.
    public enum Handshake: Sendable {
        /// All input is taken: more must come from the peer.
        case needsInput
        /// The roots are not loaded yet: to be called again when ``TLSContext/trust`` is.
        case needsRoots
        /// ``TLSConfiguration/TrustDecision/asks``: to be called again after ``TLSSession/decide(_:)``. Before the
        /// first byte it is about the server as a session to resume knows it; refused, that session is not offered.
        case trust(PeerTrust)
        /// ``TLSConfiguration/IdentityDecision/asks``: to be called again after ``TLSSession/present(_:)``. Before the
        /// first byte it is the wish that the server had when a session to resume was made; with another answer than
        /// then, that session is not offered.
        case identity(IdentityRequest)
        /// The handshake is complete.
        case done
    }

    /// What a read gave.
    public enum Read: Hashable, Sendable {
        /// Over 0.
        case bytes(Int)
        /// All input is taken, and there is no plaintext.
        case needsInput
        /// close_notify: nothing was cut off.
        case closed
    }

    enum State {
        case handshaking
        case open
        case peerClosed
        case closed
        case failed(TLSError)
    }

    /// What the peer can make us write without sending a byte of data: some hundred answers to key updates, of which
    /// RFC 8446 §5.5 needs one in 2²⁴ records, or to HelloRequests, all of which are declined.
    static let answerLimit = 8 * 1024

    let ssl: OpaquePointer
    /// OpenSSL's BIO keeps its address.
    private let wire: UnsafeMutablePointer<uncurl_wire>
    let output: CiphertextBuffer
    let role: Role
    private(set) var state = State.handshaking
    var findings = PeerFindings()
    var identity = IdentityState.unknown
    var offer = ResumptionOffer()
    /// Plaintext that waits for the peer to end a message; see ``write(_:_:)``.
    var delayed = DelayedPlaintext()
    /// For a handshake that fails: what the peer began with.
    private var firstBytes = FirstBytes()
    /// Bytes written to answer the peer since its last byte of data.
    private var answers = 0

    /// A client's connection.
    ///
    /// - Parameters:
    ///   - context: made once, for all sessions with the same settings.
    ///   - name: whose certificate is wanted.
    ///   - resumptionScope: tells connections to the same name apart whose sessions must not mix: port, proxy and the
    ///     like.
    ///   - output: shared by the sessions of a loop.
    public convenience init(
        client context: TLSContext,
        name: ServerName,
        resumptionScope: String,
        output: CiphertextBuffer
    ) throws(TLSError) {
        let client = Client(
            context: context,
            name: name,
            sessionKey: "\(name) \(resumptionScope)",
            generation: context.sessions.generation
        )
        try self.init(.client(client), context.owned, output)
        unsafe SSL_set_connect_state(ssl)
        if let indication = name.indication, unsafe uncurl_set_server_name(ssl, indication) != 1 {
            throw .invalidServerName(name.text)
        }
        watchApplicationProtocol()
    }

    /// A server's connection.
    public convenience init(server context: TLSServerContext, output: CiphertextBuffer) throws(TLSError) {
        try self.init(.server(context), context.owned, output)
        unsafe SSL_set_accept_state(ssl)
    }

    private init(_ role: Role, _ context: OwnedContext, _ output: CiphertextBuffer) throws(TLSError) {
        guard let ssl = unsafe SSL_new(context.handle) else { throw .outOfMemory }
        unsafe self.ssl = ssl
        self.role = role
        self.output = output
        unsafe wire = .allocate(capacity: 1)
        unsafe wire.initialize(to: uncurl_wire(in: nil, in_left: 0, out: output.storage))
        // From here on `deinit` runs whatever is thrown.
        let isWired = unsafe uncurl_wire_attach(ssl, wire) == 1
        let isKnown = unsafe uncurl_set_app_data(ssl, Unmanaged.passUnretained(self).toOpaque()) == 1
        guard isWired, isKnown else { throw .outOfMemory }
    }

    deinit {
        // Otherwise OpenSSL marks the session as not to be resumed: right after an error, wrong for a connection that
        // just ended.
        if case .failed = state {} else { unsafe SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        unsafe SSL_free(ssl)
        unsafe wire.deallocate()
    }

    /// Between a handshake and any end.
    public var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    // MARK: Bytes

    /// Goes on with the handshake; the first call of a client has no input. `offset` moves past what was taken. Once
    /// done, what is left of the input is for ``read(_:from:into:)``.
    public func handshake(_ input: Span<UInt8>, from offset: inout Int) throws(TLSError) -> Handshake {
        switch state {
        case .handshaking: break
        case .open, .peerClosed: return .done
        case .closed: throw .closed
        case .failed(let error): throw error
        }
        if case .client(let client) = role, let question = prepareOffer(client) { return question }
        firstBytes.note(input, from: offset)
        let code = feed(input, &offset) { unsafe uncurl_handshake(ssl) }
        switch code {
        case SSL_ERROR_NONE:
            try finishHandshake()
            return .done
        case SSL_ERROR_WANT_READ:
            return .needsInput
        case SSL_ERROR_WANT_RETRY_VERIFY:
            switch findings.verdict {
            case .unknown, .decided: return .needsRoots
            case .asked(let question): return .trust(question)
            }
        case SSL_ERROR_WANT_X509_LOOKUP:
            guard case .asked(let request) = identity else { throw fail(code) }
            return .identity(request)
        default:
            throw fail(code)
        }
    }

    /// Decrypts into `buffer`, as many records as fit. `offset` moves past what was taken; `.needsInput` only once that
    /// is all.
    public func read(
        _ input: Span<UInt8>,
        from offset: inout Int,
        into buffer: UnsafeMutableBufferPointer<UInt8>
    ) throws(TLSError) -> Read {
        switch state {
        case .handshaking: throw .protocolViolation("data before the handshake is done")
        case .open: break
        case .peerClosed, .closed: return .closed
        case .failed(let error): throw error
        }
        let before = output.count
        var filled = 0
        var code = SSL_ERROR_NONE
        feed(input, &offset) {
            // OpenSSL takes a record at a time from the input, never more: with no input left and nothing decrypted
            // there is nothing to be had.
            while filled < buffer.count, unsafe wire.pointee.in_left > 0 || SSL_pending(ssl) > 0 {
                var count = 0
                code = unsafe uncurl_read(
                    ssl,
                    buffer.baseAddress.map { unsafe $0 + filled },
                    buffer.count - filled,
                    &count
                )
                guard code == SSL_ERROR_NONE else { break }
                filled += count
            }
        }
        try countAnswers(output.count - before, filled)
        if !delayed.isEmpty {
            do throws(TLSError) {
                try sendDelayed()
            } catch {
                // As below: what has been decrypted counts first.
                guard filled > 0 else { throw error }
                return .bytes(filled)
            }
        }
        switch code {
        case SSL_ERROR_NONE, SSL_ERROR_WANT_READ:
            return filled > 0 ? .bytes(filled) : .needsInput
        case SSL_ERROR_ZERO_RETURN:
            state = .peerClosed
            return filled > 0 ? .bytes(filled) : .closed
        default:
            // What came before the error is whole and counts; the next call throws it.
            let error = fail(code)
            guard filled > 0 else { throw error }
            return .bytes(filled)
        }
    }

    // MARK: Ends

    /// One close_notify into the output; the peer's is not waited for. The session may be resumed.
    public func close() {
        switch state {
        case .open, .peerClosed:
            uncurl_forget_errors()
            _ = unsafe SSL_shutdown(ssl)
            state = .closed
        case .handshaking:
            state = .closed
        case .closed, .failed:
            break
        }
    }

    /// close_notify into the output, and nothing after it; what the peer sends until its own can still be read
    /// (RFC 8446 §6.1).
    public func closeWriting() {
        guard case .open = state else { return }
        uncurl_forget_errors()
        _ = unsafe SSL_shutdown(ssl)
    }

    /// For a connection cut off on purpose: no close_notify, which would make a half-sent body look whole. The session
    /// is not resumed.
    public func abandon() {
        switch state {
        case .handshaking, .open, .peerClosed: state = .failed(.closed)
        case .closed, .failed: break
        }
    }

    /// What the end of the transport means; nil: nothing was cut off.
    public func inputEnded() -> TLSError? {
        switch state {
        case .handshaking:
            let error = firstBytes.complaint ?? .closedInHandshake
            state = .failed(error)
            return error
        case .open: return .truncated
        case .peerClosed, .closed: return nil
        case .failed(let error): return error
        }
    }

    /// Gives OpenSSL's buffers back, 34 KiB; they return with the next byte. For parked connections. Nothing happens
    /// while a record is half read.
    public func releaseBuffers() { _ = unsafe SSL_free_buffers(ssl) }

    // MARK: -

    /// Lends the input to OpenSSL for the length of `body`.
    @inline(__always) @discardableResult
    private func feed<Result>(_ input: Span<UInt8>, _ offset: inout Int, _ body: () -> Result) -> Result {
        unsafe input.withUnsafeBufferPointer { bytes in
            let rest = unsafe UnsafeBufferPointer(rebasing: bytes[offset...])
            unsafe wire.pointee.in = rest.baseAddress
            unsafe wire.pointee.in_left = rest.count
            let result = body()
            offset = unsafe bytes.count - wire.pointee.in_left
            unsafe wire.pointee.in = nil
            unsafe wire.pointee.in_left = 0
            return result
        }
    }

    private func countAnswers(_ written: Int, _ data: Int) throws(TLSError) {
        answers = data > 0 ? 0 : answers + written
        guard answers > TLSSession.answerLimit else { return }
        let error = unsafe SSL_version(ssl) == TLS1_3_VERSION ? TLSError.tooManyKeyUpdates : .tooManyHelloRequests
        state = .failed(error)
        throw error
    }

    private func finishHandshake() throws(TLSError) {
        if let name = findings.strangeProtocol { throw refuse(.unexpectedApplicationProtocol(name)) }
        try recheckPins()
        state = .open
    }

    func fail(_ code: CInt) -> TLSError {
        let error = explain(code)
        if case .handshaking = state { forgetOffered() }
        state = .failed(error)
        return error
    }

    func refuse(_ error: TLSError) -> TLSError {
        forgetOffered()
        state = .failed(error)
        return error
    }

    private func explain(_ code: CInt) -> TLSError {
        let entry = OpenSSLErrors.take().first
        guard case .handshaking = state else { return .of(entry, code) }
        // What the verifier found says more than the alert made of it.
        if case .decided(.failure(let error)) = findings.verdict { return error }
        if let identityFailure { return identityFailure }
        if let name = findings.strangeProtocol { return .unexpectedApplicationProtocol(name) }
        let error = TLSError.of(entry, code)
        return error == .plainHTTP ? error : firstBytes.complaint ?? error
    }
}
