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
        switch self {
        case .unknown, .notReachable: false
        case .reachable: true
        }
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
