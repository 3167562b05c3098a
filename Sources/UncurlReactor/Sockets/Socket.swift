internal import CUncurlLinux

/// A nonblocking stream socket. Every call translates errno here; none ever raises SIGPIPE.
public struct Socket: ~Copyable {
    private let fd: OwnedFD

    init(taking number: CInt) { fd = OwnedFD(taking: number) }

    /// Takes over a descriptor that ``release()`` gave away, for instance on another loop.
    public init(adopting number: CInt) { fd = OwnedFD(taking: number) }

    /// Gives the descriptor away, open and unregistered; the one that adopts it closes it.
    public consuming func release() -> CInt { fd.release() }

    /// The descriptor, for ``EventLoop/register(_:_:_:)``.
    public var number: CInt { fd.number }

    /// The result of a read.
    public enum Read: Equatable {
        /// That many bytes are at the buffer's start; never 0.
        case bytes(Int)
        /// Nothing has come since the last read.
        case wouldBlock
        /// The peer's FIN. Everything before it has been read.
        case endOfStream
    }

    // MARK: Opening

    /// Makes a new stream socket, which is not connected.
    public init(_ family: SocketAddress.Family) throws(Errno) {
        fd = try opening(.socket) { uncurl_socket(family.domain) }
    }

    /// Begins to connect. EINTR also means in progress: calling again would fail with EALREADY (connect(2)).
    ///
    /// - Returns: whether the connection is open. If not, the socket becomes writable when it is open or has failed.
    @discardableResult
    public func connect(to address: SocketAddress) throws(Errno) -> Bool {
        let fault = injectedFault(.connect)
        if let fault, fault != .interrupted { throw fault }
        let result = unsafe address.withKernelForm { unsafe CUncurlLinux.connect(number, $0, $1) }
        if result == 0 { return true }
        let error = Errno.last
        // A signal interrupts a connect that goes on; the injected fault does the same.
        switch error == .inProgress ? fault ?? error : error {
        case .inProgress, .interrupted: return false
        default: throw error
        }
    }

    /// Ends a connect after the socket became writable. Throws the error, if there is no connection.
    ///
    /// A connect to a free port of the loopback's ephemeral range can connect to itself (simultaneous open with its own
    /// port); there is no server, so that counts as refused.
    public func finishConnect() throws(Errno) {
        if let error = pendingError { throw error }
        if let local = localAddress, local.port != nil, local == peerAddress { throw .connectionRefused }
    }

    /// Does the same, but does not ask for the peer's name if the ports already tell.
    func finishConnect(to address: SocketAddress) throws(Errno) {
        guard let port = address.port, localAddress?.port != port else { return try finishConnect() }
        if let error = pendingError { throw error }
    }

    /// Binds the local end. The port is chosen at the connect, for the whole four-tuple, and not reserved now
    /// (IP_BIND_ADDRESS_NO_PORT): otherwise one source address could make only 28,000 connections in all.
    public func bindLocal(_ address: SocketAddress) throws(Errno) {
        if address.port == 0 { try setOption(uncurl_IPPROTO_IP, uncurl_IP_BIND_ADDRESS_NO_PORT, 1) }
        try bind(address)
    }

    func bind(_ address: SocketAddress) throws(Errno) {
        _ = try callingOnce(.bind) { unsafe address.withKernelForm { unsafe CUncurlLinux.bind(number, $0, $1) } }
    }

    // MARK: Bytes

    /// Makes one `recv` into the loop's buffer. Fewer bytes than its capacity, or than `limit`, mean that the socket is
    /// empty: level-triggered readiness reports anything that comes later.
    public func read(into buffer: ReadBuffer, atMost limit: Int = .max) throws(Errno) -> Read {
        let count = try retryingInterruptsOrBlocking(.receive, on: number) {
            unsafe uncurl_recv(number, buffer.storage.baseAddress, allowance(min(buffer.capacity, limit)))
        }
        guard let count else { return .wouldBlock }
        return count == 0 ? .endOfStream : .bytes(count)
    }

    /// Makes one `send`. Returns how many bytes the kernel took, or nil if it took none for lack of room.
    public func write(_ bytes: Span<UInt8>) throws(Errno) -> Int? {
        try unsafe bytes.withUnsafeBufferPointer { bytes throws(Errno) in
            try retryingInterruptsOrBlocking(.send, on: number) {
                unsafe uncurl_send(number, bytes.baseAddress, allowance(bytes.count))
            }
        }
    }

    /// Makes one `sendmsg` of two pieces, so that a head and a small body are sent in one packet.
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

