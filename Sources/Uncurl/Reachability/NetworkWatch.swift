internal import Synchronization
internal import UncurlReactor

/// Follows the network for all managers, on one thread. The thread starts with the first listener; the netlink socket
/// is open while there is a listener.
final class NetworkWatch: Sendable {
    /// Opens the netlink socket. Called on the watch's thread.
    typealias Opener = @Sendable () throws(Errno) -> NetlinkSocket

    static let shared = NetworkWatch(resolver: Resolver())

    private let state = Mutex<(group: EventLoopGroup?, home: LoopBound<Home>?, next: Int)>((nil, nil, 0))
    let resolver: Resolver
    private let open: Opener
    private let folder: String

    init(
        resolver: Resolver,
        folder: String = LinkMedium.systemFolder,
        open: @escaping Opener = { () throws(Errno) in try NetlinkSocket() }
    ) {
        self.resolver = resolver
        self.folder = folder
        self.open = open
    }

    deinit { resolver.shutdown() }

    /// Adds a listener.
    ///
    /// - Parameters:
    ///   - host: nil for any host outside this machine's networks.
    ///   - tell: called on the watch's loop: once soon after this call, and after each possible change.
    ///   - failed: called in place of `tell` where the kernel cannot be asked.
    /// - Returns: removes the listener.
    func add(
        _ host: String?,
        tell: @escaping @Sendable (ReachabilityStatus) -> Void,
        failed: @escaping @Sendable (Errno) -> Void
    ) throws(Errno) -> @Sendable () -> Void {
        let (number, home) = try state.withLock { state throws(Errno) -> (Int, LoopBound<Home>) in
            state.next += 1
            if let home = state.home { return (state.next, home) }
            let group = try EventLoopGroup(name: "reachability")
            let loop = group.nextLoop()
            let home = LoopBound(Home(on: loop, resolver: resolver, folder: folder, open: open), on: loop)
            (state.group, state.home) = (group, home)
            return (state.next, home)
        }
        home.loop.post { home.value.add(number, host, tell: tell, failed: failed) }
        return { home.loop.post { home.value.remove(number) } }
    }

    /// The state that belongs to the loop.
    final class Home {
        let loop: EventLoop
        let resolver: Resolver
        private let folder: String
        private let open: Opener
        private var targets: [Int: TargetReachability] = [:]
        private var monitor: InterfaceMonitor?

        init(on loop: EventLoop, resolver: Resolver, folder: String, open: @escaping Opener) {
            self.loop = loop
            self.resolver = resolver
            self.folder = folder
            self.open = open
        }

        /// The state of the network; nil until all of it is known, and while there is no listener.
        var state: NetworkState? { monitor?.state }

        func path(to address: IPAddress, answer: @escaping (NetworkPath) -> Void) {
            guard let monitor else { return answer(.none) }
            monitor.path(to: address, answer: answer)
        }

        fileprivate func add(
            _ number: Int,
            _ host: String?,
            tell: @escaping @Sendable (ReachabilityStatus) -> Void,
            failed: @escaping @Sendable (Errno) -> Void
        ) {
            if monitor == nil {
                do throws(Errno) {
                    monitor = try InterfaceMonitor(on: loop, socket: try open(), folder: folder) { [weak self] state in
                        self?.changed(state)
                    }
                } catch {
                    return failed(error)
                }
            }
            let target = TargetReachability(host, self, tell)
            targets[number] = target
            if let state { target.networkChanged(state) }
        }

        fileprivate func remove(_ number: Int) {
            targets.removeValue(forKey: number)?.end()
            guard targets.isEmpty else { return }
            monitor?.close()
            monitor = nil
        }

        private func changed(_ state: NetworkState) {
            for (_, target) in targets.sorted(by: { $0.key < $1.key }) { target.networkChanged(state) }
        }
    }
}

/// Finds out for one manager whether its target can be reached. It runs on the watch's loop.
final class TargetReachability: TimerHandler {
    /// The pause before a failed look-up is tried again. Name servers are often known later than routes.
    static let retryDelay = Duration.seconds(5)

    /// Nil: any host outside this machine's networks.
    private let host: String?
    private unowned let home: NetworkWatch.Home
    private let tell: (ReachabilityStatus) -> Void
    private var isOver = false
    /// The number of the current round; answers to earlier rounds are ignored.
    private var round = 0
    private var lookup: Lookup?
    private var timer: TimerID?

    init(_ host: String?, _ home: NetworkWatch.Home, _ tell: @escaping (ReachabilityStatus) -> Void) {
        self.host = host
        self.home = home
        self.tell = tell
    }

    func end() {
        isOver = true
        begin()
    }

    /// Called when the network has changed, and when it is first known.
    func networkChanged(_ state: NetworkState) {
        begin()
        if let host { resolve(host) } else { finish(state.medium(of: .v4) ?? state.medium(of: .v6)) }
    }

    private func begin() {
        round += 1
        lookup?.cancel()
        lookup = nil
        if let timer { home.loop.cancel(timer) }
        timer = nil
    }

    private func finish(_ medium: LinkMedium?) {
        guard !isOver else { return }
        switch medium {
        case nil: tell(.notReachable)
        case .wired?: tell(.reachable(.wired))
        case .wireless?: tell(.reachable(.wireless))
        case .cellular?: tell(.reachable(.cellular))
        }
    }

    // MARK: One host

    private func resolve(_ host: String) {
        var found: [IPAddress] = []
        let current = round
        do throws(ResolveError) {
            let resolution = try home.resolver.resolve(host, on: home.loop) { [weak self] _, result in
                guard let self, round == current else { return }
                found += (try? result.get()) ?? []
                guard lookup?.pending.isEmpty ?? true else { return }
                lookup = nil
                if found.isEmpty {
                    unresolved()
                } else {
                    ask(found, current)
                }
            }
            switch resolution {
            case .known(let addresses): ask(addresses, current)
            case .pending(let lookup): self.lookup = lookup
            }
        } catch {
            unresolved()
        }
    }

    private func unresolved() {
        finish(nil)
        guard !isOver else { return }
        timer = home.loop.arm(at: home.loop.now.advanced(by: Self.retryDelay), self)
    }

    func timerFired(_ id: TimerID) {
        guard !isOver, let state = home.state else { return }
        timer = nil
        networkChanged(state)
    }

    /// Asks for a route to each address. One reachable address is enough; the first one counts.
    private func ask(_ addresses: [IPAddress], _ current: Int) {
        var media = [LinkMedium?](repeating: nil, count: addresses.count)
        var missing = addresses.count
        for (index, address) in addresses.enumerated() {
            home.path(to: address) { [weak self] path in
                guard let self, round == current else { return }
                media[index] = medium(of: path, to: address)
                missing -= 1
                if missing == 0 { finish(media.compactMap(\.self).first) }
            }
        }
    }

    /// The medium of a route. A route over a link that is down leads nowhere, though the kernel keeps it.
    private func medium(of path: NetworkPath, to address: IPAddress) -> LinkMedium? {
        switch path {
        case .none: return nil
        case .local: return .wired
        case .link(let index):
            guard let link = home.state?.links[index], link.isRunning else { return nil }
            return link.medium
        }
    }
}
