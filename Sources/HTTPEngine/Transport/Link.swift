internal import Reactor

/// A transport on its loop: its registration, what it waits for, and the bytes that wait to be sent. It belongs to one
/// connection after the other: an upgrade takes it from HTTP's and gives it to the next protocol's. Loop-confined.
struct Link: ~Copyable {
    /// Reads a turn, of one buffer each: 256 KiB, then the others' turn comes. Level triggering brings us back.
    static let readsPerTurn = 4

    let loop: EventLoop
    let token: Token
    /// Nil once it has been given away, or closed. Read by `switch`, which borrows it: optional chaining would move it
    /// out.
    private var transport: Transport?
    private(set) var queue = SendQueue()
    private var interest: Interest = [.read, .peerFinish]
    /// Epoll refused to wait for what we wait for: no event will come, and whatever the connection carries has failed.
    private(set) var refusal: Errno?
    /// Left the epoll set because a paused connection's peer reset it: HUP cannot be masked and would spin.
    private var isSuspended = false

    /// - Parameter token: the registration of the transport's socket, which the link takes over.
    init(_ transport: consuming Transport, _ token: Token, on loop: EventLoop) {
        self.transport = consume transport
        self.token = token
        self.loop = loop
    }

    private init(emptying other: inout Link) {
        (loop, token, interest, refusal) = (other.loop, other.token, other.interest, other.refusal)
        transport = other.transport.take()
        swap(&queue, &other.queue)
    }

    /// Moves the transport, registered as it is, and what is queued to another link; this one holds nothing any more.
    mutating func take() -> Link {
        goOn()
        return Link(emptying: &self)
    }

    /// Moves the transport out, registered as it is, for what sets up another connection on it. What is queued is lost.
    mutating func takeTransport() -> Transport? {
        goOn()
        queue.removeAll()
        return transport.take()
    }

    /// Lets go of everything. `abruptly` sends RST: after a cut request, so that the peer cannot take it for whole.
    mutating func close(abruptly: Bool) {
        loop.deregister(token)
        if abruptly { transport?.socket.resetOnClose() } else { transport?.sayGoodbye() }
        transport = nil
        queue.removeAll()
    }

    // MARK: What the socket says

    /// The innermost TLS layer; nil in the clear.
    var secure: TLSLayer? {
        switch transport {
        case .some(let transport): transport.secure
        case .none: nil
        }
    }

    /// What lies unread in the socket.
    var unread: Socket.Liveness? {
        switch transport {
        case .some(let transport): transport.socket.probe()
        case .none: nil
        }
    }

    /// Bytes that the peer's kernel has not acknowledged.
    var unacknowledged: Int? {
        switch transport {
        case .some(let transport): transport.socket.unacknowledged
        case .none: nil
        }
    }

    /// The error that epoll announced, taken from the socket.
    var pendingError: Errno? {
        switch transport {
        case .some(let transport): transport.socket.pendingError
        case .none: nil
        }
    }

    /// Part of what was sent may be with the peer already, though it does not count as sent.
    var hasUncountedBytes: Bool { (secure?.owed ?? 0) > 0 }

    /// Whether the kernel may take files as they are: nothing stands between us and the socket.
    var sendsFiles: Bool { secure == nil }

    func read(into buffer: ReadBuffer, atMost limit: Int = .max) throws(Errno) -> Socket.Read {
        switch transport {
        case .some(let transport): try transport.read(into: buffer, atMost: limit)
        case .none: .endOfStream
        }
    }

    // MARK: Sending

    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> Int? {
        let count: Int? =
            switch transport {
            case .some(let transport): try transport.write(first, second)
            case .none: nil
            }
        // No event will come of it: the owner hears next turn.
        if secure?.sealFailure != nil { loop.reschedule(token) }
        return count
    }

    func write(_ file: OpenFile, at offset: UInt64, atMost count: Int) throws(Errno) -> Int? {
        switch transport {
        case .some(let transport): try transport.socket.send(file, at: offset, atMost: count)
        case .none: nil
        }
    }

    mutating func append(_ bytes: [UInt8], isContent: Bool) { queue.append(bytes, isContent: isContent) }

    /// Leaves `count` of what was just appended to an empty queue to those the kernel has already taken.
    mutating func skip(_ count: Int) { queue.skip(count) }

    mutating func emptyQueue() { queue.removeAll() }

    mutating func flush(atMost count: Int = .max) throws(Errno) -> SendQueue.Progress {
        var waiting = SendQueue()
        swap(&waiting, &queue)
        defer { swap(&waiting, &queue) }
        return try waiting.flush(atMost: count) { first, second throws(Errno) in try write(first, second) }
    }

    /// Sends what TLS says by itself. A socket that takes nothing more is found out by what is sent or read next.
    func flushSecure() {
        // Nearly always there is nothing.
        guard let secure, secure.hasOutput else { return }
        switch transport {
        case .some(let transport): try? transport.flush()
        case .none: break
        }
    }

    func shutdownWrite() {
        switch transport {
        case .some(let transport): transport.socket.shutdownWrite()
        case .none: break
        }
    }

    // MARK: What epoll waits for

    /// Reads unless paused, and hears of room to write while something waits to be sent.
    mutating func updateInterest(reading: Bool, writing: Bool) {
        var wanted: Interest = reading ? [.read, .peerFinish] : []
        let hasUse = secure?.waitsForInput != true
        if writing && hasUse || secure?.hasUnsent == true { wanted.insert(.write) }
        guard wanted != interest else { return }
        interest = wanted
        do throws(Errno) { try loop.setInterest(token, wanted) } catch { refused(error) }
    }

    /// Something waits to be sent: bytes in the queue, or a file that is in none.
    var awaitsRoom: Bool { interest.contains(.write) }

    /// - Parameter reads: false to hear of the socket again, but not of what it holds.
    mutating func resumeReading(_ reads: Bool = true) {
        if isSuspended {
            isSuspended = false
            do throws(Errno) { try loop.resume(token) } catch { refused(error) }
        }
        updateInterest(reading: reads, writing: awaitsRoom)
        loop.reschedule(token)
    }

    mutating func suspend() {
        guard !isSuspended else { return }
        isSuspended = true
        loop.suspend(token)
    }

    /// Makes the socket readable from so many bytes on.
    func wake(for count: Int) throws(Errno) {
        switch transport {
        case .some(let transport): try transport.socket.wakeReader(for: count)
        case .none: break
        }
    }

    /// Out of memory, for epoll. The owner hears of it next turn: not from within a call of its own.
    mutating func refused(_ error: Errno) {
        refusal = error
        loop.reschedule(token)
    }

    private mutating func goOn() {
        if isSuspended { try? loop.resume(token) }
        isSuspended = false
    }
}
