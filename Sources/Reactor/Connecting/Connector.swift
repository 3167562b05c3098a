/// Hears what a ``Connector`` came to: one of the two, once, on the loop, never from within a call to the connector.
public protocol ConnectorDelegate: AnyObject {
    /// `socket` comes registered for reading and the peer's FIN; the delegate hands the registration over to
    /// the connection's owner: `loop.handOver(token, to: connection)`.
    func connector(
        _ connector: Connector,
        didConnect socket: consuming Socket,
        token: Token,
        timings: ConnectTimings
    )

    /// No address could be connected to.
    func connector(_ connector: Connector, didFail error: ConnectError)
}

/// Connects a stream socket to a host, or to the first of several addresses that answers (RFC 8305).
///
/// Only TCP is raced. It has no deadline of its own: its owner has one, and calls ``cancel()``. Loop thread only.
/// It keeps itself alive, and its delegate, from ``start()`` to the outcome or ``cancel()``.
public final class Connector {
    /// What to connect to.
    public enum Target: Hashable, Sendable {
        /// Tried in this order.
        case addresses([SocketAddress])
        /// A name, or a numeric address without brackets.
        case host(String, port: UInt16)
    }

    /// How to connect.
    public struct Options: Sendable {
        /// Where connections come from; addresses of other families are then left out. Port 0: any.
        public var localAddress: SocketAddress?
        /// Between one attempt and the next while none has failed (RFC 8305 §5).
        public var attemptDelay = Duration.milliseconds(250)
        /// How long an answer of one family waits for the preferred one's (§3).
        public var resolutionDelay = Duration.milliseconds(50)
        /// A name may have any number of addresses; sixteen that hang take four seconds to begin.
        public var maximumAttempts = 16
        /// curl's number. An attempt that hangs holds a descriptor for as long as the owner waits.
        public var maximumConcurrent = 6
        /// TCP_NODELAY.
        public var noDelay = true
        /// TCP keep-alive: 60 s, then every 15 s, four times.
        public var keepAlive = true

        /// The values that the properties begin with.
        public init() {}
    }

    private enum State {
        case fresh(any ConnectorDelegate)
        case running(any ConnectorDelegate)
        case finished
    }

    /// How long an address whose listener has a full backlog is left alone. Only unix sockets say so
    /// (EAGAIN, connect(2)); for TCP the kernel repeats its SYN by itself.
    private static let backlogDelay = Duration.milliseconds(10)

    /// The loop it lives on.
    public let loop: EventLoop
    /// What it connects to.
    public let target: Target
    private let resolver: Resolver
    private let options: Options
    private var state: State
    private var race = ConnectRace(rules: ConnectRace.Rules())
    private var lookup: Lookup?
    private var attempts: [ConnectAttempt] = []
    private var timer: TimerID?
    private var failures: [ConnectError.Attempt] = []
    private var resolution: ResolveError?
    private var lookupStart: Instant?
    private var connectStart: Instant?

    /// A connector that has not begun: ``start()`` begins.
    ///
    /// - Parameters:
    /// - loop: its thread calls everything here.
    /// - resolver: looks the target's name up, where it has one.
    /// - delegate: held until the outcome, or ``cancel()``.
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
        state = .fresh(delegate)
    }

    /// Begins; a second call does nothing.
    public func start() {
        guard case .fresh(let delegate) = state else { return }
        state = .running(delegate)
        switch target {
        case .addresses(let addresses):
            let fitting = addresses.filter { options.localAddress.map(\.family) ?? $0.family == $0.family }
            race = ConnectRace(rules: rules(preferring: .v6), addresses: fitting)
        case .host(let host, let port):
            resolve(host, port)
        }
        proceed()
    }

    /// Gives up: sockets are closed, a look-up is left to itself, the delegate hears nothing more. More than
    /// once, or after the outcome, does no harm.
    public func cancel() { finish() }

    // MARK: Private

    private var familiesWanted: Set<IPAddress.Family> {
        switch options.localAddress?.family {
        case nil: [.v4, .v6]
        case .v4: [.v4]
        case .v6: [.v6]
        case .unix: []
        }
    }

    private func rules(preferring family: IPAddress.Family) -> ConnectRace.Rules {
        ConnectRace.Rules(
            preferred: family,
            resolutionDelay: options.resolutionDelay,
            attemptDelay: options.attemptDelay,
            maximumAttempts: options.maximumAttempts,
            maximumConcurrent: options.maximumConcurrent
        )
    }

    private func resolve(_ host: String, _ port: UInt16) {
        let families = familiesWanted
        let preferred = resolver.familyMemory.winner(of: host, now: loop.now) ?? .v6
        race = ConnectRace(rules: rules(preferring: preferred), expecting: families)
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
            // "No such host" of one family and a dead server for the other: the latter may change, so it counts.
            if resolution == nil || resolution == .noAddress || resolution == .noSuchHost { resolution = error }
        }
        proceed()
    }

    private func proceed() {
        guard case .running = state else { return }
        while true {
            switch race.next(now: loop.now) {
            case .attempt(let address): attempt(address)
            case .wait(let until): return setTimer(until)
            case .lost:
                setTimer(nil)
                // Never from within ``start()``: the owner may not even have stored this connector.
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
        guard case .running(let delegate) = state else { return }
        attempts.removeAll { $0 === attempt }
        do throws(Errno) {
            let connected = try attempt.outcome()
            won(connected, attempt.address, delegate)
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

    private func won(_ connected: consuming Connected, _ address: SocketAddress, _ delegate: any ConnectorDelegate) {
        remember(address)
        let timings = ConnectTimings(
            lookupStart: lookupStart,
            lookupEnd: lookupStart == nil ? nil : connectStart,
            connectStart: connectStart ?? loop.now,
            connectEnd: loop.now,
            address: address,
            attempts: race.attempts
        )
        finish()
        let token = connected.token
        delegate.connector(self, didConnect: connected.intoSocket(), token: token, timings: timings)
    }

    private func remember(_ address: SocketAddress) {
        guard case .host(let host, _) = target, IPAddress(host) == nil else { return }
        switch address.family {
        case .v4: resolver.familyMemory.remember(.v4, for: host, now: loop.now)
        case .v6: resolver.familyMemory.remember(.v6, for: host, now: loop.now)
        case .unix: break
        }
    }

    private func reportFailure() {
        guard case .running(let delegate) = state else { return }
        finish()
        delegate.connector(self, didFail: ConnectError(attempts: failures, resolution: resolution))
    }

    private func finish() {
        state = .finished
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
