internal import CLinux

/// A nonblocking stream socket. Every call maps errno once, here; none ever raises SIGPIPE.
public struct Socket: ~Copyable {
    private let fd: OwnedFD

    init(taking number: CInt) { fd = OwnedFD(taking: number) }

    /// Takes over what ``release()`` gave away, on another loop for instance.
    public init(adopting number: CInt) { fd = OwnedFD(taking: number) }

    /// Gives the descriptor away, open and unregistered; its adopter closes it.
    public consuming func release() -> CInt { fd.release() }

    /// For ``EventLoop/register(_:_:_:)``.
    public var number: CInt { fd.number }

    /// What a read gave.
    public enum Read: Equatable {
        /// So many bytes lie at the buffer's start; never 0.
        case bytes(Int)
        /// Nothing has come since the last read.
        case wouldBlock
        /// The peer's FIN. What came before it has all been read.
        case endOfStream
    }

    // MARK: Opening

    /// A new stream socket, connected to nothing.
    public init(_ family: SocketAddress.Family) throws(Errno) {
        let domain =
            switch family {
            case .v4: AF_INET
            case .v6: AF_INET6
            case .unix: AF_UNIX
            }
        fd = OwnedFD(taking: try callingOnce(.socket) { uncurl_socket(domain) })
    }

    /// What a started connect came to.
    public enum Connect {
        /// The connection is open.
        case connected
        /// The socket becomes writable when the connection is open or has failed.
        case inProgress
    }

    /// Starts to connect. EINTR means in progress as well: calling again would fail with EALREADY (connect(2)).
    public func connect(to address: SocketAddress) throws(Errno) -> Connect {
        let fault = injectedFault(.connect)
        if let fault, fault != .interrupted { throw fault }
        let result = unsafe address.withKernelForm { unsafe CLinux.connect(number, $0, $1) }
        if result == 0 { return .connected }
        let error = Errno.last
        // A signal interrupts a connect that is under way; so does the fault.
        switch error == .inProgress ? fault ?? error : error {
        case .inProgress, .interrupted: return .inProgress
        default: throw error
        }
    }

    /// After the socket became writable: throws what the connect came to, if not to a connection.
    ///
    /// A connect to a free port of the loopback's ephemeral range can meet itself (simultaneous open with
    /// its own port); no server is there, so that is a refusal.
    public func finishConnect() throws(Errno) {
        if let error = pendingError { throw error }
        if let local = localAddress, local.port != nil, local == peerAddress { throw .connectionRefused }
    }

    /// The same, with the question for the peer's name saved wherever the ports tell already.
    func finishConnect(to address: SocketAddress) throws(Errno) {
        guard let port = address.port, localAddress?.port != port else { return try finishConnect() }
        if let error = pendingError { throw error }
    }

    /// Binds the local end. The port is chosen at connect, for the whole four-tuple, not reserved now
    /// (IP_BIND_ADDRESS_NO_PORT): otherwise one source address runs out after 28,000 connections in all.
    public func bindLocal(_ address: SocketAddress) throws(Errno) {
        if address.port == 0 { try setOption(uncurl_IPPROTO_IP, uncurl_IP_BIND_ADDRESS_NO_PORT, 1) }
        try bind(address)
    }

    func bind(_ address: SocketAddress) throws(Errno) {
        _ = try callingOnce(.bind) { unsafe address.withKernelForm { unsafe CLinux.bind(number, $0, $1) } }
    }

    // MARK: Bytes

    /// One `recv` into the loop's buffer. Fewer bytes than its capacity, or than `limit`, mean that the socket is
    /// drained: level-triggered readiness reports anything that comes later.
    public func read(into buffer: ReadBuffer, atMost limit: Int = .max) throws(Errno) -> Read {
        let count = try retryingInterruptsOrBlocking(.receive, on: number) {
            unsafe uncurl_recv(number, buffer.storage.baseAddress, allowance(min(buffer.capacity, limit)))
        }
        guard let count else { return .wouldBlock }
        return count == 0 ? .endOfStream : .bytes(count)
    }

    /// One `send`; returns how many bytes the kernel took, or nil if it took none for lack of room.
    public func write(_ bytes: Span<UInt8>) throws(Errno) -> Int? {
        try unsafe bytes.withUnsafeBufferPointer { bytes throws(Errno) in
            try retryingInterruptsOrBlocking(.send, on: number) {
                unsafe uncurl_send(number, bytes.baseAddress, allowance(bytes.count))
            }
        }
    }

