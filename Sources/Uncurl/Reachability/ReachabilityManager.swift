public import Dispatch
internal import Reactor
internal import Synchronization
public import URLLoading

/// Reports whether there is a network path: to any host outside this machine's networks, or to one host.
///
/// It reads the kernel's links, addresses and routes. A path does not mean that the host answers. So use the status to
/// inform people, and to decide when another attempt is worth it; never use it to skip an attempt. No part of Uncurl
/// starts a manager or asks one before a request.
///
/// ```swift
/// let manager = ReachabilityManager()
/// let observation = manager.observe { status in print(status.localizedDescription) }
/// try manager.start()
/// ```
///
/// Any host counts as reachable while there is a default route of either family over a link that runs, and an address
/// that answers can come to. A host can be reached if the kernel has a route to one of its addresses; its name is
/// looked up again when the network changes.
///
/// Observers hear each status once, in order, and never the same one twice in a row. Every member may be used on any
/// thread.
public final class ReachabilityManager: Sendable {
    /// AFNetworkingReachabilityDidChangeNotification. Its object is the manager.
    public static let didChangeNotification = Notification.Name("com.alamofire.networking.reachability.change")
    /// AFNetworkingReachabilityNotificationStatusItem: the status's ``ReachabilityStatus/rawValue``.
    public static let statusNumberKey = "AFNetworkingReachabilityNotificationStatusItem"
    /// The ``ReachabilityStatus``.
    public static let statusKey = "uncurl.reachability.status"

    /// For any host. The program starts it.
    public static let shared = ReachabilityManager()

    private struct State {
        /// The status that was found last.
        var found: ReachabilityStatus?
        /// The status that was reported last, which is later.
        var told = ReachabilityStatus.unknown
        /// Whether that was told since the last start.
        var hasTold = false
        /// Starts and stops so far: what was found out before the last one is not told.
        var generation = 0
        var subscription: NetworkWatch.Subscription?
        var observers: [Int: WeakObservation] = [:]
        var nextObserver = 0
        var failure: ReachabilityError?
    }

    private struct WeakObservation {
        weak var observation: ReachabilityObservation?
    }

    private let state = Mutex(State())
    private let target: TargetReachability.Target
    private let watch: NetworkWatch
    private let queue: DispatchQueue
    private let center: NotificationCenter

    /// For any host outside this machine's networks.
    ///
    /// - Parameters:
    ///   - queue: where observers are called and notifications posted; a serial one of the manager's own unless given.
    ///     It must be serial, as it keeps the order.
    ///   - center: where notifications are posted.
    public convenience init(queue: DispatchQueue? = nil, center: NotificationCenter = .default) {
        self.init(.anyHost, watch: .shared, queue: queue, center: center)
    }

    /// For one host.
    ///
    /// - Parameters:
    ///   - host: a name or an address, as in a URL.
    ///   - queue: where observers are called and notifications posted; a serial one of the manager's own unless given.
    ///   - center: where notifications are posted.
    public convenience init(host: String, queue: DispatchQueue? = nil, center: NotificationCenter = .default) {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = isBracketed ? String(host.dropFirst().dropLast()) : host
        self.init(.host(bare), watch: .shared, queue: queue, center: center)
    }

    init(_ target: TargetReachability.Target, watch: NetworkWatch, queue: DispatchQueue?, center: NotificationCenter) {
        self.target = target
        self.watch = watch
        self.queue = queue ?? DispatchQueue(label: "uncurl.reachability")
        self.center = center
    }

    deinit {
        stop()
        for observation in state.withLock({ $0.observers.values.compactMap(\.observation) }) { observation.ended() }
    }

    // MARK: What is known

    /// The status that was reported last; ``ReachabilityStatus/unknown`` before the first.
    public var status: ReachabilityStatus { state.withLock { $0.told } }

    /// Whether the status says that there is a way. False before ``start()``.
    public var isReachable: Bool { status.isReachable }

    /// Why no status is reported although ``start()`` was called: the kernel cannot be asked here. Nil if there is no
    /// such failure.
    public var failure: ReachabilityError? { state.withLock { $0.failure } }

    // MARK: Starting and stopping

