internal import UncurlReactor

/// A connected socket on its loop: TLS around it if there is any, its registration, the events it waits for, and the
/// bytes that wait to be sent. It takes and returns plaintext, as HTTP sees it. It belongs to one owner after another:
/// what sets a connection up gives it to the HTTP connection, and an upgrade to the next protocol's. Loop-confined.
struct Link: ~Copyable {
    /// How many reads of one buffer are made in a turn: 256 KiB, and then it is the others' turn. Level triggering
    /// reports the rest.
    static let readsPerTurn = 4

    let loop: EventLoop
    let token: Token
    /// Nil once it has been given away, or closed.
    private var socket: Socket?
    /// The innermost TLS layer; nil without TLS.
    private(set) var secure: TLSLayer?
    var queue = SendQueue()
    private var interest: Interest = [.read, .peerFinish]
    /// The error with which epoll refused to wait: then no event will come, and what the connection carries has failed.
    private(set) var refusal: Errno?
    /// Whether it left the epoll set because a paused connection's peer reset it: HUP cannot be masked and would spin.
    private var isSuspended = false
    private var limitsUnsent = false

    /// - Parameter token: the registration of the socket, which waits for bytes; the link takes it over.
    init(_ socket: consuming Socket?, _ token: Token, on loop: EventLoop) {
        self.socket = consume socket
        self.token = token
        self.loop = loop
    }

    /// Moves the socket with its registration, and what is queued, to another link. This one is empty after that.
    mutating func take() -> Link {
        if isSuspended { try? loop.resume(token) }
        isSuspended = false
        var taken = Link(nil, token, on: loop)
        swap(&self, &taken)
        return taken
    }

    /// Puts TLS around what there was: from now on everything goes through `layer`. What is queued of its handshake
    /// becomes the layer's own.
    mutating func wrap(in layer: TLSLayer) {
        if secure == nil {
            layer.adopt(queue.rest)
            queue.removeAll()
        }
        secure = layer
    }

    /// Ends the connection in order, with one close_notify that is not waited for. `abruptly` sends RST: after a
    /// truncated request, so that the peer cannot take it for whole.
    mutating func close(abruptly: Bool) {
        if abruptly {
            withSocket { $0.resetOnClose() }
        } else {
            secure?.close()
            try? flushSecure()
        }
        drop()
    }

    mutating func drop() {
        loop.deregister(token)
        socket = nil
        queue.removeAll()
    }

    // MARK: The socket's state

    var unread: Socket.Liveness? { withSocket { $0.probe() } }

    var unacknowledged: Int? { withSocket { $0.unacknowledged } }

    var pendingError: Errno? { withSocket { $0.pendingError } }

    var localAddress: SocketAddress? { withSocket { $0.localAddress } }

    /// Makes what the kernel takes count as sent soon, for content that a slow peer reads for a long time. One call for
    /// each connection that carries such content.
    mutating func limitUnsent(to count: Int) {
        guard !limitsUnsent else { return }
        limitsUnsent = true
        withSocket { $0.limitUnsent(to: count) }
    }

    /// Whether the peer may already have a part of what was sent that does not count as sent yet.
    var hasUncountedBytes: Bool { (secure?.owed ?? 0) > 0 }

    /// Whether the kernel may send files directly: nothing is between the file and the socket.
    var sendsFiles: Bool { secure == nil }

    /// Borrows the socket by `switch`: optional chaining would move it out.
    @inline(__always)
    private func withSocket<Result, Failure: Error>(
        _ body: (borrowing Socket) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        switch socket {
        case .some(let socket): try body(socket)
        case .none: nil
        }
    }

    /// Reads raw bytes into the loop's buffer; with TLS, ciphertext for ``TLSLayer/decrypt(_:)``.
    func read(into buffer: ReadBuffer, atMost limit: Int = .max) throws(Errno) -> Socket.Read {
        switch socket {
        case .some(let socket): try socket.read(into: buffer, atMost: limit)
        case .none: .endOfStream
        }
    }

    // MARK: Sending

