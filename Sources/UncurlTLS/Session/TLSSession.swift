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
        /// A question of ``TLSConfiguration/asksAboutTrust``. Call again after ``TLSSession/decide(_:)``. Before
        /// the first byte, the question is about the server as a session to resume knows it. If the answer is a
        /// refusal, that session is not offered.
        case trust(PeerTrust)
        /// A question of ``TLSConfiguration/asksAboutIdentity``. Call again after ``TLSSession/present(_:)``.
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
    /// What a client means to reach. Nil at a server.
    private let client: Client?
    /// A server's settings. Nil at a client.
    let server: TLSServerContext?
    private(set) var state = State.handshaking
    private var findings = PeerFindings()
    /// The server's request for a certificate, and the decision about it. OpenSSL asks again while there is none: the
    /// handshake stops meanwhile.
    private var identity: (wish: IdentityRequest, answer: IdentityAnswer?)?
    private var offer = ResumptionOffer()
    /// Plaintext that came to be encrypted while only part of a message from the peer is here: OpenSSL encrypts nothing
    /// then (a TLS 1.3 ticket may come in several records).
    private var delayed: [UInt8] = []
    /// How many bytes of it there are before nothing more is taken until the peer has ended its message: enough for any
    /// request's head, and for as much of an upload as a connection sends in a turn or two.
    private static let delayedLimit = 256 * 1024
    /// The peer's first bytes, which are needed if the handshake fails.
    private var firstBytes: [UInt8] = []
    /// How many of them are kept: enough for "HTTP/1.1".
    private static let firstByteCount = 8
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
        try self.init(client, nil, context.owned, output)
        unsafe SSL_set_connect_state(ssl)
        if let indication = name.indication, unsafe uncurl_set_server_name(ssl, indication) != 1 {
            throw .invalidServerName(name.text)
        }
        watchApplicationProtocol()
    }

    /// Makes a server's connection.
    public convenience init(server context: TLSServerContext, output: CiphertextBuffer) throws(TLSError) {
        try self.init(nil, context, context.owned, output)
        unsafe SSL_set_accept_state(ssl)
    }

    private init(
        _ client: Client?,
        _ server: TLSServerContext?,
        _ context: OwnedContext,
        _ output: CiphertextBuffer
    ) throws(TLSError) {
        guard let ssl = unsafe SSL_new(context.handle) else { throw .outOfMemory }
        unsafe self.ssl = ssl
        (self.client, self.server) = (client, server)
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
        if let client, let question = prepareOffer(client) { return question }
        for index in offset..<min(input.count, offset + Self.firstByteCount - firstBytes.count) {
            firstBytes.append(input[index])
        }
        let code = feed(input, &offset) { unsafe uncurl_handshake(ssl) }
        switch code {
        case SSL_ERROR_NONE:
            try finishHandshake()
            return .done
        case SSL_ERROR_WANT_READ:
            return .needsInput
        case SSL_ERROR_WANT_RETRY_VERIFY:
            guard findings.verdict == nil, let question = findings.question else { return .needsRoots }
            return .trust(question)
        case SSL_ERROR_WANT_X509_LOOKUP:
            guard let identity, identity.answer == nil else { throw fail(code) }
            return .identity(identity.wish)
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
            let error = complaint ?? .closedInHandshake
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
        guard let configuration = client?.context.configuration, configuration.allowsPostHandshakeIdentity else {
            return 0
        }
        let configured = configuration.identity
        let shown = given(configured: configured).shown ?? configured
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
        if case .failure(let error) = findings.verdict { return error }
        if let identityFailure { return identityFailure }
        if let name = findings.strangeProtocol { return .unexpectedApplicationProtocol(name) }
        let error = TLSError.of(entry, code)
        return error == .plainHTTP ? error : complaint ?? error
    }

    /// The error for a peer that does not use TLS. Nil if it began like TLS, with a record of a known type (RFC 8446
    /// §5.1), or sent nothing.
    private var complaint: TLSError? {
        guard let first = firstBytes.first, !(20...23).contains(first) else { return nil }
        return firstBytes.starts(with: Array("HTTP/".utf8)) ? .plainHTTP : .notTLS(firstBytes: firstBytes)
    }
}

