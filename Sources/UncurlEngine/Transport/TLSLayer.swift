internal import UncurlReactor
internal import UncurlTLS
import UncurlText

/// TLS on one connection: the session, and the ciphertext that waits for the socket. A layer inside another is TLS
/// through an https proxy. Loop-confined.
final class TLSLayer {
    /// How the peer's side has ended.
    enum Ending {
        /// By close_notify: what came before is complete (RFC 8446 §6.1).
        case closed
        case failed(TLSError)
    }

    /// How much plaintext is sealed in one call: four records, so that a long upload takes one send for each 64 KiB.
    private static let sealedAtOnce = 64 * 1024

    let session: TLSSession
    /// The trust store that the handshake may have to wait for.
    let trust: TrustStore
    private let outer: TLSLayer?
    private let buffers: TLSBuffers
    private(set) var ending: Ending?
    /// For the outermost layer: the ciphertext that the kernel has not taken yet.
    private var unsent: [UInt8] = []
    private var sent = 0
    /// How much plaintext was accepted whose ciphertext was not all sent: it counts as taken once it is.
    private(set) var owed = 0
    /// Whether the session takes no plaintext before more has come from the peer (``TLSSession/write(_:_:)``): then
    /// room in the socket changes nothing.
    private(set) var waitsForInput = false

    /// For the outermost layer: how much ciphertext the kernel has taken since ``countFromHere()``.
    private var taken: UInt64 = 0

    private var ownFailure: TLSError?
    /// The failure of a session, here or around, to seal what it was given, for instance for want of memory. It is also
    /// an ``ending``, but nothing that comes from the peer will show it.
    var sealFailure: TLSError? { ownFailure ?? outer?.sealFailure }

    init(_ session: TLSSession, _ trust: TrustStore, inside outer: TLSLayer?, _ buffers: TLSBuffers) {
        self.session = session
        self.trust = trust
        self.outer = outer
        self.buffers = buffers
    }

    // MARK: Receiving

    /// Opens all of `ciphertext`. Its content is in ``withPlaintext(_:_:)`` until the next call on any connection of
    /// this loop; if TLS ended with it, that is in ``ending``.
    func decrypt(_ ciphertext: Span<UInt8>) -> Int {
        guard let outer else { return decryptOwn(ciphertext) }
        let count = outer.decrypt(ciphertext)
        let opened = outer.withPlaintext(count) { decryptOwn($0) }
        // An https proxy that closes also closes what is inside, but not on behalf of the peer.
        if ending == nil, case .failed(let error) = outer.ending { ending = .failed(error) }
        return opened
    }

