/// Hears the outcome of a ``Connector``: one of the two calls, once, on the loop, and never within a call to the
/// connector.
public protocol ConnectorDelegate: AnyObject {
    /// Hands over the connection. `socket` is registered for reading and the peer's FIN; the delegate hands the
    /// registration over to the connection's owner: `loop.handOver(token, to: connection)`.
    func connector(
        _ connector: Connector,
        didConnect socket: consuming Socket,
        token: Token,
        timings: ConnectTimings
    )

    /// Reports that no address could be connected.
    func connector(_ connector: Connector, didFail error: ConnectError)
}

/// Connects a stream socket to a host, or to the first of several addresses that answers (RFC 8305).
///
/// Only TCP is raced. It has no deadline: its owner has one, and calls ``cancel()``. Loop thread only. It keeps itself
/// and its delegate alive from ``start()`` to the outcome or ``cancel()``.
public final class Connector {
    /// The target of a connection.
    public enum Target: Hashable, Sendable {
        /// Addresses, tried in this order.
        case addresses([SocketAddress])
        /// A name, or a numeric address without brackets.
        case host(String, port: UInt16)
    }

    /// The options of connecting.
    public struct Options: Sendable {
        /// The local address of connections; addresses of other families are then left out. Port 0: any.
        public var localAddress: SocketAddress?
        /// The time between two attempts while none has failed (RFC 8305 §5).
        public var attemptDelay = Duration.milliseconds(250)
        /// How long an answer of one family waits for the preferred one's (§3).
        public var resolutionDelay = Duration.milliseconds(50)
        /// The most attempts. A name may have any number of addresses; sixteen that hang take four seconds to begin.
        public var maximumAttempts = 16
        /// The most attempts at the same time, as in curl. An attempt that hangs holds a descriptor for as long as the
        /// owner waits.
        public var maximumConcurrent = 6
        /// Whether to set TCP_NODELAY.
        public var noDelay = true
        /// Whether to use TCP keep-alive: after 60 s, then every 15 s, four times.
        public var keepAlive = true

        /// Makes options with the properties' initial values.
        public init() {}
    }

    /// How long an address is left alone whose listener has a full backlog. Only unix sockets report that (EAGAIN,
    /// connect(2)); for TCP the kernel itself repeats its SYN.
    private static let backlogDelay = Duration.milliseconds(10)

    /// The loop that the connector lives on.
    public let loop: EventLoop
    /// What it connects to.
    public let target: Target
    private let resolver: Resolver
    private let options: Options
    /// Nil after the outcome, or ``cancel()``.
    private var delegate: (any ConnectorDelegate)?
    private var hasStarted = false
    private var race: ConnectRace
    private var lookup: Lookup?
    private var attempts: [ConnectAttempt] = []
    private var timer: TimerID?
    private var failures: [ConnectError.Attempt] = []
    private var resolution: ResolveError?
    private var lookupStart: Instant?
    private var connectStart: Instant?

    /// Makes a connector that has not begun: ``start()`` begins.
    ///
    /// - Parameters:
    ///   - loop: its thread makes all calls here.
    ///   - resolver: looks the target's name up, if it has one.
    ///   - target: what is connected to: addresses, or a name with a port.
    ///   - options: limits of time, and how the socket is made.
    ///   - delegate: kept until the outcome, or ``cancel()``.
    public init(
        on loop: EventLoop,
        resolver: Resolver,
        to target: Target,
        options: Options = Options(),
        delegate: any ConnectorDelegate
    ) {
        self.loop = loop
        self.resolver = resolver
        self.target = target
        self.options = options
        race = ConnectRace(options)
        self.delegate = delegate
    }

    /// Begins to connect. A second call does nothing.
    public func start() {
        guard !hasStarted, delegate != nil else { return }
        hasStarted = true
        switch target {
        case .addresses(let addresses):
            let fitting = addresses.filter { options.localAddress.map(\.family) ?? $0.family == $0.family }
            race = ConnectRace(options, addresses: fitting)
        case .host(let host, let port):
            resolve(host, port)
        }
        proceed()
    }

    /// Gives up: sockets are closed, a look-up is abandoned, and the delegate gets no more calls. Calling it again, or
    /// after the outcome, does no harm.
    public func cancel() { finish() }

    // MARK: Private

    private var familiesWanted: Set<IPAddress.Family> {
        guard let local = options.localAddress else { return [.v4, .v6] }
        return IPAddress.Family(local.family).map { [$0] } ?? []
    }