/// The check of a server's ALPN answer. OpenSSL's treatment of one that was not offered depends on the release: the
/// early ones of 3.0 let it pass, later ones end the handshake with a "bad extension".
extension TLSSession {
    func watchApplicationProtocol() {
        _ = unsafe uncurl_set_extension_callback(ssl) { ssl, _, type, bytes, count, _ in
            guard type == TLSEXT_TYPE_application_layer_protocol_negotiation, let bytes = unsafe bytes else { return }
            let answer = unsafe UnsafeBufferPointer(start: bytes, count: max(0, Int(count)))
            // RFC 7301 §3.1: the list's length in two bytes, then the length of the one name, then the name.
            if unsafe answer.dropFirst(2).elementsEqual(TLSContext.applicationProtocols) { return }
            let name = unsafe String(decoding: answer.dropFirst(3), as: UTF8.self)
            unsafe TLSSession.of(ssl)?.findings.note(strangeProtocol: name)
        }
    }
}

/// What a handshake agreed on.
public struct TLSInfo: Hashable, Sendable {
    /// The protocol's version.
    public let version: TLSVersion
    /// The suite's IANA name: "TLS_AES_256_GCM_SHA384".
    public let cipherSuite: String
    /// The protocol that ALPN agreed on. Nil if the peer sent no ALPN answer, which here means HTTP/1.1.
    public let applicationProtocol: String?
    /// Whether an earlier session was resumed, so that no certificates were sent (RFC 8446 §2.2).
    public let isResumed: Bool
    /// The peer's chain. For a resumed session it is that of the first handshake. Nil at a server without client
    /// certificates.
    public let chain: VerifiedChain?
    /// The digest of the identity that the server was shown, in the handshake that made a resumed session if that was
    /// another one. Nil for none, and at a server.
    package let shownIdentity: [UInt8]?
}

/// Which certificate a client shows to a server that asks for one.
extension TLSSession {
    /// Returns the server's request, and the identity that it was shown.
    private func given(configured: ClientIdentity?) -> (wish: IdentityRequest?, shown: ClientIdentity?) {
        switch identity?.answer {
        case nil, .refuse: (nil, nil)
        case .configured: (identity?.wish, configured)
        case .show(let other): (identity?.wish, other)
        }
    }

    /// Answers ``Handshake/identity(_:)``. The handshake continues with its next call. The answer is ignored if there
    /// is no such question.
    public func present(_ answer: IdentityAnswer) {
        if let client, offer.choose(answer, configured: client.context.configuration.identity) {
            return propose(client)
        }
        if identity?.answer == nil { identity?.answer = answer }
    }

    /// Returns 1 to continue the handshake, -1 to stop it until an answer is there, and 0 to end it. After the
    /// handshake nothing stops: the server is shown the certificate that was decided in the handshake, or the
    /// configuration's.
    static func chooseIdentity(_ ssl: OpaquePointer?) -> CInt {
        guard let session = unsafe TLSSession.of(ssl), let client = session.client else { return 1 }
        if session.identity == nil {
            if session.isOpen { return 1 }
            let wish = IdentityRequest(name: client.name, authorities: session.authorities)
            session.identity = (wish, session.offer.answer(to: wish))
        }
        return session.identity?.answer.map { unsafe install($0, in: ssl) } ?? -1
    }

    private static func install(_ answer: IdentityAnswer, in ssl: OpaquePointer?) -> CInt {
        switch answer {
        case .configured: 1
        case .show(let identity): unsafe identity.install(in: ssl) ? 1 : 0
        case .refuse: 0
        }
    }

    private var authorities: [[UInt8]] {
        let names = unsafe SSL_get0_peer_CA_list(ssl)
        return (0..<(unsafe uncurl_x509_name_count(names))).map { index in
            unsafe encodedDER { unsafe i2d_X509_NAME(uncurl_x509_name_at(names, index), $0) }
        }
    }

    /// Why the handshake failed, if the reason is the decision about the identity.
    var identityFailure: TLSError? {
        if case .refuse(let reason) = identity?.answer { .identity(.refused(reason)) } else { nil }
    }
}

