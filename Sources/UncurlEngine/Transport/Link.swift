internal import UncurlReactor

/// A transport on its loop: its registration, the events it waits for, and the bytes that wait to be sent. It belongs
/// to one connection after the other: an upgrade takes it from the HTTP connection and gives it to the next protocol's.
/// Loop-confined.
struct Link: ~Copyable {
    /// How many reads of one buffer are made in a turn: 256 KiB, and then it is the others' turn. Level triggering
    /// reports the rest.
    static let readsPerTurn = 4

    let loop: EventLoop
    let token: Token
    /// Nil once it has been given away, or closed. It is read by `switch`, which borrows it: optional chaining would
    /// move it out.
    private var transport: Transport?
    private(set) var queue = SendQueue()
    private var interest: Interest
    /// The error with which epoll refused to wait: then no event will come, and what the connection carries has failed.
    private(set) var refusal: Errno?
    /// Whether it left the epoll set because a paused connection's peer reset it: HUP cannot be masked and would spin.
    private var isSuspended = false
    private var limitsUnsent = false

    /// - Parameter token: the registration of the transport's socket, which the link takes over.
    init(_ transport: consuming Transport, _ token: Token, on loop: EventLoop) {
        // The last flight of a handshake may still wait for room.
        interest = transport.hasUnsent ? [.read, .peerFinish, .write] : [.read, .peerFinish]
        self.transport = consume transport
        self.token = token
        self.loop = loop
    }

    private init(emptying other: inout Link) {
        (loop, token, interest, refusal) = (other.loop, other.token, other.interest, other.refusal)
        limitsUnsent = other.limitsUnsent
        transport = other.transport.take()
        swap(&queue, &other.queue)
    }

    /// Moves the transport with its registration, and what is queued, to another link. This one is empty after that.
    mutating func take() -> Link {
        goOn()
        return Link(emptying: &self)
    }

    /// Moves the transport out, with its registration, to set up another connection on it. What is queued is lost.
    mutating func takeTransport() -> Transport? {
        goOn()
        queue.removeAll()
        return transport.take()
    }

    /// Releases everything. `abruptly` sends RST: after a truncated request, so that the peer cannot take it for whole.
    mutating func close(abruptly: Bool) {
        loop.deregister(token)
        if abruptly { transport?.socket.resetOnClose() } else { transport?.sayGoodbye() }
        transport = nil
        queue.removeAll()
    }

    // MARK: The socket's state

    /// The innermost TLS layer; nil without TLS.
    var secure: TLSLayer? {
        switch transport {
        case .some(let transport): transport.secure
        case .none: nil
        }
    }

    /// Whether anything is unread in the socket.
    var unread: Socket.Liveness? {
        switch transport {
        case .some(let transport): transport.socket.probe()
        case .none: nil
        }
    }

    /// How many bytes the peer's kernel has not acknowledged.
    var unacknowledged: Int? {
        switch transport {
        case .some(let transport): transport.socket.unacknowledged
        case .none: nil
        }
    }

    /// Makes what the kernel takes count as sent soon, for content that a slow peer reads for a long time. One call for
    /// each connection that carries such content.
    mutating func limitUnsent(to count: Int) {
        guard !limitsUnsent else { return }
        limitsUnsent = true
        switch transport {
        case .some(let transport): transport.socket.limitUnsent(to: count)
        case .none: break
        }
    }

    /// The error that epoll announced, taken from the socket.
    var pendingError: Errno? {
        switch transport {
        case .some(let transport): transport.socket.pendingError
        case .none: nil
        }
    }

    /// Whether the peer may already have a part of what was sent that does not count as sent yet.
    var hasUncountedBytes: Bool { (secure?.owed ?? 0) > 0 }

    /// Whether the kernel may send files directly: nothing is between the file and the socket.
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
        // No event will come of it: the owner is told next turn.
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

    /// Removes `count` bytes, which the kernel has already taken, of what was just appended to an empty queue.
    mutating func skip(_ count: Int) { queue.skip(count) }

    mutating func emptyQueue() { queue.removeAll() }

    mutating func flush(atMost count: Int = .max) throws(Errno) -> SendQueue.Progress {
        var waiting = SendQueue()
        swap(&waiting, &queue)
        defer { swap(&waiting, &queue) }
        return try waiting.flush(atMost: count) { first, second throws(Errno) in try write(first, second) }
    }

    /// Sends what TLS itself has to send. If the socket takes nothing more, the next write or read shows it.
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

    // MARK: Events

    /// Sets the events to wait for: reading unless paused, and room to write while something waits to be sent.
    mutating func updateInterest(reading: Bool, writing: Bool) {
        var wanted: Interest = reading ? [.read, .peerFinish] : []
        let hasUse = secure?.waitsForInput != true
        if writing && hasUse || secure?.hasUnsent == true { wanted.insert(.write) }
        guard wanted != interest else { return }
        interest = wanted
        do throws(Errno) { try loop.setInterest(token, wanted) } catch { refused(error) }
    }

    /// Whether something waits to be sent: bytes in the queue, or a file that is in none.
    var awaitsRoom: Bool { interest.contains(.write) }

    /// - Parameter reads: false to get events of the socket again, but not of what it holds.
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

    /// Makes the socket readable once that many bytes are there.
    func wake(for count: Int) throws(Errno) {
        switch transport {
        case .some(let transport): try transport.socket.wakeReader(for: count)
        case .none: break
        }
    }

    /// Notes that epoll has no memory. The owner is told next turn, and not within a call of its own.
    mutating func refused(_ error: Errno) {
        refusal = error
        loop.reschedule(token)
    }

    private mutating func goOn() {
        if isSuspended { try? loop.resume(token) }
        isSuspended = false
    }
}
