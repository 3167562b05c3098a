internal import UncurlHTTP1
public import UncurlReactor
internal import UncurlTLS

/// Hears of a connection that HTTP has handed over. It is called on the loop, which must not be blocked. Every call may
/// write, pause or close.
public protocol UpgradedConnectionDelegate: AnyObject {
    /// Reports bytes in the loop's buffer: take what is needed before returning. Never empty.
    func connection(_ connection: UpgradedConnection, didReceive bytes: Span<UInt8>)

    /// Reports that the kernel took `count` more bytes of what was written; ``UpgradedConnection/queuedBytes`` are
    /// left.
    func connection(_ connection: UpgradedConnection, didSend count: Int)

    /// Reports that the peer has ended its side in order, and sends nothing more. Writing may go on.
    func connectionDidFinishReading(_ connection: UpgradedConnection)

    /// Reports the end. `error` is nil if both sides had finished. Not called after
    /// ``UpgradedConnection/close(abruptly:)``.
    func connection(_ connection: UpgradedConnection, didClose error: EngineError?)
}

extension UpgradedConnectionDelegate {
    public func connection(_ connection: UpgradedConnection, didSend count: Int) {}
}

/// A connection with another protocol from here on (RFC 9110 §7.8), or a tunnel (§9.3.6): raw bytes in both directions,
/// inside TLS if there is TLS. It is not part of the engine's pool, limits and shutdown any more: its holder must close
/// it. Loop-confined.
///
/// ```
///   held ──start──▶ open(reading: flowing ⇄ paused ─▶ ended, writing: open ─▶ finishing ─▶ finished) ──▶ closed
/// ```
/// - held: nothing is read yet.
/// - finishing: what is queued is still sent.
/// - Once both sides have ended it is closed.
public final class UpgradedConnection {
    private enum State {
        case held
        case open(any UpgradedConnectionDelegate)
        case closed
    }

    private enum ReadState { case flowing, paused, ended }
    private enum WriteState { case open, finishing, finished }

    /// The loop that the connection lives on.
    public let loop: EventLoop
    /// The facts of the connection.
    public let record: ConnectionRecord
    private(set) var link: Link
    /// Called once, with the reason why it was closed.
    private let closed: (EngineEvent.Closing) -> Void
    /// Whether the peer's FIN follows what is being read.
    private var peerFinished: Bool
    private var state = State.held
    private var reading = ReadState.flowing
    private var writing = WriteState.open
    /// The first bytes of the new protocol, which came with the end of what was before it.
    private var unread: [UInt8]
    /// How many bytes were written that the kernel has not taken yet. To hold a fast writer to its reader, write again
    /// when this is small.
    public private(set) var queuedBytes = 0
    /// Whether reading goes on after close_notify was sent, over TLS too.
    private var halfCloses = false
    /// Whether its owner holds it: then nothing that was written is sent.
    private var isHeld = false
    /// Whether it is in a call from the loop, which itself sends what is written in that call.
    private var isServed = false

    /// - Parameters:
    ///   - link: its registration becomes this connection's.
    ///   - closed: called once, with the reason, when nothing is left of it.
    init(
        _ link: consuming Link,
        record: ConnectionRecord,
        unread: [UInt8],
        peerFinished: Bool,
        closed: @escaping (EngineEvent.Closing) -> Void
    ) {
        loop = link.loop
        let token = link.token
        self.link = link
        self.record = record
        self.unread = unread
        self.peerFinished = peerFinished
        self.closed = closed
        loop.handOver(token, to: Events(self))
    }

    /// Whether it has neither ended nor been closed.
    public var isOpen: Bool {
        if case .closed = state { false } else { true }
    }

    // MARK: For its owner

    /// Begins to read, from the next turn on. It must be called once; `delegate` is kept until the end.
    public func start(_ delegate: any UpgradedConnectionDelegate) {
        guard case .held = state else { return }
        state = .open(delegate)
        link.resumeReading(reading == .flowing)
    }

    /// Replaces the delegate: from here on `delegate` gets the calls.
    public func replaceDelegate(_ delegate: any UpgradedConnectionDelegate) {
        if case .open = state { state = .open(delegate) }
    }

    /// Stops delivery; soon the peer has to wait.
    public func pause() {
        guard reading == .flowing else { return }
        reading = .paused
        updateInterest()
    }

    /// Resumes delivery, from the next turn on.
    public func resume() {
        guard reading == .paused else { return }
        reading = .flowing
        if case .open = state { link.resumeReading(true) }
    }

    /// Holds or releases the sending. While it is held, nothing that is written is sent, nor the FIN after it; TLS
    /// still sends its own messages.
    public func hold(_ isHeld: Bool) {
        guard self.isHeld != isHeld else { return }
        self.isHeld = isHeld
        updateInterest()
        if isOpen, !isHeld, !isServed { loop.reschedule(link.token) }
    }

    /// Writes bytes. They are queued without limit, and sent in this turn or the next, unless held. Ignored after
    /// ``finishWriting(keepsReading:)`` and the end.
    public func write(_ bytes: [UInt8]) {
        guard isOpen, writing == .open, !bytes.isEmpty else { return }
        link.queue.append(bytes, isContent: true)
        queuedBytes += bytes.count
        if !isServed { loop.reschedule(link.token) }
    }

    /// Sends FIN after what is queued; reading goes on. Over TLS the close_notify ends both directions, and the
    /// connection is closed, unless `keepsReading`: few peers go on sending after a close_notify, but RFC 8446 §6.1
    /// allows it.
    public func finishWriting(keepsReading: Bool = false) {
        guard isOpen, writing == .open else { return }
        writing = .finishing
        halfCloses = keepsReading
        if !isServed { loop.reschedule(link.token) }
    }

