public import Dispatch
internal import Synchronization
public import URLLoading
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics

/// Reports whether there is a network path: to any host outside this machine's networks, or to one host.
///
/// It reads the kernel's links, addresses and routes. A path does not mean that the host answers. Use the status to
/// inform people, or to decide when another attempt is worthwhile, but never to skip an attempt. No part of Uncurl
/// starts a manager or reads its status before a request.
///
/// ```swift
/// let manager = ReachabilityManager()
/// let observation = manager.observe { status in print(status.localizedDescription) }
/// try manager.start()
/// ```
///
/// Any host counts as reachable while the machine has a default route of either family over a link that is up, and an
/// address to which other hosts can send answers. One host counts as reachable if the kernel has a route to one of its
/// addresses. Its name is looked up again when the network changes.
///
/// Observers receive each status once, in order. Between two calls of ``start()`` they never receive the same status
/// twice in a row. Every member may be used on any thread.
public final class ReachabilityManager: Sendable {
    /// AFNetworkingReachabilityDidChangeNotification. Its object is the manager.
    public static let didChangeNotification = Notification.Name("com.alamofire.networking.reachability.change")
    /// AFNetworkingReachabilityNotificationStatusItem. The value is the status's ``ReachabilityStatus/rawValue``.
    public static let statusNumberKey = "AFNetworkingReachabilityNotificationStatusItem"
    /// The key of the ``ReachabilityStatus``.
    public static let statusKey = "uncurl.reachability.status"

    /// A manager for any host. The program must start it.
    public static let shared = ReachabilityManager()

    private struct State {
        /// The status that the watch found last.
        var found: ReachabilityStatus?
        /// The status that observers received last; it follows `found`.
        var told = ReachabilityStatus.unknown
        /// Whether a status was reported since the last start.
        var hasTold = false
        /// The number of starts and stops. A result from before the last one is dropped.
        var generation = 0
        /// Ends the subscription to the watch.
        var unsubscribe: (@Sendable () -> Void)?
        /// The observations that are not released.
        var observers: [Int: @Sendable () -> ReachabilityObservation?] = [:]
        var nextObserver = 0
        var failure: ReachabilityError?
    }

    private let state = Mutex(State())
    private let host: String?
    private let watch: NetworkWatch
    private let queue: DispatchQueue
    private let center: NotificationCenter

    /// Observes any host outside this machine's networks.
    ///
    /// - Parameters:
    ///   - queue: the queue of observers and notifications; nil for a serial queue of the manager's own. It must be
    ///     serial, because it keeps the order.
    ///   - center: where notifications are posted.
    public convenience init(queue: DispatchQueue? = nil, center: NotificationCenter = .default) {
        self.init(nil, watch: .shared, queue: queue, center: center)
    }

    /// Observes one host.
    ///
    /// - Parameters:
    ///   - host: a name or an address, as in a URL.
    ///   - queue: the serial queue of observers and notifications; nil for a queue of the manager's own.
    ///   - center: where notifications are posted.
    /// - Throws: ``ReachabilityError`` for what is neither a name nor an address: a URL, a host with a port, an empty
    ///   text.
    public convenience init(
        host: String,
        queue: DispatchQueue? = nil,
        center: NotificationCenter = .default
    ) throws(ReachabilityError) {
        guard (try? URLHost(host)) != nil else { throw ReachabilityError(noHost: host) }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = isBracketed ? String(host.dropFirst().dropLast()) : host
        self.init(bare, watch: .shared, queue: queue, center: center)
    }

    /// - Parameter host: nil for any host.
    init(_ host: String?, watch: NetworkWatch, queue: DispatchQueue?, center: NotificationCenter) {
        self.host = host
        self.watch = watch
        self.queue = queue ?? DispatchQueue(label: "uncurl.reachability")
        self.center = center
    }

    deinit {
        stop()
        endObservations()
    }

    // MARK: What is known

    /// The last reported status; ``ReachabilityStatus/unknown`` before the first.
    public var status: ReachabilityStatus { state.withLock { $0.told } }

    /// Whether the status says that there is a path. False before ``start()``.
    public var isReachable: Bool { status.isReachable }

    /// Why no status is reported after ``start()``: the kernel's network state cannot be read here. Nil where it can.
    public var failure: ReachabilityError? { state.withLock { $0.failure } }

    // MARK: Starting and stopping

    /// Begins to report: first the current status, even if it was reported before, then each change. A second call
    /// starts over.
    ///
    /// - Throws: ``ReachabilityError`` where the system provides no thread.
    public func start() throws(ReachabilityError) {
        let generation = end()
        let unsubscribe: @Sendable () -> Void
        do throws(Errno) {
            unsubscribe = try watch.add(host) { [weak self] status in
                self?.found(status, generation)
            } failed: { [weak self] error in
                self?.failed(error, generation)
            }
        } catch {
            throw ReachabilityError(error)
        }
        let isCurrent = state.withLock { state in
            guard state.generation == generation else { return false }
            state.unsubscribe = unsubscribe
            return true
        }
        if !isCurrent { unsubscribe() }
    }

