internal import HTTP1
internal import Reactor

/// A connection of the server: the socket, and what its ``ServerMachine`` needs done with it. Lives on one loop.
///
///     reading ◀──▶ sending      the kernel took less than all of it; reading waits meanwhile
///     reading ◀──▶ resting      a delay, or the next turn
///     reading ───▶ silent       /never
///     sending ───▶ lingering    FIN sent, what still comes is dropped, within bounds
///     any ───────▶ closed
///
/// Two system calls a request: one recv, one send. epoll is told of a change only when a send blocks or a response waits.
final class ServerConnection: ReadinessHandler, TimerHandler {
    private enum State {
        case reading
        case sending(then: ServerMachine.Need)
        case resting(TimerID?)
        case silent
        case lingering(TimerID, left: Int)
        case closed
    }

    /// Dropped after a refusal (RFC 9112 §9.6): a megabyte covers what a client has under way before it sees the answer.
    private static let lingerBytes = 1 << 20
    private static let lingerTime = Duration.seconds(2)
    /// Rounds of output a turn; the other connections of the loop want theirs.
    private static let roundsPerTurn = 4

    private unowned let server: ServerLoop
    private let loop: EventLoop
    private let shared: ServerScratch
    private var socket: Socket?
    private var token: Token?
    private var machine: ServerMachine
    private var state = State.reading
    /// What the kernel has not taken yet: bounded by the scratch's high water and one read.
    private var unsent: [UInt8] = []
    private var unsentStart = 0
    private var unsentResponses = 0
    private(set) var lastActivity: Instant
    /// Where the server's table holds it.
    var index = 0

    init(_ socket: consuming Socket, _ server: ServerLoop) {
        self.server = server
        loop = server.loop
        shared = server.shared
        machine = ServerMachine(limits: server.shared.options.limits)
        lastActivity = server.loop.now
        self.socket = consume socket
    }

    /// False if the loop's epoll set has no room for it.
    func open() -> Bool {
        guard let number = socket?.number else { return false }
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
        case .resting(nil) where readiness.contains(.again):
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
        case .resting(id): resume()
        case .lingering(id, _): close()
        case .reading, .sending, .resting, .silent, .lingering, .closed: break
        }
    }

    /// Comes by now and then: closes what has not moved since `limit`, and lets idle connections give memory back.
    func sweep(idleSince limit: Instant) {
        guard lastActivity < limit else { return machine.releaseStorage() }
        switch state {
        case .reading:
            shared.now = loop.now
            apply(machine.timeOut(shared))
        case .sending: abort()
        case .resting, .silent, .lingering, .closed: break
        }
    }

    /// The server stops: a request that already lies in the socket is still answered, then idle connections end.
    func drain() {
        if case .reading = state { read() }
        if case .reading = state, machine.isIdle { close() }
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
            shared.counters.add(count, to: .bytesReceived)
            let need = loop.readBuffer.withBytes(count) { machine.receive($0, shared) { origin } }
            apply(need)
        case .endOfStream, nil:
            // No response is due while we read: a request that was cut off gets none.
            close()
        case .wouldBlock:
            break
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

    /// Sends what the machine made, then sees to what it needs.
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

    /// False if something is left, which now lies in `unsent`.
    @inline(__always)
    private func send() -> Bool {
        guard !shared.output.isEmpty else { return true }
        let taken: Int?
        do throws(Errno) {
            taken = try write(shared.output, from: 0)
        } catch {
            shared.output.removeAll(keepingCapacity: true)
            shared.finishedResponses = 0
            close()
            return true
        }
        let count = taken ?? 0
        shared.counters.add(count, to: .bytesSent)
        defer {
            shared.output.removeAll(keepingCapacity: true)
            shared.finishedResponses = 0
        }
        guard count == shared.output.count else {
            unsent = Array(shared.output[count...])
            unsentResponses = shared.finishedResponses
            return false
        }
        shared.counters.add(shared.finishedResponses, to: .responses)
        return true
    }

    /// Goes on with `unsent`. True once it is empty and the connection still open.
    private func flush() -> Bool {
        do throws(Errno) {
            let taken = try write(unsent, from: unsentStart) ?? 0
            shared.counters.add(taken, to: .bytesSent)
            unsentStart += taken
        } catch {
            close()
            return false
        }
        guard unsentStart == unsent.count else { return false }
        unsent = []
        unsentStart = 0
        shared.counters.add(unsentResponses, to: .responses)
        unsentResponses = 0
        return true
    }

    @inline(__always)
    private func write(_ octets: [UInt8], from start: Int) throws(Errno) -> Int? {
        let rest = octets.span.extracting(start...)
        return try socket?.write(rest)
    }

    // MARK: Needs

    private func enact(_ need: ServerMachine.Need) {
        switch need {
        case .input:
            state = .reading
            setInterest(.read)
            if shared.isDraining, machine.isIdle { close() }
        case .room:
            yield()
        case .time(let span):
            state = .resting(loop.arm(at: loop.stamp().advanced(by: span), self))
            setInterest(.peerFinish)
        case .freeze(let span):
            server.freeze(span)
            yield()
        case .nothing:
            state = .silent
            setInterest(.peerFinish)
        case .end(.close):
            close()
        case .end(.linger):
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
        loop.again(token)
    }

    private func resume() {
        shared.now = loop.now
        lastActivity = loop.now
        apply(machine.resume(shared) { origin })
    }

    /// While a response waits: FIN may be half of a close or a whole one, so a delayed response still goes out. A silent
    /// connection has nothing to wait for.
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
        shared.counters.add(count, to: .bytesReceived)
        state = .lingering(timer, left: left - count)
    }

    private func setInterest(_ interest: Interest) {
        guard let token else { return }
        // Fails only for a descriptor that is not in the set, and ours is.
        try? loop.setInterest(token, interest)
    }

    private func close() {
        switch state {
        case .closed: return
        case .resting(let timer?): loop.cancel(timer)
        case .lingering(let timer, _): loop.cancel(timer)
        case .reading, .sending, .resting(nil), .silent: break
        }
        state = .closed
        if let token { loop.deregister(token) }
        token = nil
        socket = nil
        unsent = []
        server.forget(self)
    }
}