    /// Closes the connection at once; what is queued is lost. The delegate gets no more calls.
    ///
    /// - Parameter abruptly: with RST, so that the peer cannot take what came before for whole.
    public func close(abruptly: Bool = false) { end(.used, abruptly) }

    /// Takes the bytes that came before it was started; they are the caller's from here on.
    func takeUnread() -> [UInt8] {
        defer { unread = [] }
        return unread
    }

    /// Takes the link of this connection, for another protocol's layer on it. The delegate gets no more calls. Nothing
    /// may be queued.
    ///
    /// - Returns: nil for a connection that is closed.
    func surrender() -> Link? {
        precondition(queuedBytes == 0, "what is queued would be lost")
        guard isOpen else { return nil }
        state = .closed
        closed(.used)
        return link.take()
    }

    // MARK: Events

    /// The object that the loop holds: a public class cannot conform in private.
    private final class Events: ReadinessHandler {
        let connection: UpgradedConnection
        init(_ connection: UpgradedConnection) { self.connection = connection }
        func ready(_ readiness: Readiness) { connection.ready(readiness) }
    }

    private func ready(_ readiness: Readiness) {
        isServed = true
        defer { isServed = false }
        if let refusal = link.refusal { return lost(.system(refusal)) }
        if let failure = link.secure?.sealFailure { return lost(.tls(failure)) }
        if readiness.contains(.writable) { try? link.flushSecure() }
        if !readiness.isDisjoint(with: [.hungUp, .failed]), !isReading { return broken() }
        if isReading, !readiness.isDisjoint(with: [.readable, .peerFinished, .hungUp, .failed, .rescheduled]) {
            peerFinished = peerFinished || readiness.contains(.peerFinished)
            receive()
        }
        if isOpen { send() }
    }

    /// Suspends the link of a paused reader whose peer has reset: epoll repeats that until it is read, so the socket
    /// leaves the set until it is resumed.
    private func broken() {
        if reading == .ended { lost(.connectionLost(link.pendingError)) } else { link.suspend() }
    }

    private var delegate: (any UpgradedConnectionDelegate)? {
        if case .open(let delegate) = state { delegate } else { nil }
    }

    private var isReading: Bool { delegate != nil && reading == .flowing }

    private func receive() {
        if !unread.isEmpty {
            let bytes = unread
            unread = []
            guard deliver(bytes.span) else { return }
        }
        if link.secure?.ending != nil { return readingEnded() }
        let buffer = loop.readBuffer
        for _ in 0..<Link.readsPerTurn {
            let result: Socket.Read
            do throws(Errno) {
                result = try link.read(into: buffer)
            } catch {
                return lost(.connectionLost(error))
            }
            switch result {
            case .wouldBlock: return
            case .endOfStream: return readingEnded()
            case .bytes(let count):
                guard take(buffer, count), count == buffer.capacity || peerFinished else { return }
            }
        }
        loop.reschedule(link.token)
    }

    /// Takes what was read. Returns false if nothing more may be read now.
    private func take(_ buffer: ReadBuffer, _ count: Int) -> Bool {
        guard let secure = link.secure else { return buffer.withBytes(count) { deliver($0) } }
        let heldBack = secure.waitsForInput
        let opened = buffer.withBytes(count) { secure.decrypt($0) }
        try? link.flushSecure()
        if heldBack { updateInterest() }
        if opened > 0, !secure.withPlaintext(opened, { deliver($0) }) { return false }
        guard secure.ending != nil else { return true }
        readingEnded()
        return false
    }

    private func deliver(_ bytes: Span<UInt8>) -> Bool {
        delegate?.connection(self, didReceive: bytes)
        return isReading
    }

    private func readingEnded() {
        if let secure = link.secure {
            switch secure.ending {
            case .closed: break
            case .failed(let error): return lost(.tls(error))
            // Anyone on the way can send a FIN, but only the peer can send a close_notify.
            case nil: return lost(.tls(.truncated))
            }
        }
        guard let delegate, reading != .ended else { return }
        reading = .ended
        updateInterest()
        delegate.connectionDidFinishReading(self)
        endIfFinished()
    }

    private func send() {
        guard writing != .finished, !isHeld else { return updateInterest() }
        let progress: SendQueue.Progress
        do throws(Errno) {
            progress = try link.flush()
        } catch {
            return lost(.connectionLost(error))
        }
        if progress.bytes > 0 {
            queuedBytes -= progress.bytes
            delegate?.connection(self, didSend: progress.bytes)
        }
        guard isOpen else { return }
        // The delegate may have written more.
        if link.queue.isEmpty, writing == .finishing {
            writing = .finished
            if let secure = link.secure {
                guard halfCloses else { return finished() }
                secure.closeWriting()
                try? link.flushSecure()
            } else {
                link.shutdownWrite()
            }
            endIfFinished()
        } else if progress.finished, !link.queue.isEmpty {
            loop.reschedule(link.token)
        }
        updateInterest()
    }

    private func updateInterest() {
        guard isOpen else { return }
        link.updateInterest(reading: isReading, writing: !link.queue.isEmpty && !isHeld)
    }

    // MARK: Ends

    private func endIfFinished() {
        if reading == .ended, writing == .finished { finished() }
    }

    private func finished() {
        end(.used, false)?.connection(self, didClose: nil)
    }

    private func lost(_ error: EngineError) {
        end(.failed(error), true)?.connection(self, didClose: error)
    }

    @discardableResult
    private func end(_ reason: EngineEvent.Closing, _ abruptly: Bool) -> (any UpgradedConnectionDelegate)? {
        guard isOpen else { return nil }
        let last = delegate
        state = .closed
        (unread, queuedBytes) = ([], 0)
        link.close(abruptly: abruptly)
        closed(reason)
        return last
    }
}
