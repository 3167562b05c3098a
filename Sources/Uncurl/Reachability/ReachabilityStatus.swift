internal import UncurlLibC
internal import UncurlReactor

/// Whether there is a network path to a host, or to any host.
@frozen public enum ReachabilityStatus: Hashable, Sendable {
    /// The manager has not started, or has no result yet.
    case unknown
    /// There is no path.
    case notReachable
    /// There is a path, through this medium.
    case reachable(ConnectionMedium)

    /// The medium that the path begins with.
    @frozen public enum ConnectionMedium: Hashable, Sendable, CaseIterable {
        /// A cable, or any medium that is neither of the others: the machine itself, bridges, tunnels.
        case wired
        /// A wireless network that is not cellular.
        case wireless
        /// A cellular network.
        case cellular
    }

    /// Whether there is a path, through any medium.
    public var isReachable: Bool {
        if case .reachable = self { true } else { false }
    }

    /// Whether the path begins with a cellular network.
    public var isReachableOverCellular: Bool { self == .reachable(.cellular) }
    /// Whether the path begins with a cable.
    public var isReachableOverWired: Bool { self == .reachable(.wired) }
    /// Whether the path begins with a wireless network that is not cellular.
    public var isReachableOverWireless: Bool { self == .reachable(.wireless) }

    /// AFNetworkReachabilityStatus's number: −1 unknown, 0 not reachable, 1 by cellular, 2 by anything else.
    public var rawValue: Int {
        switch self {
        case .unknown: -1
        case .notReachable: 0
        case .reachable(.cellular): 1
        case .reachable(.wired), .reachable(.wireless): 2
        }
    }

    /// The status as a description for people.
    public var localizedDescription: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachable(.wired): "Reachable via Ethernet"
        case .reachable(.wireless): "Reachable via WiFi"
        case .reachable(.cellular): "Reachable via WWAN"
        }
    }
}

/// An observer of a ``ReachabilityManager``. It observes until it is released or cancelled.
public final class ReachabilityObservation: Sendable {
    /// The thread on which the observer is being called, 0 for none; and whether no call follows.
    private let state = Monitor((thread: UInt(0), isCancelled: false))
    private let body: @Sendable (ReachabilityStatus) -> Void

    /// Called when the manager is released: no status follows.
    let ended: @Sendable () -> Void

    init(_ body: @escaping @Sendable (ReachabilityStatus) -> Void, ended: @escaping @Sendable () -> Void = {}) {
        self.body = body
        self.ended = ended
    }

    /// Ends the observation. After this returns, no call begins, and none is under way on another thread. The observer
    /// itself may call it.
    ///
    /// It waits for a call that is under way on another thread, so the caller must not hold a lock that the observer
    /// waits for.
    public func cancel() {
        let own = Self.thread
        let mustWait = state.withLock { state in
            state.isCancelled = true
            return state.thread != 0 && state.thread != own
        }
        guard mustWait else { return }
        // The observer's call may take longer than one wait.
        while state.wait(atMost: .seconds(3_600), until: { $0.thread == 0 ? true : nil }) == nil {}
    }

    /// Called only on the manager's queue, one call at a time.
    func tell(_ status: ReachabilityStatus) {
        let begins = state.withLock { state in
            guard state.thread == 0, !state.isCancelled else { return false }
            state.thread = Self.thread
            return true
        }
        guard begins else { return }
        body(status)
        state.update { $0.thread = 0 }
    }

    private static var thread: UInt { UInt(pthread_self()) }
}
