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
