internal import Synchronization
internal import UncurlReactor

/// Follows the network for all managers, on one thread. The thread starts with the first listener; the netlink socket
/// is open while there is a listener.
final class NetworkWatch: Sendable {
    /// Opens the netlink socket. Called on the watch's thread.
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

    /// A listener's registration. It lasts until ``remove(_:)``.
    struct Subscription: Sendable {
        fileprivate let number: Int
        let home: LoopBound<Home>
    }

    /// - Parameters:
    ///   - tell: called on the watch's loop: once soon after this call, and after each possible change.
    ///   - failed: called in place of `tell` where the kernel cannot be asked.
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
