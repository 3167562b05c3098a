internal import CUncurlLinux

/// Accepts connections on a loop.
///
/// Without free descriptors, a listener would spin: the pending connection keeps it readable for ever. So it holds one
/// descriptor in reserve: it releases that, accepts, closes the new connection at once, and takes the reserve back. If
/// that is not possible, it pauses.
public final class Listener: ReadinessHandler {
    /// How many connections are accepted in a turn; the rest wait for the next, which level triggering causes.
    private static let acceptsPerTurn = 64
    /// How long new connections wait when not even the reserve helps. The socket stays readable meanwhile, so without a
    /// pause the loop would spin.
    private static let pauseLength = Duration.milliseconds(100)

    private let loop: EventLoop
    private let socket: Socket
    private let accept: (consuming Socket) -> Void
    private var token: Token?
    private var reserve: OwnedFD?
    private var timer: TimerID?
    private let name: UnixName?

    /// The address that was bound, with the port that the kernel chose for port 0.
    public let address: SocketAddress
    /// How many connections were refused for want of a descriptor.
    public private(set) var refused = 0

    /// Binds and listens. `accept` is called on the loop, once for each connection. Loop thread only.
    ///
    /// - Parameters:
    ///   - loop: the loop on which `accept` is called.
    ///   - address: port 0 for a free one.
    ///   - backlog: how many connections the kernel keeps that were not accepted yet.
    ///   - sharing: whether several listeners share one port, one for each loop (SO_REUSEPORT).
    ///   - unreadLimit: how many bytes of a connection the kernel keeps unread, as in ``Socket/limitUnread(to:)``, from
    ///     its beginning, before it is accepted. Nil: the system's default.
    ///   - accepting: false leaves connections in the backlog for ever, to test a client's limit on connecting.
    ///   - accept: gets each new connection.
    public init(
        on loop: EventLoop,
        at address: SocketAddress,
        backlog: Int32 = 4096,
        sharing: Bool = false,
        unreadLimit: Int? = nil,
        accepting: Bool = true,
        accept: @escaping (consuming Socket) -> Void
    ) throws(Errno) {
        self.loop = loop
        self.accept = accept
        socket = try Socket(address.family)
        switch address {
        case .v4, .v6:
            try socket.setOption(uncurl_SOL_SOCKET, uncurl_SO_REUSEADDR, 1)
            if sharing { try socket.setOption(uncurl_SOL_SOCKET, uncurl_SO_REUSEPORT, 1) }
            // Listeners on the IPv6 wildcard accept IPv4 as well, whatever the system's default.
            if case .v6 = address { try socket.setOption(uncurl_IPPROTO_IPV6, uncurl_IPV6_V6ONLY, 0) }
            name = nil
        case .unix(let name):
            self.name = name
        }
        if let unreadLimit { try socket.limitUnread(to: unreadLimit) }
        try socket.bind(address)
        let number = socket.number
        self.address = socket.localAddress ?? address
        reserve = Listener.openReserve()
        do throws(Errno) {
            _ = try callingOnce(.listen) { listen(number, backlog) }
            token = try loop.register(number, accepting ? .read : [], self)
        } catch {
            removePath()
            throw error
        }
    }

    public func ready(_ readiness: Readiness) {
        for _ in 0..<Listener.acceptsPerTurn {
            // The call may have closed the listener.
            guard token != nil else { return }
            do throws(Errno) {
                let number = try retryingInterrupts(.accept) { uncurl_accept(self.socket.number, nil, nil) }
                let socket = Socket(taking: number)
                guard DescriptorLimit.hasPlace(for: number) else {
                    refused += 1
                    return
                }
                accept(socket)
            } catch .wouldBlock {
                return
            } catch {
                // Other errors (ECONNABORTED and the like, accept(2)) concern one client, which is gone.
                guard error.isResourceExhaustion else { continue }
                if !turnAwayOne() { pause() }
                return
            }
        }
    }

    /// Stops listening. Accepted connections go on. A unix path is removed. Loop thread only.
    public func close() {
        guard let token = token.take() else { return }
        loop.deregister(token)
        if let timer { loop.cancel(timer) }
        timer = nil
        // Waiting connections get an RST now; otherwise they would get nothing until the last reference is released.
        _ = shutdown(socket.number, CInt(SHUT_RDWR))
        removePath()
    }

    private func removePath() {
        if let path = name?.path { _ = unsafe unlink(path) }
    }

    /// Refuses one connection. Returns false if that failed: the reserve is lost, or the system lacks more than this
    /// process's descriptors.
    private func turnAwayOne() -> Bool {
        guard reserve != nil else { return false }
        reserve = nil
        let newcomer = uncurl_accept(socket.number, nil, nil)
        if newcomer >= 0 {
            _ = OwnedFD(taking: newcomer)
            refused += 1
        }
        reserve = Listener.openReserve()
        return newcomer >= 0
    }

    private func pause() {
        guard let token, timer == nil else { return }
        try? loop.setInterest(token, [])
        timer = loop.arm(at: loop.now.advanced(by: Listener.pauseLength), self)
    }

    private static func openReserve() -> OwnedFD? {
        let number = unsafe uncurl_open_read("/dev/null")
        return number >= 0 ? OwnedFD(taking: number) : nil
    }
}

extension Listener: TimerHandler {
    public func timerFired(_ id: TimerID) {
        timer = nil
        guard let token else { return }
        if reserve == nil { reserve = Listener.openReserve() }
        do throws(Errno) {
            try loop.setInterest(token, .read)
        } catch {
            // There is still no memory: try later.
            timer = loop.arm(at: loop.now.advanced(by: Listener.pauseLength), self)
        }
    }
}