    /// Stops reporting until the next start, and drops statuses that wait to be reported. A call that begins at this
    /// moment may still happen; an observation's `cancel()` prevents that too. ``status`` keeps its value.
    public func stop() { _ = end() }

    private func end() -> Int {
        let (unsubscribe, generation) = state.withLock { state in
            state.generation += 1
            state.found = nil
            state.hasTold = false
            state.failure = nil
            return (state.unsubscribe.take(), state.generation)
        }
        unsubscribe?()
        return generation
    }

    // MARK: Observing

    /// Calls `body` with the current status, if one was reported since the last start, and then with each later one,
    /// on the manager's queue, before its notification is posted.
    ///
    /// - Returns: the observation. It ends when it is released or cancelled.
    public func observe(_ body: @escaping @Sendable (ReachabilityStatus) -> Void) -> ReachabilityObservation {
        let observation = ReachabilityObservation(body)
        queue.async { [weak self, weak observation] in
            if let self, let observation { add(observation) }
        }
        return observation
    }

    /// The number of observations that have been added and not been released.
    var observations: Int { state.withLock { $0.observers.values.count { $0() != nil } } }

    /// Called on the queue, where no status is being reported: the next one follows the current one.
    private func add(_ observation: ReachabilityObservation) {
        let current = state.withLock { state in
            state.observers = state.observers.filter { $0.value() != nil }
            state.nextObserver += 1
            state.observers[state.nextObserver] = { [weak observation] in observation }
            return state.hasTold ? state.told : nil
        }
        if let current { observation.tell(current) }
        // A failure before was told to those that observed already.
        if failure != nil { observation.ended() }
    }

    /// The current status, if one was reported since the last start, and then each later one. The stream ends when its
    /// reader's task is cancelled, when the manager is released, and where the network cannot be read: see ``failure``.
    public var statuses: AsyncStream<ReachabilityStatus> {
        AsyncStream { continuation in
            let observation = ReachabilityObservation {
                continuation.yield($0)
            } ended: {
                continuation.finish()
            }
            // A stream that has already ended would keep the handler, and the handler the observation.
            continuation.onTermination = { _ in observation.cancel() }
            queue.async { [self] in add(observation) }
        }
    }

    /// Returns when there is a network path; at once if there is one. A manager that was not started is started.
    ///
    /// - Throws: `CancellationError` where the caller's task is cancelled, and ``ReachabilityError`` where the network
    ///   cannot be read.
    public func waitUntilReachable() async throws {
        if state.withLock({ $0.unsubscribe == nil }) { try start() }
        for await status in statuses where status.isReachable { return }
        if let failure { throw failure }
        throw CancellationError()
    }

    // MARK: Telling

    /// Called on the watch's loop, so in the order of events.
    private func found(_ status: ReachabilityStatus, _ generation: Int) {
        let isNew = state.withLock { state in
            guard state.generation == generation, state.found != status else { return false }
            state.found = status
            return true
        }
        if isNew { queue.async { [weak self] in self?.tell(status, generation) } }
    }

    private func failed(_ error: Errno, _ generation: Int) {
        let isCurrent = state.withLock { state in
            guard state.generation == generation else { return false }
            state.failure = ReachabilityError(error)
            return true
        }
        guard isCurrent else { return }
        queue.async { [weak self] in self?.endObservations() }
    }

    private func endObservations() {
        for observation in state.withLock({ $0.observers.values.compactMap { $0() } }) { observation.ended() }
    }

    private func tell(_ status: ReachabilityStatus, _ generation: Int) {
        let observers = state.withLock { state -> [@Sendable () -> ReachabilityObservation?]? in
            guard state.generation == generation else { return nil }
            state.told = status
            state.hasTold = true
            return state.observers.sorted { $0.key < $1.key }.map(\.value)
        }
        guard let observers else { return }
        // An observer may release another, which is then not called.
        for observer in observers where isCurrent(generation) { observer()?.tell(status) }
        guard isCurrent(generation) else { return }
        center.post(
            name: Self.didChangeNotification,
            object: self,
            userInfo: [Self.statusNumberKey: status.rawValue, Self.statusKey: status]
        )
    }

    private func isCurrent(_ generation: Int) -> Bool { state.withLock { $0.generation == generation } }
}

/// Why the network, or a host, cannot be observed.
public struct ReachabilityError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public var errorDescription: String? { description }

    init(_ error: Errno) { description = "the network cannot be followed: \(error)" }

    init(noHost text: String) { description = "\(text.debugDescription) is neither a name nor an address of a host" }
}