    /// One `sendmsg` of two pieces, so that a head and a small body leave in one packet.
    public func write(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> Int? {
        try unsafe first.withUnsafeBufferPointer { first throws(Errno) in
            try unsafe second.withUnsafeBufferPointer { second throws(Errno) in
                let (one, two) = (allowance(first.count), allowance(first.count + second.count))
                return try retryingInterruptsOrBlocking(.send, on: number) {
                    unsafe uncurl_send2(number, first.baseAddress, one, second.baseAddress, two - one)
                }
            }
        }
    }

    /// One `sendfile`, which copies nothing through this process. Returns how many bytes the kernel took, nil if it
    /// took none for lack of room, and 0 where the file ends at or before `offset`.
    public func send(_ file: OpenFile, at offset: UInt64, atMost count: Int) throws(Errno) -> Int? {
        guard let offset = Int64(exactly: offset) else { throw .invalidArgument }
        return try retryingInterruptsOrBlocking(.sendFile, on: number) {
            uncurl_sendfile(number, file.number, offset, allowance(count))
        }
    }

    /// Whether an idle connection is still worth using.
    public enum Liveness {
        /// Nothing has come.
        case quiet
        /// Bytes have come that no request has asked for.
        case strayBytes
        /// The peer has closed it, or it has failed.
        case ended
    }

    /// Looks without taking: nothing may have come on a connection that carries no request.
    public func probe() -> Liveness {
        if let fault = injectedFault(.peek) { return fault == .wouldBlock ? .quiet : .ended }
        return switch uncurl_peek(number) {
        case 1: .strayBytes
        case 0: .ended
        default: Errno.last == .wouldBlock ? .quiet : .ended
        }
    }

    /// Bytes handed to the kernel that the peer's kernel has not acknowledged (SIOCOUTQ, tcp(7)), after the
    /// connection's end too; nil where that cannot be told.
    public var unacknowledged: Int? {
        if injectedFault(.getsockopt) != nil { return nil }
        let count = uncurl_unacknowledged(number)
        return count < 0 ? nil : Int(count)
    }

    // MARK: Ending

    /// Sends FIN; reading goes on. Not for requests: many servers take it for an abort.
    public func shutdownWrite() { _ = uncurl_shutdown_write(number) }

    /// Makes the coming close send RST: for aborts, and for load tests that must leave no TIME_WAIT.
    public func resetOnClose() { _ = try? callingOnce(.setsockopt) { uncurl_linger_zero(number) } }

    /// The error that EPOLLERR announced, taken from the socket.
    public var pendingError: Errno? {
        if let fault = injectedFault(.getsockopt) { return fault }
        let code = uncurl_socket_error(number)
        return code == 0 ? nil : Errno(code: code)
    }

    // MARK: Options and names

    /// Small writes leave at once; Nagle's wait meets the peer's delayed ACK at 40 ms.
    public func disableNagle() { try? setOption(uncurl_SOL_TCP, uncurl_TCP_NODELAY, 1) }

    /// Probes after 60 s of silence, every 15 s, four times: a peer that vanished is noticed in two minutes.
    public func enableKeepAlive() {
        try? setOption(uncurl_SOL_SOCKET, uncurl_SO_KEEPALIVE, 1)
        try? setOption(uncurl_SOL_TCP, uncurl_TCP_KEEPIDLE, 60)
        try? setOption(uncurl_SOL_TCP, uncurl_TCP_KEEPINTVL, 15)
        try? setOption(uncurl_SOL_TCP, uncurl_TCP_KEEPCNT, 4)
    }

    /// Readable from `count` bytes on, not from one: where so many are known to come (SO_RCVLOWAT, socket(7)). The end
    /// of the stream, an error and a full window still count at once, and a read still takes what is there.
    public func wakeReader(for count: Int) throws(Errno) {
        try setOption(uncurl_SOL_SOCKET, uncurl_SO_RCVLOWAT, CInt(clamping: count))
    }

    /// What the kernel holds unread, counted with its own overhead: twice `count` (SO_RCVBUF, socket(7)). Left alone,
    /// Linux lets a reader's share grow to the last of `net.ipv4.tcp_rmem`, with megabytes that stay unread.
    public func limitUnread(to count: Int) throws(Errno) {
        try setOption(uncurl_SOL_SOCKET, uncurl_SO_RCVBUF, CInt(clamping: count))
    }

    func setOption(_ level: CInt, _ name: CInt, _ value: CInt) throws(Errno) {
        _ = try callingOnce(.setsockopt) { uncurl_set_int_option(number, level, name, value) }
    }

    /// Nil for an unnamed unix socket.
    public var localAddress: SocketAddress? {
        unsafe SocketAddress(filledBy: {
            unsafe injectedFault(.getsockname) == nil && getsockname(number, $0, &$1) == 0
        })
    }

    /// The other end; nil for one that is not connected, and for an unnamed unix socket.
    public var peerAddress: SocketAddress? {
        unsafe SocketAddress(filledBy: { unsafe getpeername(number, $0, &$1) == 0 })
    }
}
