import UncurlReactor
import UncurlTLS
import UncurlText

/// One connection of a ``RawServer``. It runs its script on the loop and records what comes.
///
///     running ──▶ receiving ──▶ running      bytes, or FIN
///     running ──▶ shaking ────▶ running      the TLS handshake is done
///     running ──▶ sending ────▶ running      the kernel took the rest
///     running ──▶ pausing ────▶ running      timer or gate
///     running ──▶ done                       the last step; reading goes on
///     running ──▶ stalled                    `.stall`; reading has stopped
///     any ──────▶ closed                     `.close`, `.reset`, the peer's RST, the server's stop
///
/// `closed` is final. A stalled connection never resumes, because the peer's window would open again.
final class RawConnection: ReadinessHandler, TimerHandler {
    private enum State {
        case running
        case receiving(RawReceive)
        case shaking
        /// `again`: what is sent after that, without end (`.flood`).
        case sending([UInt8], from: Int, again: [UInt8]?)
        case pausing
        case done
        case stalled
        case closed
    }

    /// The most steps per turn, so that a script that floods or starts over cannot keep its server from stopping.
    private static let stepsPerTurn = 256

    private let index: Int
    private let loop: EventLoop
    private let records: Monitor<[RawRecord]>
    private let script: RawScript
    private var socket: Socket?
    private var token: Token?
    private var timer: TimerID?
    private var state = State.running
    private var nextStep = 0
    /// The number of received bytes that earlier `receive` steps have used.
    private var claimed = 0
    private var received: [UInt8] = []
    private var peerFinished = false
    /// nil before ``RawStep/handshake(_:)``.
    private var session: TLSSession?
    private let ciphertext = CiphertextBuffer()
    /// Whether the handshake is done.
    private var isSecure = false
    /// The remaining records of a ticket; the first one has been sent.
    private var ticketRest: [UInt8] = []
    /// TLS messages that must be sent before the next piece of the script; at most a flight of the handshake.
    private var asides: [UInt8] = []
    private var recordSize = 0
    private var pieceSize = 0

    init(
        _ socket: consuming Socket,
        index: Int,
        script: RawScript,
        loop: EventLoop,
        records: Monitor<[RawRecord]>
    ) {
        self.index = index
        self.script = script
        self.loop = loop
        self.records = records
        self.socket = consume socket
    }

    func start() {
        guard let number = socket?.number else { return }
        socket?.disableNagle()
        guard let token = try? loop.register(number, [.read, .peerFinish], self) else { return close() }
        self.token = token
        run()
    }

    func ready(_ readiness: Readiness) {
        if case .stalled = state {
            noticeEndWhileStalled(readiness)
            return
        }
        if case .closed = state { return }
        if !peerFinished { read() }
        if peerFinished, !readiness.isDisjoint(with: [.hungUp, .failed]) {
            // Both directions have ended, and this event would be repeated for ever.
            note { $0.sawReset = $0.sawReset || readiness.contains(.failed) }
            return close()
        }
        run()
    }

    func timerFired(_ id: TimerID) {
        guard timer == id else { return }
        timer = nil
        if case .pausing = state { state = .running }
        run()
    }

    func close() {
        if case .closed = state { return }
        state = .closed
        if let timer { loop.cancel(timer) }
        if let token { loop.deregister(token) }
        timer = nil
        token = nil
        socket = nil
        note { $0.isClosed = true }
    }

    // MARK: The script

    private func run() {
        for _ in 0..<RawConnection.stepsPerTurn {
            guard sendAsides() else { return }
            switch state {
            case .running:
                guard nextStep < script.steps.count else {
                    state = .done
                    return
                }
                let step = script.steps[nextStep]
                nextStep += 1
                begin(step)
            case .receiving(let wanted):
                guard claim(wanted) else { return }
                finishStep()
            case .shaking:
                guard isSecure else { return }
                finishStep()
            case .sending(let bytes, let offset, let again):
                guard let end = send(bytes, from: offset) else { return }
                guard end == bytes.count else { return block(.sending(bytes, from: end, again: again)) }
                if let again {
                    state = .sending(session == nil ? bytes : sealed(again), from: 0, again: again)
                } else {
                    finishStep()
                }
            case .pausing, .done, .stalled, .closed:
                return
            }
        }
        if let token { loop.reschedule(token) }
    }

