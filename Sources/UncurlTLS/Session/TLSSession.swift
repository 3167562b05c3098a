internal import CUncurlOpenSSL

/// One TLS connection without its transport: it takes ciphertext as a span and writes ciphertext to a
/// ``CiphertextBuffer``.
///
/// It is confined to one loop. Every call may write to the output, also one that fails (the alert): the session's owner
/// sends the output after each call. The session keeps no input back: ``handshake(_:from:)`` and ``read(_:from:into:)``
/// ask for input only after they have taken all of it.
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
        /// The session has taken all input: the peer must send more.
        case needsInput
        /// The roots are not loaded yet. Call again when ``TLSContext/trust`` has them.
        case needsRoots
        /// A question of ``TLSConfiguration/TrustDecision/asks``. Call again after ``TLSSession/decide(_:)``. Before
        /// the first byte, the question is about the server as a session to resume knows it. If the answer is a
        /// refusal, that session is not offered.
        case trust(PeerTrust)
        /// A question of ``TLSConfiguration/IdentityDecision/asks``. Call again after ``TLSSession/present(_:)``.
        /// Before the first byte, it is the request that the server had when a session to resume was made. With another
        /// answer than then, that session is not offered.
        case identity(IdentityRequest)
        /// The handshake is complete.
        case done
    }

    /// The result of a read.
    public enum Read: Hashable, Sendable {
        /// The number of bytes read, more than 0.
        case bytes(Int)
        /// The session has taken all input, and there is no plaintext.
        case needsInput
        /// The peer sent close_notify: nothing was cut off.
        case closed
    }

    enum State {
        case handshaking
        case open
        case peerClosed
        case closed
        case failed(TLSError)
    }

    /// The bytes that the peer can make the session write without sending a byte of data. They are enough for some
    /// hundred answers to key updates, of which RFC 8446 §5.5 needs one in 2²⁴ records, or to HelloRequests, which are
    /// all declined.
    static let answerLimit = 8 * 1024

    let ssl: OpaquePointer
    /// The input and output of OpenSSL's BIO, which keeps this address.
    private let wire: UnsafeMutablePointer<uncurl_wire>
    let output: CiphertextBuffer
    let role: Role
    private(set) var state = State.handshaking
    var findings = PeerFindings()
    var identity = IdentityState.unknown
    var offer = ResumptionOffer()
    /// Plaintext that waits until the peer has ended a message; see ``write(_:_:)``.
    var delayed = DelayedPlaintext()
    /// The peer's first bytes, which are needed if the handshake fails.
    private var firstBytes = FirstBytes()
    /// The number of bytes written to answer the peer since its last byte of data.
    private var answers = 0

    /// Makes a client's connection.
    ///
    /// - Parameters:
    ///   - context: The context, made once for all sessions with the same settings.
    ///   - name: The server whose certificate is wanted.
    ///   - resumptionScope: A text that separates connections to the same name whose sessions must not mix: port, proxy
    ///     and the like.
    ///   - output: The buffer for ciphertext, shared by the sessions of a loop.
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

    /// Makes a server's connection.
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
        // From here on `deinit` runs if an error is thrown.
        let isWired = unsafe uncurl_wire_attach(ssl, wire) == 1
        let isKnown = unsafe uncurl_set_app_data(ssl, Unmanaged.passUnretained(self).toOpaque()) == 1
        guard isWired, isKnown else { throw .outOfMemory }
    }

    deinit {
        // Otherwise OpenSSL marks the session as not to be resumed. That is right after an error, and wrong for a
        // connection that just ended.
        if case .failed = state {} else { unsafe SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        unsafe SSL_free(ssl)
        unsafe wire.deallocate()
    }

    /// Whether the handshake is done and the connection has not ended.
    public var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    // MARK: Bytes

    /// Continues the handshake. A client's first call has no input. `offset` moves past the bytes that were taken. When
    /// the handshake is done, the rest of the input is for ``read(_:from:into:)``.
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

    /// Decrypts as many records as fit into `buffer`. `offset` moves past the bytes that were taken. The result is
    /// `.needsInput` only if all of them were.
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
            // OpenSSL takes one record at a time from the input, never more. With no input left and nothing decrypted,
            // a call gives nothing.
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
                // As below, the bytes that have been decrypted come first.
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
            // The bytes before the error are whole and valid. The next call throws the error.
            let error = fail(code)
            guard filled > 0 else { throw error }
            return .bytes(filled)
        }
    }

    // MARK: Ends

    /// Writes one close_notify to the output, and does not wait for the peer's. The session may be resumed.
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

    /// Writes close_notify to the output, and nothing after it. What the peer sends before its own can still be read
    /// (RFC 8446 §6.1).
    public func closeWriting() {
        guard case .open = state else { return }
        uncurl_forget_errors()
        _ = unsafe SSL_shutdown(ssl)
    }

    /// Ends a connection that is cut off on purpose. It writes no close_notify, which would make a half-sent body look
    /// whole. The session is not resumed.
    public func abandon() {
        switch state {
        case .handshaking, .open, .peerClosed: state = .failed(.closed)
        case .closed, .failed: break
        }
    }

    /// Returns what the end of the transport means. Nil if nothing was cut off.
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

    /// Frees OpenSSL's buffers, 34 KiB, which are allocated again with the next byte. This is for parked connections.
    /// It does nothing while a record is half read.
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
        guard answers > TLSSession.answerLimit, answers > TLSSession.answerLimit + identityRoom else { return }
        let error = unsafe SSL_version(ssl) == TLS1_3_VERSION ? TLSError.tooManyKeyUpdates : .tooManyHelloRequests
        state = .failed(error)
        throw error
    }

    /// The bytes that one answer with a client certificate takes after the handshake, in addition to the limit.
    private var identityRoom: Int {
        guard case .client(let client) = role else { return 0 }
        let configuration = client.context.configuration
        guard configuration.allowsPostHandshakeIdentity else { return 0 }
        let configured = configuration.identity
        let shown = identity.given(configured: configured).shown ?? configured
        return shown?.chain.reduce(4 * 1024) { $0 + $1.der.count } ?? 0
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
        // The verifier's findings say more than the alert that was made of them.
        if case .decided(.failure(let error)) = findings.verdict { return error }
        if let identityFailure { return identityFailure }
        if let name = findings.strangeProtocol { return .unexpectedApplicationProtocol(name) }
        let error = TLSError.of(entry, code)
        return error == .plainHTTP ? error : firstBytes.complaint ?? error
    }
}