/// Calls that few connections need.
extension TLSSession {
    /// Changes the keys for what is sent from here on, and with `askingPeer` also for what the peer sends (RFC 8446
    /// §4.6.3). The message goes into the output.
    ///
    /// - Returns: false if the version is not TLS 1.3 or the state does not allow it.
    public func updateKeys(askingPeer: Bool) -> Bool {
        let kind = askingPeer ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
        return sendMessage { unsafe SSL_key_update(ssl, kind) }
    }

    /// Writes one more TLS 1.3 ticket of a server to the output (RFC 8446 §4.6.1). It returns false in the same cases
    /// as ``updateKeys(askingPeer:)``.
    public func sendTicket() -> Bool { sendMessage { unsafe SSL_new_session_ticket(ssl) } }

    /// Asks the client of a server for a new handshake, with TLS 1.2 (RFC 5246 §7.4.1.1). The message goes into the
    /// output. No client of this project complies. It returns false in the same cases as ``updateKeys(askingPeer:)``.
    public func sendHelloRequest() -> Bool { sendMessage { unsafe uncurl_renegotiate(ssl) } }

    /// Writes a message of the handshake protocol after the handshake.
    private func sendMessage(_ begin: () -> CInt) -> Bool {
        switch state {
        case .open, .peerClosed: break
        case .handshaking, .closed, .failed: return false
        }
        uncurl_forget_errors()
        guard begin() == 1 else {
            ERR_clear_error()
            return false
        }
        return unsafe uncurl_handshake(ssl) == SSL_ERROR_NONE
    }

    /// The name that the client indicated to this server (RFC 6066 §3).
    public var indicatedName: String? {
        guard server != nil, let name = unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else { return nil }
        return unsafe String(cString: name)
    }
}

/// Sessions of earlier connections, offered to the server and kept for later ones.
extension TLSSession {
    /// Chooses the session to offer. Returns the question that the user must answer first. Nil if there is none, or
    /// none is left.
    func prepareOffer(_ client: Client) -> Handshake? {
        if offer.isUndecided {
            offer.begin(newest(client))
            propose(client)
        }
        return offer.question
    }

    private func newest(_ client: Client) -> Provenance? {
        guard client.context.configuration.resumes else { return nil }
        return client.context.sessions.newest(client.sessionKey, under: client.context.currentAnchors)
    }

    /// Offers the session that the decisions so far lead to, if they lead to one.
    private func propose(_ client: Client) {
        let anchors = client.context.currentAnchors
        guard let provenance = offer.proposal.take(),
            let session = client.context.sessions.take(client.sessionKey, under: anchors, made: provenance),
            unsafe SSL_set_session(ssl, session.handle) == 1
        else { return }
        offer.offered = session
        findings.anchors = anchors
    }

    /// Drops the offered session, which did not lead through a handshake: it is not tried again.
    func forgetOffered() {
        guard let client, let offered = offer.offered.take() else { return }
        client.context.sessions.remove(offered, client.sessionKey)
    }

    /// Keeps a ticket or session that has come. The result 1 keeps the reference.
    static func keep(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> CInt {
        guard let owner = unsafe TLSSession.of(ssl), let client = owner.client,
            let session = unsafe session,
            let provenance = owner.provenance(client),
            // If there are new roots since then, this session belongs to the old ones.
            owner.findings.anchors === client.context.currentAnchors
        else { return 0 }
        let kept = unsafe CachedSession(taking: session, made: provenance)
        client.context.sessions.put(kept, client.sessionKey, under: owner.findings.anchors, of: client.generation)
        return 1
    }

    /// The digest of the identity that the server was shown; nil for none.
    var shownIdentity: [UInt8]? { client.flatMap(provenance)?.shown }

    /// Returns the conditions of this handshake, or of the one whose session was resumed.
    private func provenance(_ client: Client) -> Provenance? {
        guard let chain = findings.chain else { return offer.offered?.provenance }
        let (wish, shown) = given(configured: client.context.configuration.identity)
        return Provenance(chain: chain, question: findings.question, wish: wish, shown: shown?.digest)
    }

    /// Checks the pins again after a resumption, since a resumed handshake shows no certificates. Only another
    /// configuration could make the pins stricter than when the session was made, but a check this cheap is made where
    /// it counts. A server that the user accepts is trusted in spite of the pins.
    func recheckPins() throws(TLSError) {
        guard let client, unsafe SSL_session_reused(ssl) == 1, let offered = offer.offered, !offer.isAccepted,
            let failure = Pin.failure(client.context.configuration.policy.pins, offered.provenance.chain)
        else { return }
        throw refuse(.untrusted(failure))
    }
}

/// The peer that the session talks to, and OpenSSL's questions about it.
extension TLSSession {
    struct Client {
        let context: TLSContext
        let name: ServerName
        /// The rest of what must be the same: the context's cache holds sessions of one configuration.
        let sessionKey: String
        /// The cache's generation when the connection began.
        let generation: Int
    }