    /// Begins to report: soon the current status, even if it was reported before, and then each change. A second start
    /// begins anew.
    ///
    /// - Throws: where the system has no thread for following the network.
    public func start() throws(ReachabilityError) {
        let generation = end()
        let subscription: NetworkWatch.Subscription
        do throws(Errno) {
            subscription = try watch.add(target) { [weak self] status in
                self?.found(status, generation)
            } failed: { [weak self] error in
                self?.failed(error, generation)
            }
        } catch {
            throw ReachabilityError(error)
        }
        let isCurrent = state.withLock { state in
            guard state.generation == generation else { return false }
            state.subscription = subscription
            return true
        }
        if !isCurrent { watch.remove(subscription) }
    }

    /// Stops reporting until the next start, and drops what waits to be reported. A call that begins at this moment may
    /// still happen; an observation's `cancel()` prevents that too. ``status`` keeps its value.
    public func stop() { _ = end() }

    private func end() -> Int {
        let (subscription, generation) = state.withLock { state in
            state.generation += 1
            state.found = nil
            state.hasTold = false
            state.failure = nil
            return (state.subscription.take(), state.generation)
        }
        if let subscription { watch.remove(subscription) }
        return generation
    }

    // MARK: Observing

    /// Calls `body` with each status, on the manager's queue, before the notification of it is posted.
    ///
    /// - Returns: what keeps the observer. Releasing or cancelling it ends the observation.
    public func observe(_ body: @escaping @Sendable (ReachabilityStatus) -> Void) -> ReachabilityObservation {
        let observation = ReachabilityObservation(body)
        add(observation)
        return observation
    }

    private func add(_ observation: ReachabilityObservation) {
        state.withLock { state in
            state.observers = state.observers.filter { $0.value.observation != nil }
            state.nextObserver += 1
            state.observers[state.nextObserver] = WeakObservation(observation: observation)
        }
    }

    /// The current status, if one was reported since the last start, and then each later one. The stream ends with its
    /// reader's task, and with the manager.
    public var statuses: AsyncStream<ReachabilityStatus> {
        AsyncStream { continuation in
            // On the queue nothing is being told meanwhile: what comes next is what follows.
            queue.async { [self] in
                if let current = state.withLock({ $0.hasTold ? $0.told : nil }) { continuation.yield(current) }
                let observation = ReachabilityObservation {
                    continuation.yield($0)
                } ended: {
                    continuation.finish()
                }
                add(observation)
                continuation.onTermination = { _ in observation.cancel() }
            }
        }
    }

    /// Returns once there is a network path, at once if there is one. The manager must have been started.
    public func waitUntilReachable() async throws(CancellationError) {
        for await status in statuses where status.isReachable { return }
        throw CancellationError()
    }

    // MARK: Telling

    /// On the watch's loop, so in the order in which it happened.
    private func found(_ status: ReachabilityStatus, _ generation: Int) {
        let isNew = state.withLock { state in
            guard state.generation == generation, state.found != status else { return false }
            state.found = status
            return true
        }
        if isNew { queue.async { [weak self] in self?.tell(status, generation) } }
    }

    private func failed(_ error: Errno, _ generation: Int) {
        state.withLock { state in
            if state.generation == generation { state.failure = ReachabilityError(error) }
        }
    }

    private func tell(_ status: ReachabilityStatus, _ generation: Int) {
        let observers = state.withLock { state -> [ReachabilityObservation]? in
            guard state.generation == generation else { return nil }
            state.told = status
            state.hasTold = true
            return state.observers.sorted { $0.key < $1.key }.compactMap(\.value.observation)
        }
        guard let observers else { return }
        for observer in observers where isCurrent(generation) { observer.tell(status) }
        guard isCurrent(generation) else { return }
        center.post(
            name: Self.didChangeNotification,
            object: self,
            userInfo: [Self.statusNumberKey: status.rawValue, Self.statusKey: status]
        )
    }

    private func isCurrent(_ generation: Int) -> Bool { state.withLock { $0.generation == generation } }
}

/// The network cannot be followed.
public struct ReachabilityError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public var errorDescription: String? { description }

    init(_ error: Errno) { description = "the network cannot be followed: \(error)" }
}