    func withPlaintext<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        buffers.withPlaintext(count, body)
    }

    /// Does the same for bytes that the layers around have already opened.
    func decryptOwn(_ ciphertext: Span<UInt8>) -> Int {
        guard ending == nil else { return 0 }
        waitsForInput = false
        var (offset, count) = (0, 0)
        while true {
            do throws(TLSError) {
                switch try unsafe session.read(ciphertext, from: &offset, into: buffers.room(after: count)) {
                case .bytes(let more):
                    count += more
                    // All was read, there is room left, and no end: the session would only say that it needs more.
                    if offset == ciphertext.count, count < buffers.capacity, session.isOpen { break }
                    continue
                case .needsInput:
                    break
                case .closed:
                    ending = .closed
                }
            } catch {
                ending = .failed(error)
            }
            passOutput()
            return count
        }
    }

    // MARK: Sending

    var hasUnsent: Bool { outer?.hasUnsent ?? (sent < unsent.count) }

    /// Whether there is unsent output, or output that the session has just written.
    var hasOutput: Bool { outer?.hasOutput ?? (sent < unsent.count || !buffers.output.isEmpty) }

    func write(_ first: Span<UInt8>, _ second: Span<UInt8>, to socket: borrowing Socket) throws(Errno) -> Int? {
        if hasUnsent {
            guard try flush(to: socket) else { return nil }
        }
        if owed > 0 {
            defer { owed = 0 }
            return owed
        }
        let count = seal(first, second)
        if waitsForInput { return nil }
        guard try flush(to: socket) else {
            owed = count
            return nil
        }
        return count
    }

    /// Seals plaintext. If a session takes nothing more, it has usually failed before; what was read tells how.
    private func seal(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Int {
        let head = first.extracting(first: min(first.count, TLSLayer.sealedAtOnce))
        let rest = second.extracting(first: min(second.count, TLSLayer.sealedAtOnce - head.count))
        do throws(TLSError) {
            let count = try session.write(head, rest)
            waitsForInput = count == 0 && head.count + rest.count > 0
            passOutput()
            return count
        } catch {
            sealingFailed(error)
            passOutput()
            return head.count + rest.count
        }
    }

    /// Passes what the session has written through the layers around it.
    private func passOutput() {
        guard let outer, !buffers.output.isEmpty else { return }
        buffers.output.withBytes { outer.sealAll($0) }
        buffers.output.removeAll()
    }

    /// Seals short messages of an inner handshake, however little room the socket has.
    func sealAll(_ bytes: Span<UInt8>) {
        var offset = 0
        while offset < bytes.count {
            let count = seal(bytes.extracting(droppingFirst: offset), Span())
            // A proxy has sent half of a message and stays silent: no inner handshake is that long.
            guard count > 0 else {
                return sealingFailed(.protocolViolation("a message that begins and does not end"))
            }
            offset += count
        }
    }

    private func sealingFailed(_ error: TLSError) {
        guard ending == nil else { return }
        ending = .failed(error)
        ownFailure = error
    }

    /// During the handshake, takes what the session wants to send, before this layer carries anything.
    func takeOutput(_ body: (Span<UInt8>) -> Void) {
        guard !buffers.output.isEmpty else { return }
        let output = buffers.output.take()
        body(output.span)
    }

    /// Takes the rest of the handshake's output that still waits for the socket.
    func adopt(_ bytes: [UInt8]) { (unsent, sent) = (bytes, 0) }

    /// How much ciphertext was sent to the socket since ``countFromHere()``.
    var ciphertextSent: UInt64 { outer?.ciphertextSent ?? taken }

    func countFromHere() {
        taken = 0
        outer?.countFromHere()
    }

    /// Sends what waits. Returns true once nothing waits any more.
    func flush(to socket: borrowing Socket) throws(Errno) -> Bool {
        if let outer { return try outer.flush(to: socket) }
        var offset = 0
        // In any case, the output is now taken out of the shared buffer.
        defer { keepOutput(from: offset) }
        if !unsent.isEmpty {
            let waiting = unsent
            while sent < waiting.count {
                guard let count = try socket.write(waiting.span.extracting(droppingFirst: sent)) else { return false }
                sent += count
                taken += UInt64(count)
            }
            (unsent, sent) = ([], 0)
        }
        while offset < buffers.output.count {
            let count = try buffers.output.withBytes { output throws(Errno) in
                try socket.write(output.extracting(droppingFirst: offset))
            }
            guard let count else { return false }
            offset += count
            taken += UInt64(count)
        }
        return true
    }

    /// Keeps the output that the kernel does not take in this connection's own buffer: all connections of the loop
    /// share the output buffer.
    private func keepOutput(from offset: Int) {
        let count = buffers.output.count
        guard count > 0 else { return }
        // Nearly always the kernel has taken all.
        guard offset < count else { return buffers.output.removeAll() }
        buffers.output.withBytes { unsent.append($0.extracting(droppingFirst: offset)) }
        buffers.output.removeAll()
    }

    // MARK: Ends

    /// The number of layers from the outermost to this one. No two layers of a connection may share their buffers.
    var depth: Int { (outer?.depth ?? 0) + 1 }

    /// Whether it is TLS through an https proxy.
    var isInside: Bool { outer != nil }

    /// Sends close_notify, and goes on reading.
    func closeWriting() {
        session.closeWriting()
        passOutput()
    }

    /// Sends close_notify, innermost first.
    func close() {
        session.close()
        passOutput()
        outer?.close()
    }

    /// Gives OpenSSL's buffers back while the connection is parked: 30 KiB for each.
    func releaseBuffers() {
        session.releaseBuffers()
        outer?.releaseBuffers()
    }
}

/// The buffers that every TLS connection of a loop uses in its turn: one for plaintext, one for ciphertext.
@safe final class TLSBuffers {
    /// How much more can come out than goes in: a record that began earlier may end in this read (RFC 8446 §5.1).
    private static let slack = 17 * 1024

    let output = CiphertextBuffer()
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// - Parameter capacity: how much is decrypted at a time.
    init(decrypting capacity: Int) {
        unsafe storage = .allocate(capacity: capacity + TLSBuffers.slack)
    }

    deinit { unsafe storage.deallocate() }

    /// How much one layer's plaintext takes when it is the next layer's ciphertext.
    var capacity: Int { unsafe storage.count }

    @unsafe func room(after count: Int) -> UnsafeMutableBufferPointer<UInt8> {
        unsafe UnsafeMutableBufferPointer(rebasing: storage[count...])
    }

    /// Gives the first `count` bytes, as the last ``TLSLayer/decrypt(_:)`` left them.
    func withPlaintext<Result, Failure: Error>(
        _ count: Int,
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeBufferPointer(rebasing: storage[..<count])
        return try unsafe body(bytes.span)
    }
}