    /// Answers ``Handshake/trust(_:)``. The handshake continues with its next call. The answer is ignored if there is
    /// no such question.
    public func decide(_ verdict: TrustVerdict) {
        if let client, offer.decide(verdict) { return propose(client) }
        findings.decide(verdict)
    }

    /// Returns the session of an OpenSSL callback.
    static func of(_ ssl: OpaquePointer?) -> TLSSession? {
        guard let data = unsafe uncurl_get_app_data(ssl) else { return nil }
        return unsafe Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
    }

    var keyLog: KeyLog? { client?.context.configuration.keyLog }

    // MARK: Certificates

    /// Verifies the peer in place of X509_verify_cert. The result 1 continues the handshake, or stops it where a retry
    /// was requested.
    static func verify(_ request: OpaquePointer?) -> CInt {
        let index = SSL_get_ex_data_X509_STORE_CTX_idx()
        let ssl = unsafe OpaquePointer(X509_STORE_CTX_get_ex_data(request, index))
        guard let session = unsafe TLSSession.of(ssl), let leaf = unsafe X509_STORE_CTX_get0_cert(request) else {
            unsafe X509_STORE_CTX_set_error(request, X509_V_ERR_UNSPECIFIED)
            return 0
        }
        let others = unsafe X509_STORE_CTX_get0_untrusted(request)
        if session.findings.verdict == nil, session.findings.question == nil { unsafe session.examine(leaf, others) }
        switch session.findings.verdict {
        case nil:
            unsafe uncurl_set_retry_verify(ssl)
            return 1
        case .success:
            unsafe X509_STORE_CTX_set_error(request, X509_V_OK)
            return 1
        case .failure(let error):
            unsafe X509_STORE_CTX_set_error(request, error.verificationCode)
            return 0
        }
    }

    private func examine(_ leaf: OpaquePointer, _ others: OpaquePointer?) {
        if let client { return unsafe examine(leaf, others, client) }
        guard let server else { return }
        let verdict = unsafe PeerVerifier.verifyPath(
            TLSSession.certificates(leaf, others),
            name: nil,
            anchors: server.clientAnchors,
            policy: TLSServerContext.clientPolicy
        )
        findings.conclude(verdict.map(\.chain).mapError(TLSError.untrusted))
    }

    /// Verifies a server's certificates. It leaves the verdict unknown while the roots are not loaded.
    private func examine(_ leaf: OpaquePointer, _ others: OpaquePointer?, _ client: Client) {
        let configuration = client.context.configuration
        let sent = unsafe TLSSession.certificates(leaf, others)
        let verdict: Result<VerifiedChain, TLSTrustFailure>
        if configuration.verifiesServers {
            let store = client.context.trust
            guard let anchors = store.anchors else {
                if let failure = store.failure { findings.conclude(.failure(.roots(failure))) }
                return
            }
            findings.anchors = anchors
            verdict = PeerVerifier.verifyPath(
                sent,
                name: client.name,
                anchors: anchors,
                policy: configuration.policy
            ).map { found in
                // With TLS 1.2, the stapled response comes later than the certificates.
                if configuration.policy.stapling != .ignored { findings.pathToStaple = found.path }
                return found.chain
            }
        } else {
            // Anyone can send an authority's certificate along, but only the authority can have signed with its key.
            let linked = PeerVerifier.linked(sent)
            verdict = Pin.failure(configuration.policy.pins, linked).map { .failure($0) } ?? .success(linked)
        }
        guard configuration.asksAboutTrust else { return findings.conclude(verdict.mapError(TLSError.untrusted)) }
        let question = PeerTrust(
            name: client.name,
            sent: sent,
            verdict: verdict,
            presented: VerifiedChain(sent),
            stapledResponse: stapledResponse
        )
        findings.ask(question)
        if let verdict = offer.verdict(on: question) { findings.decide(verdict) }
    }

