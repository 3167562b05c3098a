internal import CLinux

/// Accepts connections on a loop.
///
/// Out of descriptors, a listener would spin: the pending connection keeps it readable for ever. It
/// holds one in reserve for that hour: gives it up, accepts, closes the newcomer at once, and takes
/// the reserve back. Where that is not possible, it pauses.
public final class Listener: ReadinessHandler {
    /// Connections accepted a turn; the rest wait for the next, and level triggering brings it.
    private static let acceptsPerTurn = 64
    /// How long newcomers wait when not even the reserve helps. The level stays up all the while, so without
    /// a pause the loop would spin on it.
    private static let pauseLength = Duration.milliseconds(100)

    private let loop: EventLoop
    private let socket: Socket
    private let accept: (consuming Socket) -> Void
    private var token: Token?
    private var reserve: OwnedFD?
    private var timer: TimerID?
    private let name: UnixName?

    /// The address in fact bound, with the port the kernel chose for port 0.
    public let address: SocketAddress
    /// Newcomers turned away for want of a descriptor.
    public private(set) var refused = 0

    /// Binds and listens; `accept` is called on the loop, once a connection. Loop thread only.
    ///
    /// - Parameters:
    ///   - loop: where `accept` is called.
    ///   - address: port 0 for one that is free.
    ///   - backlog: the kernel keeps at most so many connections that were not accepted yet.
    ///   - sharing: several listeners on one port, one a loop (SO_REUSEPORT).
    ///   - unreadLimit: in bytes, what the kernel keeps unread of a connection, as ``Socket/limitUnread(to:)`` says it;
    ///     from its beginning, before it is accepted. Nil: what the system keeps.
    ///   - accepting: false leaves newcomers in the backlog for ever: what a client's connect limit is tested with.
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
            // Wildcard v6 listeners take v4 as well, whatever the system's default.
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
            // The call-back may have closed the listener.
            guard token != nil else { return }
            do throws(Errno) {
                let number = try retryingInterrupts(.accept) { uncurl_accept(self.socket.number, nil, nil) }
                let socket = Socket(taking: number)
                accept(socket)
            } catch .wouldBlock {
                return
            } catch {
                // Others (ECONNABORTED and the like, accept(2)) concern one client, which has gone.
                guard error.isResourceExhaustion else { continue }
                if !turnAwayOne() { pause() }
                return
            }
        }
    }

    /// Stops listening; connections already accepted go on. A unix path is removed. Loop thread only.
    public func close() {
        guard let token = token.take() else { return }
        loop.deregister(token)
        if let timer { loop.cancel(timer) }
        timer = nil
        // Waiting newcomers get an RST now rather than silence until the last reference goes.
        _ = shutdown(socket.number, CInt(SHUT_RDWR))
        removePath()
    }

    private func removePath() {
        if let path = name?.path { _ = unsafe unlink(path) }
    }

    /// False if that was not possible: the reserve is lost, or the system is short of more than our descriptors.
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
            // Still out of memory: later.
            timer = loop.arm(at: loop.now.advanced(by: Listener.pauseLength), self)
        }
    }
}
