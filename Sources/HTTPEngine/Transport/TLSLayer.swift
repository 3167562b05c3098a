internal import Reactor
internal import TLS

/// TLS on one connection: the session, and the ciphertext that waits for the socket. Inside of another layer it
/// is TLS through an https proxy. Loop-confined.
final class TLSLayer {
    /// How the peer's side ended, once it has.
    enum Ending {
        /// By close_notify: what came before is whole (RFC 8446 §6.1).
        case closed
        case failed(TLSError)
    }

    /// Plaintext sealed in one call: four records, so that a long upload takes a send each 64 KiB.
    private static let sealedAtOnce = 64 * 1024

    let session: TLSSession
    /// What the handshake may have to wait for.
    let trust: TrustStore
    private let outer: TLSLayer?
    private let buffers: TLSBuffers
    private(set) var ending: Ending?
    /// Of the outermost layer: ciphertext that the kernel has not taken yet.
    private var unsent: [UInt8] = []
    private var sent = 0
    /// Plaintext accepted whose ciphertext has not all left: it counts as taken once it has.
    private(set) var owed = 0
    /// The session takes no plaintext before more has come from the peer (``TLSSession/write(_:_:)``): room in the
    /// socket changes nothing.
    private(set) var waitsForInput = false

    /// Of the outermost layer: ciphertext that the kernel has taken since ``countFromHere()``.
    private var taken: UInt64 = 0

    private var ownFailure: TLSError?
    /// A session here or around could not seal what it was given, for want of memory for instance. It is an
    /// ``ending`` too, but nothing that comes from the peer will tell of it.
    var sealFailure: TLSError? { ownFailure ?? outer?.sealFailure }

    init(_ session: TLSSession, _ trust: TrustStore, inside outer: TLSLayer?, _ buffers: TLSBuffers) {
        self.session = session
        self.trust = trust
        self.outer = outer
        self.buffers = buffers
    }

    // MARK: In

    /// Opens all of `ciphertext`. What it held lies in ``withPlaintext(_:_:)`` until the next call on any connection of
    /// this loop; what ended with it is in ``ending``.
    func decrypt(_ ciphertext: Span<UInt8>) -> Int {
        guard let outer else { return decryptOwn(ciphertext) }
        let count = outer.decrypt(ciphertext)
        let opened = outer.withPlaintext(count) { decryptOwn($0) }
        // An https proxy that closes, closes what is inside of it, but not as the peer's word.
        if ending == nil, case .failed(let error) = outer.ending { ending = .failed(error) }
        return opened
    }

    func withPlaintext<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        buffers.withPlaintext(count, body)
    }

    /// The same for bytes that the layers around have opened already.
    func decryptOwn(_ ciphertext: Span<UInt8>) -> Int {
        guard ending == nil else { return 0 }
        waitsForInput = false
        var (offset, count) = (0, 0)
        while true {
            do throws(TLSError) {
                switch try unsafe session.read(ciphertext, from: &offset, into: buffers.room(after: count)) {
                case .bytes(let more):
                    count += more
                    // All of it, room left, and no end: the session would only say that it needs more.
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

    // MARK: Out

    var hasUnsent: Bool { outer?.hasUnsent ?? (sent < unsent.count) }

    /// The same, or written by the session just now.
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

    /// A session that takes nothing more has mostly failed before; how is told by what was read.
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

    /// What the session has written goes through the layers around it.
    private func passOutput() {
        guard let outer, !buffers.output.isEmpty else { return }
        buffers.output.withBytes { outer.sealAll($0) }
        buffers.output.removeAll()
    }

    /// Short messages of a handshake inside, however little room the socket has.
    func sealAll(_ bytes: Span<UInt8>) {
        var offset = 0
        while offset < bytes.count {
            let count = seal(bytes.extracting(droppingFirst: offset), Span())
            // A proxy that cuts a message of its own in two and goes silent: no inner handshake is that long.
            guard count > 0 else {
                return sealingFailed(.protocolViolation("a message that is begun and not ended"))
            }
            offset += count
        }
    }

    private func sealingFailed(_ error: TLSError) {
        guard ending == nil else { return }
        ending = .failed(error)
        ownFailure = error
    }

    /// During the handshake: what the session wants sent, before this layer carries anything.
    func takeOutput(_ body: (Span<UInt8>) -> Void) {
        guard !buffers.output.isEmpty else { return }
        let output = buffers.output.take()
        body(output.span)
    }

    /// What of the handshake waits for the socket still.
    func adopt(_ bytes: [UInt8], from offset: Int) {
        guard offset < bytes.count else { return }
        (unsent, sent) = (bytes, offset)
    }

    /// Ciphertext that has left for the socket since ``countFromHere()``.
    var ciphertextSent: UInt64 { outer?.ciphertextSent ?? taken }

    /// Another exchange begins.
    func countFromHere() {
        taken = 0
        outer?.countFromHere()
    }

    /// True once nothing waits any more.
    func flush(to socket: borrowing Socket) throws(Errno) -> Bool {
        if let outer { return try outer.flush(to: socket) }
        var offset = 0
        // Whatever happens, what is in the buffer of all leaves it now.
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

    /// All connections of the loop share the output buffer: what the kernel does not take moves to this connection's
    /// own.
    private func keepOutput(from offset: Int) {
        let count = buffers.output.count
        guard count > 0 else { return }
        // Nearly always the kernel has taken all.
        guard offset < count else { return buffers.output.removeAll() }
        buffers.output.withBytes { output in
            let rest = output.extracting(droppingFirst: offset)
            unsafe rest.withUnsafeBufferPointer { unsafe unsent += $0 }
        }
        buffers.output.removeAll()
    }

    // MARK: Ends

    /// TLS through an https proxy.
    var isInside: Bool { outer != nil }

    /// Says close_notify, and goes on reading.
    func closeWriting() {
        session.closeWriting()
        passOutput()
    }

    /// Says close_notify, innermost first.
    func close() {
        session.close()
        passOutput()
        outer?.close()
    }

    /// Parked: OpenSSL's buffers go back, 30 KiB a connection.
    func releaseBuffers() {
        session.releaseBuffers()
        outer?.releaseBuffers()
    }
}