    /// Returns the certificates, the leaf first and once. OpenSSL puts it at the start of the chain that it passes on.
    private static func certificates(_ leaf: OpaquePointer, _ others: OpaquePointer?) -> [Certificate] {
        unsafe [Certificate(retaining: leaf)] + [Certificate](others).filter { unsafe X509_cmp($0.pointer, leaf) != 0 }
    }

    /// Checks the stapled response. OpenSSL calls it when the server's first flight is complete, with such a response
    /// or without. The result 0 refuses the server.
    static func checkStaple(_ ssl: OpaquePointer?) -> CInt {
        guard let session = unsafe TLSSession.of(ssl), let client = session.client else { return 1 }
        let policy = client.context.configuration.policy
        return session.findings.judge(staple: session.stapledResponse, policy) ? 1 : 0
    }

    /// The response that the server stapled, if it has already come.
    private var stapledResponse: [UInt8]? {
        var data: UnsafePointer<UInt8>? = nil
        let count = unsafe uncurl_stapled_response(ssl, &data)
        return unsafe data.map { unsafe Array(UnsafeBufferPointer(start: $0, count: max(0, count))) }
    }

    // MARK: What was agreed on

    /// What the handshake agreed on. Nil before it is done.
    public var info: TLSInfo? {
        switch state {
        case .handshaking: return nil
        case .open, .peerClosed, .closed, .failed: break
        }
        guard let version = unsafe TLSVersion(rawValue: UInt16(truncatingIfNeeded: SSL_version(ssl))) else {
            return nil
        }
        let cipher = unsafe SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl))
        return TLSInfo(
            version: version,
            cipherSuite: unsafe cipher.map { unsafe String(cString: $0) } ?? "",
            applicationProtocol: applicationProtocol,
            isResumed: unsafe SSL_session_reused(ssl) == 1,
            chain: chain,
            shownIdentity: shownIdentity
        )
    }

    var applicationProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        unsafe SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard let bytes = unsafe bytes, count > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    private var chain: VerifiedChain? {
        if client != nil { return findings.chain ?? offer.offered?.provenance.chain }
        guard let leaf = unsafe SSL_get0_peer_certificate(ssl) else { return nil }
        return unsafe VerifiedChain(TLSSession.certificates(leaf, SSL_get_peer_cert_chain(ssl)))
    }
}

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
            guard delayed.count < TLSSession.delayedLimit else { return 0 }
            delay(first, from: 0)
            delay(second, from: 0)
            return first.count + second.count
        }
        let taken = try encrypt(first, second)
        delay(first, from: taken)
        delay(second, from: max(0, taken - first.count))
        return first.count + second.count
    }

    private func delay(_ bytes: Span<UInt8>, from start: Int) {
        guard start < bytes.count else { return }
        unsafe bytes.extracting(droppingFirst: start).withUnsafeBufferPointer { unsafe delayed += $0 }
    }

    /// Encrypts what OpenSSL takes now.
    private func encrypt(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(TLSError) -> Int {
        if second.isEmpty {
            return try unsafe first.withUnsafeBufferPointer { head throws(TLSError) in try unsafe encrypt(head) }
        }
        guard first.count < TLSVersion.maximumPlaintext else {
            let taken = try encrypt(first, Span())
            guard taken > 0 else { return 0 }
            return try taken + encrypt(second, Span())
        }
        if first.isEmpty { return try encrypt(second, Span()) }
        let shared = min(second.count, TLSVersion.maximumPlaintext - first.count)
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
        let waiting = delayed
        if try encrypt(waiting.span, Span()) > 0 { delayed = [] }
    }
}
