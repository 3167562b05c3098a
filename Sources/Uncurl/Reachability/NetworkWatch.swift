internal import Reactor
internal import Synchronization

/// Follows the network for all managers, on a thread of its own. The thread starts with the first listener; the
/// kernel's socket is open while there is one.
final class NetworkWatch: Sendable {
    /// Opens the kernel's socket; on the watch's thread.
    typealias Opener = @Sendable () throws(Errno) -> NetlinkSocket

    static let shared = NetworkWatch(resolver: Resolver())

    private struct State {
        var group: EventLoopGroup?
        var home: LoopBound<Home>?
        var next = 0
    }

    private let state = Mutex(State())
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

    /// A listener, until it is given to ``remove(_:)``.
    struct Subscription: Sendable {
        fileprivate let number: Int
        let home: LoopBound<Home>
    }

    /// - Parameters:
    ///   - tell: on the watch's loop: soon, and with each change, or what may be one.
    ///   - failed: the kernel tells nothing; in place of `tell`.
    func add(
        _ target: TargetReachability.Target,
        tell: @escaping @Sendable (ReachabilityStatus) -> Void,
        failed: @escaping @Sendable (Errno) -> Void
    ) throws(Errno) -> Subscription {
        let subscription = try state.withLock { state in
            Result { () throws(Errno) in
                let home: LoopBound<Home>
                if let known = state.home {
                    home = known
                } else {
                    let group = try EventLoopGroup(name: "reachability")
                    state.group = group
                    let loop = group.nextLoop()
                    home = LoopBound(Home(on: loop, resolver: resolver, folder: folder, open: open), on: loop)
                    state.home = home
                }
                state.next += 1
                return Subscription(number: state.next, home: home)
            }
        }.get()
        subscription.home.loop.post { [number = subscription.number, home = subscription.home] in
            home.value.add(number, target, tell: tell, failed: failed)
        }
        return subscription
    }

    func remove(_ subscription: Subscription) {
        subscription.home.loop.post { subscription.home.value.remove(subscription.number) }
    }

    /// The part on the loop.
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

        /// Nil until everything is known, and while there is no listener.
        var state: NetworkState? { monitor?.state }

        func path(to address: IPAddress, answer: @escaping (NetworkPath) -> Void) {
            guard let monitor else { return answer(.none) }
            monitor.path(to: address, answer: answer)
        }

        fileprivate func add(
            _ number: Int,
            _ target: TargetReachability.Target,
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
            let target = TargetReachability(target, self, tell)
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
