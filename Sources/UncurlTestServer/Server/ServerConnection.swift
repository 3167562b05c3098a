internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlTLS
import UncurlText

/// A connection of the server: the socket, and the actions that its ``ServerMachine`` needs. It belongs to one loop.
///
///     reading ◀──▶ sending      the kernel took less than all of it; reading waits meanwhile
///     reading ◀──▶ resting      a delay, or the next turn
///     reading ───▶ silent       /never
///     sending ───▶ lingering    FIN sent, what still comes is dropped, within bounds
///     any ───────▶ closed
///
/// A request takes two system calls, one recv and one send. epoll is only changed when a send blocks or a response
/// waits.
final class ServerConnection: ReadinessHandler, TimerHandler {
    private enum State {
        case reading
        case sending(then: ServerMachine.Need)
        /// Until the wait with this number is over; nil: until the next turn.
        case resting(UInt64?)
        case silent
        case lingering(TimerID, left: Int)
        case closed
    }

    /// The most bytes that are dropped after a refusal (RFC 9112 §9.6). A megabyte covers what a client has sent before
    /// it sees the answer.
    private static let lingerBytes = 1 << 20
    private static let lingerTime = Duration.seconds(2)
    /// The most rounds of output per turn, so that the loop's other connections are served too.
    private static let roundsPerTurn = 4

    private unowned let server: ServerLoop
    private let loop: EventLoop
    private let shared: ServerScratch
    private var socket: Socket?
    private var token: Token?
    /// nil on a plain connection.
    private var session: TLSSession?
    private var machine: ServerMachine
    private var state = State.reading
    /// The bytes that the kernel has not accepted yet, at most the scratch's high water and one read.
    private var unsent: [UInt8] = []
    private var unsentStart = 0
    private var unsentResponses = 0
    private(set) var lastActivity: Instant
    private var rests: UInt64 = 0
    /// The index in the server's table.
    var index = 0

    init(_ socket: consuming Socket, _ server: ServerLoop) {
        self.server = server
        loop = server.loop
        shared = server.shared
        machine = ServerMachine(limits: server.shared.options.limits)
        lastActivity = server.loop.now
        self.socket = consume socket
    }

    /// False if the loop's epoll set is full.
    func open() -> Bool {
        guard let number = socket?.number else { return false }
        if let secure = shared.secure {
            guard let session = try? TLSSession(server: secure.context, output: secure.ciphertext) else { return false }
            self.session = session
        }
        token = try? loop.register(number, .read, self)
        return token != nil
    }

    // MARK: Events

    func ready(_ readiness: Readiness) {
        switch state {
        case .reading:
            read()
        case .sending(let need):
            lastActivity = loop.now
            if flush() { enact(need) }
        case .resting(nil) where readiness.contains(.rescheduled):
            resume()
        case .resting, .silent:
            noticePeer(readiness)
        case .lingering(let timer, let left):
            linger(timer, left)
        case .closed:
            break
        }
    }

    func timerFired(_ id: TimerID) {
        switch state {
        case .lingering(id, _): close()
        case .reading, .sending, .resting, .silent, .lingering, .closed: break
        }
    }

    /// Called at intervals. Closes a connection that has been idle since `limit`, and releases the memory of idle
    /// connections.
    func sweep(idleSince limit: Instant) {
        guard lastActivity < limit else {
            session?.releaseBuffers()
            return machine.releaseStorage()
        }
        switch state {
        case .reading:
            shared.now = loop.now
            apply(machine.timeOut(shared))
        case .sending: abort()
        case .resting, .silent, .lingering, .closed: break
        }
    }

    /// Called when the server stops. A request that is already in the socket is answered, then idle connections end.
    func drain() {
        if case .reading = state { read() }
        if case .reading = state, machine.isIdle { end() }
    }

    func abort() {
        socket?.resetOnClose()
        close()
    }

    // MARK: Octets in

    private func read() {
        let result: Socket.Read?
        do throws(Errno) {
            result = try socket?.read(into: loop.readBuffer)
        } catch {
            return close()
        }
        switch result {
        case .bytes(let count):
            lastActivity = loop.now
            shared.now = lastActivity
            shared.counters.bytesReceived.add(count)
            if let session, let secure = shared.secure { return decrypt(count, session, secure) }
            let need = loop.readBuffer.withBytes(count) { machine.receive($0, shared) { origin } }
            apply(need)
        case .endOfStream, nil:
            // No response is due while the connection reads, so an incomplete request gets none.
            close()
        case .wouldBlock:
            break
        }
    }

    private func decrypt(_ count: Int, _ session: TLSSession, _ secure: SecureScratch) {
        do throws(TLSError) {
            switch try loop.readBuffer.withBytes(
                count,
                { input throws(TLSError) in try secure.receive(input, session) }
            ) {
            case .needsInput: apply(.input)
            case .bytes(let count):
                let need = secure.withPlaintext(count) { machine.receive($0, shared) { origin } }
                apply(need)
            case .closed: end()
            }
        } catch {
            // The alert is in the output.
            _ = sendCiphertext(secure)
            close()
        }
    }

    private var origin: String {
        switch socket?.peerAddress {
        case .v4(let address, _): address.description
        case .v6(let address, _): address.description
        case .unix, nil: "unix"
        }
    }

    // MARK: Octets out

    /// Sends the output of the machine, then handles its need.
    private func apply(_ need: ServerMachine.Need) {
        var need = need
        var rounds = 0
        while true {
            guard send() else {
                state = .sending(then: need)
                return setInterest(.write)
            }
            if case .closed = state { return }
            guard case .room = need else { return enact(need) }
            rounds += 1
            guard rounds < ServerConnection.roundsPerTurn else { return yield() }
            need = machine.resume(shared) { origin }
        }
    }