    private func resolve(_ host: String, _ port: UInt16) {
        let families = familiesWanted
        let preferred = resolver.winner(of: host, now: loop.now) ?? .v6
        race = ConnectRace(options, preferring: preferred, expecting: families)
        do throws(ResolveError) {
            let result = try resolver.resolve(host, families: families, on: loop) { family, result in
                self.answered(family, result, port)
            }
            switch result {
            case .known(let addresses):
                for family in families {
                    let found = addresses.filter { $0.family == family }
                    race.answered(family, found.map { SocketAddress($0, port: port) }, now: loop.now)
                }
            case .pending(let lookup):
                self.lookup = lookup
                lookupStart = loop.now
            }
        } catch {
            resolution = error
            race.giveUpRest()
        }
    }

    private func answered(
        _ family: IPAddress.Family,
        _ result: Result<[IPAddress], ResolveError>,
        _ port: UInt16
    ) {
        switch result {
        case .success(let addresses):
            race.answered(family, addresses.map { SocketAddress($0, port: port) }, now: loop.now)
        case .failure(let error):
            race.answered(family, [], now: loop.now)
            resolution = resolution?.joined(with: error) ?? error
        }
        proceed()
    }

    private func proceed() {
        guard hasStarted, delegate != nil else { return }
        while true {
            switch race.next(now: loop.now) {
            case .attempt(let address): attempt(address)
            case .wait(let until): return setTimer(until)
            case .lost:
                setTimer(nil)
                // This is never done within ``start()``: the owner may not have stored this connector yet.
                let bound = LoopBound(self, on: loop)
                loop.post { bound.value.reportFailure() }
                return
            }
        }
    }

    private func attempt(_ address: SocketAddress) {
        if connectStart == nil { connectStart = loop.now }
        do throws(Errno) {
            let attempt = try ConnectAttempt(on: loop, to: address, options) { self.attemptDone($0) }
            attempts.append(attempt)
        } catch .wouldBlock where address.family == .unix {
            race.attemptPostponed(address, until: loop.now.advanced(by: Connector.backlogDelay))
        } catch {
            failed(address, error)
        }
    }

    private func attemptDone(_ attempt: ConnectAttempt) {
        guard let delegate else { return }
        attempts.removeAll { $0 === attempt }
        do throws(Errno) {
            try attempt.finish()
            won(attempt, delegate)
        } catch {
            failed(attempt.address, error)
            proceed()
        }
    }

    private func failed(_ address: SocketAddress, _ error: Errno) {
        failures.append(ConnectError.Attempt(address: address, errno: error))
        race.attemptFailed()
        guard error.isResourceExhaustion else { return }
        lookup?.cancel()
        race.giveUpRest()
    }

    private func won(_ attempt: ConnectAttempt, _ delegate: any ConnectorDelegate) {
        guard let token = attempt.token.take(), let socket = attempt.socket.take() else { return }
        remember(attempt.address)
        let timings = ConnectTimings(
            lookupStart: lookupStart,
            lookupEnd: lookupStart == nil ? nil : connectStart,
            connectStart: connectStart ?? loop.now,
            connectEnd: loop.now,
            address: attempt.address,
            attempts: race.attempts
        )
        finish()
        delegate.connector(self, didConnect: socket, token: token, timings: timings)
    }

    private func remember(_ address: SocketAddress) {
        guard case .host(let host, _) = target, IPAddress(host) == nil, let family = IPAddress.Family(address.family)
        else { return }
        resolver.remember(family, for: host, now: loop.now)
    }

    private func reportFailure() {
        guard let delegate else { return }
        finish()
        delegate.connector(self, didFail: ConnectError(attempts: failures, resolution: resolution))
    }

    private func finish() {
        delegate = nil
        setTimer(nil)
        lookup?.cancel()
        lookup = nil
        let losers = attempts
        attempts = []
        for attempt in losers { attempt.close() }
    }

    private func setTimer(_ deadline: Instant?) {
        if let timer { loop.cancel(timer) }
        timer = deadline.map { loop.arm(at: $0, self) }
    }
}

extension Connector: TimerHandler {
    public func timerFired(_ id: TimerID) {
        guard id == timer else { return }
        timer = nil
        proceed()
    }
}