    /// Returns how many bytes were sent, or nil if none were for lack of room. With TLS, bytes count once all their
    /// ciphertext was sent; until then the caller calls again with the same bytes.
    func write(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> Int? {
        switch socket {
        case .some(let socket):
            guard let secure else { return try second.isEmpty ? socket.write(first) : socket.write(first, second) }
            let count = try secure.write(first, second, to: socket)
            // No event will come of it: the owner is told next turn.
            if secure.sealFailure != nil { loop.reschedule(token) }
            return count
        case .none: return nil
        }
    }

    func write(_ file: OpenFile, at offset: UInt64, atMost count: Int) throws(Errno) -> Int? {
        try withSocket { socket throws(Errno) in try socket.send(file, at: offset, atMost: count) }
    }

    mutating func flush(atMost count: Int = .max) throws(Errno) -> SendQueue.Progress {
        var unsent = SendQueue()
        swap(&unsent, &queue)
        defer { swap(&unsent, &queue) }
        return try unsent.flush(atMost: count) { first, second throws(Errno) in try write(first, second) }
    }

    /// Sends what TLS itself has to send: alerts, answers to key updates. What the kernel does not take waits.
    func flushSecure() throws(Errno) {
        // Nearly always there is nothing.
        guard let secure, secure.hasOutput else { return }
        _ = try withSocket { socket throws(Errno) in try secure.flush(to: socket) }
    }

    func shutdownWrite() { withSocket { $0.shutdownWrite() } }

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
        try withSocket { socket throws(Errno) in try socket.wakeReader(for: count) }
    }

    /// Notes that epoll has no memory. The owner is told next turn, and not within a call of its own.
    mutating func refused(_ error: Errno) {
        refusal = error
        loop.reschedule(token)
    }
}

/// The bytes that the kernel has not taken yet, in order. Pieces are shared arrays: nothing is copied.
struct SendQueue {
    /// The result of one flush: how many bytes were sent, how many of them are content, and whether the queue is empty.
    typealias Progress = (bytes: Int, content: Int, finished: Bool)

    /// How many places of sent pieces are kept, until they are worth moving the others.
    private static let mostGone = 64

    /// Content counts as progress of the request's content; heads and chunk framing do not.
    private var pieces: [(bytes: [UInt8], isContent: Bool)] = []
    private var next = 0
    /// How much of the first piece has been sent.
    private var sent = 0

    /// How many places the storage has, those of sent pieces included.
    var places: Int { pieces.count }
    var isEmpty: Bool { next == pieces.count }

    /// What has not been sent.
    var rest: [UInt8] { Array(pieces[next...].flatMap(\.bytes).dropFirst(sent)) }

    mutating func append(_ bytes: [UInt8], isContent: Bool) {
        guard !bytes.isEmpty else { return }
        pieces.append((bytes, isContent))
    }

    /// Removes `count` bytes, which the kernel has already taken, of what was just appended to an empty queue.
    mutating func skip(_ count: Int) { _ = advance(count) }

    /// Sends until the queue is empty, `write` takes nothing more, or `limit` bytes were sent. Pieces are sent in
    /// pairs, so that a head and a small body share a call and a packet.
    mutating func flush(
        atMost limit: Int = .max,
        _ write: (Span<UInt8>, Span<UInt8>) throws(Errno) -> Int?
    ) throws(Errno) -> Progress {
        var progress: Progress = (0, 0, false)
        while !isEmpty {
            let first = pieces[next].bytes
            let second = next + 1 < pieces.count ? pieces[next + 1].bytes : []
            let room = limit - progress.bytes
            guard room > 0 else { return progress }
            let head = first.span.extracting(droppingFirst: sent).extracting(first: room)
            let taken = try write(head, second.span.extracting(first: room - head.count))
            guard let taken else { return progress }
            progress.bytes += taken
            progress.content += advance(taken)
        }
        progress.finished = true
        return progress
    }

    mutating func removeAll() {
        pieces = []
        next = 0
        sent = 0
    }

    /// Advances by `count` bytes. Returns how many of them were content.
    private mutating func advance(_ count: Int) -> Int {
        var left = count
        var content = 0
        while left > 0, next < pieces.count {
            let piece = pieces[next]
            let step = min(left, piece.bytes.count - sent)
            left -= step
            sent += step
            if piece.isContent { content += step }
            if sent == piece.bytes.count {
                pieces[next] = ([], false)
                next += 1
                sent = 0
            }
        }
        if next == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            next = 0
        } else if next >= SendQueue.mostGone, next * 2 > pieces.count {
            // A writer that is always ahead of the socket never sees the queue empty.
            pieces.removeFirst(next)
            next = 0
        }
        return content
    }
}
