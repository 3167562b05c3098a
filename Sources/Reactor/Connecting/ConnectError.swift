/// Why no connection came about: every attempt with its errno, and what the look-up said.
public struct ConnectError: Error, Hashable, Sendable {
    /// One address that could not be connected to.
    public struct Attempt: Hashable, Sendable {
        /// The address that was tried.
        public let address: SocketAddress
        /// What the kernel said.
        public let errno: Errno

        /// An attempt from its parts.
        public init(address: SocketAddress, errno: Errno) {
            self.address = address
            self.errno = errno
        }
    }

    /// In the order they failed; empty if there was no address to try.
    public let attempts: [Attempt]
    /// What a look-up came to that found nothing. With attempts made, only one family's.
    public let resolution: ResolveError?

    /// An error from its parts.
    public init(attempts: [Attempt], resolution: ResolveError?) {
        self.attempts = attempts
        self.resolution = resolution
    }

    /// The errno that says most; nil if nothing was tried. Our own shortages come first, and last come those
    /// that only say that this machine does not speak the family.
    public var errno: Errno? {
        let all = attempts.map(\.errno)
        return all.first(where: \.isResourceExhaustion) ?? all.first { !$0.isMissingRoute } ?? all.first
    }

    /// This process or machine has run out of descriptors or socket memory; the peer was not even asked.
    public var isResourceExhaustion: Bool {
        if case .system(let error)? = resolution, attempts.isEmpty { return error.isResourceExhaustion }
        return errno?.isResourceExhaustion ?? false
    }

    /// No local port was free towards that address (EADDRNOTAVAIL): too many connections in TIME_WAIT, as a
    /// rule; or the local address asked for is not this machine's.
    public var isPortExhaustion: Bool { errno == .addressNotAvailable }
}

extension Errno {
    /// What connecting says on a machine that has no such addresses, or no route to them.
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
