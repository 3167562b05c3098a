internal import UncurlReactor

/// Finds out for one manager whether its target can be reached. It runs on the watch's loop.
final class TargetReachability {
    enum Target: Sendable, Hashable {
        /// Any host outside this machine's networks.
        case anyHost
        case host(String)
    }

    /// The pause before a failed look-up is tried again. Name servers are often known later than routes.
    static let retryDelay = Duration.seconds(5)

    private let target: Target
    /// The owner of this object.
    private unowned let home: NetworkWatch.Home
    private let tell: (ReachabilityStatus) -> Void
    private var isOver = false
    /// The number of the current round; answers to earlier rounds are ignored.
    private var round = 0
    private var lookup: Lookup?
    private var timer: TimerID?

    init(_ target: Target, _ home: NetworkWatch.Home, _ tell: @escaping (ReachabilityStatus) -> Void) {
        self.target = target
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
        switch target {
        case .anyHost: finish(state.medium(of: .v4) ?? state.medium(of: .v6))
        case .host(let host): resolve(host)
        }
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
        let retry = Retry { [weak self] in
            guard let self, let state = home.state else { return }
            timer = nil
            networkChanged(state)
        }
        timer = home.loop.arm(at: home.loop.now.advanced(by: Self.retryDelay), retry)
    }

    private final class Retry: TimerHandler {
        private let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
        func timerFired(_ id: TimerID) { body() }
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