    /// False if bytes are left; they are in `unsent`.
    @inline(__always)
    private func send() -> Bool {
        if let session, let secure = shared.secure { return encrypt(session, secure) }
        guard !shared.output.isEmpty else { return true }
        defer { shared.output.removeAll(keepingCapacity: true) }
        return send(shared.output)
    }

    private func send(_ octets: [UInt8]) -> Bool { send(octets.span) }

    /// Sends what the kernel accepts. False if bytes are left; they are in `unsent`.
    private func send(_ octets: Span<UInt8>) -> Bool {
        defer { shared.finishedResponses = 0 }
        let count: Int
        do throws(Errno) {
            count = try socket?.write(octets) ?? 0
        } catch {
            close()
            return true
        }
        shared.counters.bytesSent.add(count)
        guard count == octets.count else {
            unsent.append(octets.extracting(droppingFirst: count))
            unsentResponses = shared.finishedResponses
            return false
        }
        shared.counters.responses.add(shared.finishedResponses)
        return true
    }

    /// ``send()`` with encryption. A client that splits a handshake message while a response is due is disconnected: no
    /// known client does that, and nothing can be encrypted meanwhile.
    private func encrypt(_ session: TLSSession, _ secure: SecureScratch) -> Bool {
        let isWhole = shared.output.isEmpty || encrypt(shared.output, session)
        shared.output.removeAll(keepingCapacity: true)
        if isWhole { return sendCiphertext(secure) }
        shared.finishedResponses = 0
        secure.ciphertext.removeAll()
        close()
        return true
    }

    private func encrypt(_ octets: [UInt8], _ session: TLSSession) -> Bool {
        do throws(TLSError) { return try session.write(octets.span) == octets.count } catch { return false }
    }

    private func sendCiphertext(_ secure: SecureScratch) -> Bool {
        guard !secure.ciphertext.isEmpty else { return true }
        defer { secure.ciphertext.removeAll() }
        return secure.ciphertext.withBytes { send($0) }
    }

    /// Sends the rest of `unsent`. True once it is empty and the connection is still open.
    private func flush() -> Bool {
        do throws(Errno) {
            // Without exclusivity checks, as shipped, the compiler refuses a span of a property here.
            let octets = unsent
            let taken = try socket?.write(octets.span.extracting(unsentStart...)) ?? 0
            shared.counters.bytesSent.add(taken)
            unsentStart += taken
        } catch {
            close()
            return false
        }
        guard unsentStart == unsent.count else { return false }
        unsent = []
        unsentStart = 0
        shared.counters.responses.add(unsentResponses)
        unsentResponses = 0
        return true
    }

    // MARK: Needs

    private func enact(_ need: ServerMachine.Need) {
        switch need {
        case .input:
            state = .reading
            setInterest(.read)
            if shared.isDraining, machine.isIdle { end() }
        case .room:
            yield()
        case .time(let span):
            rests &+= 1
            state = .resting(rests)
            server.rest(self, rests, until: loop.stamp().advanced(by: span))
            setInterest(.peerFinish)
        case .freeze(let span):
            server.freeze(span)
            yield()
        case .nothing:
            state = .silent
            setInterest(.peerFinish)
        case .end(.close):
            end()
        case .end(.linger):
            sayGoodbye()
            socket?.shutdownWrite()
            let timer = loop.arm(at: loop.now.advanced(by: ServerConnection.lingerTime), self)
            state = .lingering(timer, left: ServerConnection.lingerBytes)
            setInterest(.read)
        case .end(.reset):
            abort()
        }
    }

    private func yield() {
        guard let token else { return }
        state = .resting(nil)
        setInterest([])
        loop.reschedule(token)
    }

    /// A wait is over. The number identifies it, because the connection may have had another wait or an end since.
    func rested(_ number: UInt64) {
        if case .resting(number) = state { resume() }
    }

    private func resume() {
        shared.now = loop.now
        lastActivity = loop.now
        apply(machine.resume(shared) { origin })
    }

    /// Called while a response waits. A FIN may end one direction or both, so a delayed response is still sent. A
    /// silent connection ends.
    private func noticePeer(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.hungUp, .failed]) { return close() }
        guard readiness.contains(.peerFinished) else { return }
        switch state {
        case .silent: close()
        case .reading, .sending, .resting, .lingering, .closed: setInterest([])
        }
    }

    private func linger(_ timer: TimerID, _ left: Int) {
        guard case .bytes(let count) = (try? socket?.read(into: loop.readBuffer)) ?? .endOfStream, count < left else {
            loop.cancel(timer)
            return close()
        }
        shared.counters.bytesReceived.add(count)
        state = .lingering(timer, left: left - count)
    }

    /// Sends close_notify, so that the end is not taken for a truncation. If the socket is full, the message is
    /// dropped.
    private func sayGoodbye() {
        guard let session, let secure = shared.secure else { return }
        session.close()
        _ = sendCiphertext(secure)
    }

    private func end() {
        sayGoodbye()
        close()
    }

    private func setInterest(_ interest: Interest) {
        guard let token else { return }
        // It fails only for a descriptor outside the set, and this one is in it.
        try? loop.setInterest(token, interest)
    }

    private func close() {
        switch state {
        case .closed: return
        case .lingering(let timer, _): loop.cancel(timer)
        case .reading, .sending, .resting, .silent: break
        }
        state = .closed
        if let token { loop.deregister(token) }
        token = nil
        socket = nil
        unsent = []
        server.forget(self)
    }
}