    /// Makes one `sendfile`, which copies nothing through this process. Returns how many bytes the kernel took, nil if
    /// it took none for lack of room, and 0 if the file ends at or before `offset`.
    public func send(_ file: OpenFile, at offset: UInt64, atMost count: Int) throws(Errno) -> Int? {
        guard let offset = Int64(exactly: offset) else { throw .invalidArgument }
        return try retryingInterruptsOrBlocking(.sendFile, on: number) {
            uncurl_sendfile(number, file.number, offset, allowance(count))
        }
    }

    /// Whether an idle connection can still be used.
    public enum Liveness {
        /// Nothing has come.
        case quiet
        /// Bytes have come that no request has asked for.
        case strayBytes
        /// The peer has closed it, or it has failed.
        case ended
    }

    /// Checks the socket without reading: nothing may have come on a connection that carries no request.
    public func probe() -> Liveness {
        if let fault = injectedFault(.peek) { return fault == .wouldBlock ? .quiet : .ended }
        return switch uncurl_peek(number) {
        case 1: .strayBytes
        case 0: .ended
        default: Errno.last == .wouldBlock ? .quiet : .ended
        }
    }

    /// How many bytes the kernel was given that the peer's kernel has not acknowledged (SIOCOUTQ, tcp(7)), also after
    /// the connection's end; nil if that cannot be told.
    public var unacknowledged: Int? {
        if injectedFault(.getsockopt) != nil { return nil }
        let count = uncurl_unacknowledged(number)
        return count < 0 ? nil : Int(count)
    }

    // MARK: Ending

    /// Sends FIN; reading goes on. Not for requests: many servers take it for an abort.
    public func shutdownWrite() { _ = uncurl_shutdown_write(number) }

    /// Makes the next close send RST: for aborts, and for load tests that must leave no TIME_WAIT.
    public func resetOnClose() { _ = try? callingOnce(.setsockopt) { uncurl_linger_zero(number) } }

    /// The error that EPOLLERR announced, taken from the socket.
    public var pendingError: Errno? {
        if let fault = injectedFault(.getsockopt) { return fault }
        let code = uncurl_socket_error(number)
        return code == 0 ? nil : Errno(code: code)
    }

    // MARK: Options and names

    /// Makes small writes leave at once: Nagle's delay and the peer's delayed ACK together take 40 ms.
    public func disableNagle() { try? setOption(uncurl_SOL_TCP, uncurl_TCP_NODELAY, 1) }

    /// Sends probes after 60 s of silence, every 15 s, four times: a peer that has vanished is noticed in two minutes.
    public func enableKeepAlive() {
        try? setOption(uncurl_SOL_SOCKET, uncurl_SO_KEEPALIVE, 1)
        try? setOption(uncurl_SOL_TCP, uncurl_TCP_KEEPIDLE, 60)
        try? setOption(uncurl_SOL_TCP, uncurl_TCP_KEEPINTVL, 15)
        try? setOption(uncurl_SOL_TCP, uncurl_TCP_KEEPCNT, 4)
    }

    /// Makes the socket readable from `count` bytes on instead of one, if that many are known to come (SO_RCVLOWAT,
    /// socket(7)). The end of the stream, an error and a full window still count at once, and a read still takes what
    /// is there.
    public func wakeReader(for count: Int) throws(Errno) {
        try setOption(uncurl_SOL_SOCKET, uncurl_SO_RCVLOWAT, CInt(clamping: count))
    }

    /// Limits what the kernel takes and has not sent yet (TCP_NOTSENT_LOWAT, linux/tcp.h). Without a limit it takes
    /// megabytes at once, of which a slow peer gets the last one minutes later.
    public func limitUnsent(to count: Int) {
        try? setOption(uncurl_SOL_TCP, uncurl_TCP_NOTSENT_LOWAT, CInt(clamping: count))
    }

    /// Limits what the kernel holds unread, counted with its own overhead: twice `count` (SO_RCVBUF, socket(7)). By
    /// default, Linux lets a reader's share grow to the last value of `net.ipv4.tcp_rmem`, with megabytes that stay
    /// unread.
    public func limitUnread(to count: Int) throws(Errno) {
        try setOption(uncurl_SOL_SOCKET, uncurl_SO_RCVBUF, CInt(clamping: count))
    }

    func setOption(_ level: CInt, _ name: CInt, _ value: CInt) throws(Errno) {
        _ = try callingOnce(.setsockopt) { uncurl_set_int_option(number, level, name, value) }
    }

    /// The local address; nil for an unnamed unix socket.
    public var localAddress: SocketAddress? {
        unsafe SocketAddress(filledBy: {
            unsafe injectedFault(.getsockname) == nil && getsockname(number, $0, &$1) == 0
        })
    }

    /// The peer's address; nil for a socket that is not connected, and for an unnamed unix socket.
    public var peerAddress: SocketAddress? {
        unsafe SocketAddress(filledBy: { unsafe getpeername(number, $0, &$1) == 0 })
    }
}