    private func begin(_ step: RawStep) {
        switch step {
        case .receive(let wanted): state = .receiving(wanted)
        case .send(let bytes): push(sealed(bytes))
        case .raw(let bytes): push(bytes)
        case .flood(let bytes): state = bytes.isEmpty ? .done : .sending(sealed(bytes), from: 0, again: bytes)
        case .handshake(let context): secure(context)
        case .records(let size):
            recordSize = max(0, size)
            finishStep()
        case .pieces(let size):
            pieceSize = max(0, size)
            finishStep()
        case .keyUpdate(let asks): push(sent { _ = $0.updateKeys(askingPeer: asks) })
        case .ticket: push(sent { _ = $0.sendTicket() })
        case .ticketBeginning: push(firstOfTicket())
        case .ticketEnd:
            push(ticketRest)
            ticketRest = []
        case .closeNotify: push(sent { $0.close() })
        case .pause(let span):
            state = .pausing
            note { $0.stepsDone += 1 }
            timer = loop.arm(at: loop.stamp().advanced(by: span), self)
        case .wait(let gate):
            state = .pausing
            wait(for: gate)
        case .stallUntil(let gate):
            state = .stalled
            setInterest(.peerFinish)
            wait(for: gate)
        case .finish:
            socket?.shutdownWrite()
            finishStep()
        case .reset:
            socket?.resetOnClose()
            note { $0.stepsDone += 1 }
            close()
        case .close:
            note { $0.stepsDone += 1 }
            close()
        case .stall:
            state = .stalled
            note { $0.stepsDone += 1 }
            setInterest(.peerFinish)
        case .startOver:
            nextStep = 0
            finishStep()
        }
    }

    private func push(_ bytes: [UInt8]) { state = .sending(bytes, from: 0, again: nil) }

    private func secure(_ context: TLSServerContext) {
        guard session == nil else { return finishStep() }
        do throws(TLSError) {
            session = try TLSSession(server: context, output: ciphertext)
            state = .shaking
            // Bytes that came with the previous step belong to the handshake.
            let early = Array(received[claimed...])
            received.removeLast(early.count)
            note { $0.received.removeLast(early.count) }
            take(early)
        } catch {
            note { $0.tlsError = error }
            close()
        }
    }