/// The connecting of one socket to one address.
final class ConnectAttempt: ReadinessHandler {
    let address: SocketAddress
    private let loop: EventLoop
    private let isDone: (ConnectAttempt) -> Void
    var socket: Socket?
    var token: Token?

    /// Begins to connect. `isDone` is called in a later turn, once ``finish()`` may be called. That is also so for a
    /// connection that was open at once, so that no delegate is called within its own call.
    init(
        on loop: EventLoop,
        to address: SocketAddress,
        _ options: Connector.Options,
        isDone: @escaping (ConnectAttempt) -> Void
    ) throws(Errno) {
        self.loop = loop
        self.address = address
        self.isDone = isDone
        let socket = try Socket(address.family)
        if address.family != .unix {
            if options.noDelay { socket.disableNagle() }
            if options.keepAlive { socket.enableKeepAlive() }
        }
        if let local = options.localAddress { try socket.bindLocal(local) }
        try socket.connect(to: address)
        token = try loop.register(socket.number, .write, self)
        self.socket = consume socket
    }

    func ready(_ readiness: Readiness) { isDone(self) }

    /// Registers the connection for what the peer may send; or throws the error, with the socket closed.
    func finish() throws(Errno) {
        do throws(Errno) {
            try socket?.finishConnect(to: address)
            if let token { try loop.setInterest(token, [.read, .peerFinish]) }
        } catch {
            close()
            throw error
        }
    }

    func close() {
        if let token = token.take() { loop.deregister(token) }
        socket = nil
    }
}

/// The times of the steps to a connection, by the loop's clock.
public struct ConnectTimings: Hashable, Sendable {
    /// When the look-up began; nil if no name had to be looked up.
    public var lookupStart: Instant?
    /// When there were addresses to begin with, after the wait for the preferred family.
    public var lookupEnd: Instant?
    /// When the first attempt began, which need not be the one that won.
    public var connectStart: Instant
    /// When the winning attempt was connected.
    public var connectEnd: Instant
    /// The address that is connected.
    public var address: SocketAddress
    /// How many attempts were begun, the winner included.
    public var attempts: Int
}

/// The reason why there is no connection: every attempt with its errno, and the result of the look-up.
public struct ConnectError: Error, Hashable, Sendable {
    /// One address that could not be connected to.
    public struct Attempt: Hashable, Sendable {
        /// The address that was tried.
        public let address: SocketAddress
        /// The kernel's error.
        public let errno: Errno

        /// Makes an attempt from its parts.
        public init(address: SocketAddress, errno: Errno) {
            self.address = address
            self.errno = errno
        }
    }

    /// The attempts in the order they failed; empty if there was no address to try.
    public let attempts: [Attempt]
    /// The error of a look-up that found nothing. If there were attempts, it is one family's.
    public let resolution: ResolveError?

    /// Makes an error from its parts.
    public init(attempts: [Attempt], resolution: ResolveError?) {
        self.attempts = attempts
        self.resolution = resolution
    }

    /// The most informative errno; nil if nothing was tried. Shortages of this process or machine come first; errors
    /// that only say that this machine does not support the family come last.
    public var errno: Errno? {
        let all = attempts.map(\.errno)
        return all.first(where: \.isResourceExhaustion) ?? all.first { !$0.isMissingRoute } ?? all.first
    }

    /// Whether this process or machine has run out of descriptors or socket memory: then the peer was not reached.
    public var isResourceExhaustion: Bool {
        if case .system(let error)? = resolution, attempts.isEmpty { return error.isResourceExhaustion }
        return errno?.isResourceExhaustion ?? false
    }

    /// Whether no local port was free for that address (EADDRNOTAVAIL): usually there are too many connections in
    /// TIME_WAIT; or the requested local address is not one of this machine's.
    public var isPortExhaustion: Bool { errno == .addressNotAvailable }
}

extension Errno {
    /// Whether it is an error of a machine that has no such addresses, or no route to them.
    fileprivate var isMissingRoute: Bool {
        switch self {
        case .networkUnreachable, .addressNotAvailable, .familyNotSupported: true
        default: false
        }
    }
}

extension ConnectError: CustomStringConvertible {
    /// For example `127.0.0.1:80: Connection refused (ECONNREFUSED)`.
    public var description: String {
        var parts = attempts.map { "\($0.address): \($0.errno)" }
        if let resolution { parts.append("\(resolution)") }
        return parts.isEmpty ? "no address to connect to" : parts.joined(separator: "; ")
    }
}