    /// The bytes as they go over the wire.
    private func sealed(_ bytes: [UInt8]) -> [UInt8] {
        guard let session else { return bytes }
        do throws(TLSError) {
            guard recordSize > 0 else { return try encrypt(bytes, session) }
            var records: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: recordSize) {
                records += try encrypt(Array(bytes[start..<min(start + recordSize, bytes.count)]), session)
            }
            return records
        } catch {
            note { $0.tlsError = $0.tlsError ?? error }
            return []
        }
    }

    private func wait(for gate: RawGate) {
        let me = LoopBound(self, on: loop)
        let loop = loop
        if gate.passes(orElse: { loop.post { me.value.gateOpened() } }) { goOn() }
    }

    private func gateOpened() {
        goOn()
        run()
    }

    private func goOn() {
        switch state {
        case .pausing: break
        case .stalled: setInterest(reading)
        default: return
        }
        finishStep()
    }

    private func finishStep() {
        state = .running
        note { $0.stepsDone += 1 }
    }

    /// Whether the received bytes satisfy `wanted`; if so, uses them.
    private func claim(_ wanted: RawReceive) -> Bool {
        guard let end = wanted.end(in: received, from: claimed, isFinished: peerFinished) else { return false }
        claimed = end
        return true
    }

    // MARK: Bytes

    private func read() {
        do throws(Errno) {
            guard let result = try socket?.read(into: loop.readBuffer) else { return }
            switch result {
            case .wouldBlock: return
            case .bytes(let count):
                var bytes: [UInt8] = []
                loop.readBuffer.withBytes(count) { bytes.append($0) }
                take(bytes)
            case .endOfStream:
                peerFinished = true
                note { $0.sawFinish = true }
                setInterest(reading)
            }
        } catch {
            note { $0.sawReset = true }
            close()
        }
    }

    /// Adds received bytes to the record, decrypted if there is TLS.
    private func take(_ bytes: [UInt8]) {
        guard let session else { return keep(bytes) }
        let wasSecure = isSecure
        var incoming: Incoming = ([], false, nil)
        do throws(TLSError) {
            try decrypt(bytes, session, &incoming)
        } catch {
            incoming.error = error
        }
        // Messages that TLS must send by itself: handshake messages, answers to key updates, alerts.
        asides += ciphertext.take()
        let isNew = isSecure && !wasSecure
        if !incoming.plaintext.isEmpty { keep(incoming.plaintext) }
        note {
            $0.sawCloseNotify = $0.sawCloseNotify || incoming.isEnd
            $0.tlsError = $0.tlsError ?? incoming.error
            guard isNew else { return }
            $0.tls = session.info
            $0.serverName = session.indicatedName
        }
        guard incoming.error != nil else { return }
        // The alert is sent before the end, as servers do.
        _ = sendAsides()
        close()
    }

    private func keep(_ bytes: [UInt8]) {
        received += bytes
        let (now, total) = (loop.stamp(), received.count)
        note {
            $0.received += bytes
            $0.arrivals.append((now, total))
        }
    }

    /// False if the socket is full or the connection is over.
    private func sendAsides() -> Bool {
        guard !asides.isEmpty else { return true }
        if case .sending(_, let offset, _) = state, offset > 0 { return true }
        let bytes = asides
        guard let end = send(bytes, from: 0) else { return false }
        asides = Array(bytes[end...])
        if !asides.isEmpty { setInterest([reading, .write]) }
        return asides.isEmpty
    }

    /// Sends from `start` on. Returns the new position, or nil if the connection is over.
    private func send(_ bytes: [UInt8], from start: Int) -> Int? {
        var offset = start
        do throws(Errno) {
            while offset < bytes.count {
                let end = pieceSize > 0 ? min(offset + pieceSize, bytes.count) : bytes.count
                guard let taken = try socket?.write(bytes.span.extracting(offset..<end)) else { break }
                offset += taken
            }
        } catch {
            note { $0.sawReset = true }
            close()
            return nil
        }
        if offset > start { note { $0.sentCount += offset - start } }
        if offset == bytes.count { setInterest(reading) }
        return offset
    }

    /// Waits for room in the socket, then continues with `rest`.
    private func block(_ rest: State) {
        state = rest
        setInterest([reading, .write])
    }

    /// The event is level-triggered, so a FIN would be reported again and again.
    private var reading: Interest { peerFinished ? [] : [.read, .peerFinish] }

    private func noticeEndWhileStalled(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.hungUp, .failed]) {
            note { $0.sawReset = true }
            close()
        } else if readiness.contains(.peerFinished) {
            note { $0.sawFinish = true }
            setInterest([])
        }
    }

    private func setInterest(_ interest: Interest) {
        guard let token else { return }
        // It fails only for a descriptor outside the set, and this one is in it.
        try? loop.setInterest(token, interest)
    }

    private func note(_ change: (inout RawRecord) -> Void) {
        records.update { change(&$0[index]) }
    }
}

/// The TLS of a connection. Scripts are written in plaintext and sent as ciphertext.
extension RawConnection {
    /// What a read brought.
    private typealias Incoming = (plaintext: [UInt8], isEnd: Bool, error: TLSError?)

    private func decrypt(_ input: [UInt8], _ session: TLSSession, _ incoming: inout Incoming) throws(TLSError) {
        var offset = 0
        if !isSecure {
            switch try session.handshake(input.span, from: &offset) {
            case .needsInput, .needsRoots, .trust, .identity: return
            case .done: isSecure = true
            }
        }
        // Decryption can only shrink a record, so this is enough for the input and for an incomplete record before it.
        let room = input.count + TLSVersion.maximumPlaintext
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: room)
        defer { unsafe buffer.deallocate() }
        while true {
            switch try unsafe session.read(input.span, from: &offset, into: buffer) {
            case .bytes(let count): unsafe incoming.plaintext += buffer[..<count]
            case .needsInput: return
            case .closed:
                incoming.isEnd = true
                return
            }
        }
    }

    /// One record for at most 16 KiB.
    private func encrypt(_ bytes: [UInt8], _ session: TLSSession) throws(TLSError) -> [UInt8] {
        _ = try session.write(bytes.span)
        return ciphertext.take()
    }

    /// Returns what TLS sends because of `action`; nothing without TLS.
    private func sent(after action: (TLSSession) -> Void) -> [UInt8] {
        guard let session else { return [] }
        action(session)
        return ciphertext.take()
    }

    /// The first record of a ticket: five octets of header, the last two of them the length of what follows
    /// (RFC 8446 §5.1).
    private func firstOfTicket() -> [UInt8] {
        let ticket = sent { _ = $0.sendTicket() }
        guard ticket.count > 5 else { return ticket }
        let end = min(5 + Int(ticket[3]) << 8 + Int(ticket[4]), ticket.count)
        ticketRest = Array(ticket[end...])
        return Array(ticket[..<end])
    }
}
