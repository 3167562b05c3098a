import TLS

/// TLS handshakes with the server that led to a connection: how many, how many of them resumed a session, and what they
/// agreed on.
struct HandshakeLog: Sendable, Equatable {
    struct Agreement: Hashable, Sendable {
        let version: TLSVersion
        /// The suite's IANA name.
        let cipherSuite: String
    }

    private(set) var full: UInt64 = 0
    private(set) var resumed: UInt64 = 0
    /// As many as OpenSSL knows cipher suites at most.
    private(set) var agreements: [Agreement: UInt64] = [:]

    var count: UInt64 { full &+ resumed }

    /// nil without any handshake.
    var resumedShare: Double? { count == 0 ? nil : Double(resumed) / Double(count) }

    mutating func add(_ info: TLSInfo) {
        if info.isResumed { resumed &+= 1 } else { full &+= 1 }
        agreements[Agreement(version: info.version, cipherSuite: info.cipherSuite), default: 0] &+= 1
    }

    mutating func merge(_ other: HandshakeLog) {
        full &+= other.full
        resumed &+= other.resumed
        agreements.merge(other.agreements) { $0 &+ $1 }
    }

    /// Most frequent first; ties by version and name, so that reports compare.
    var sorted: [(agreement: Agreement, count: UInt64)] {
        agreements.map { (agreement: $0.key, count: $0.value) }.sorted { left, right in
            guard left.count == right.count else { return left.count > right.count }
            return (left.agreement.version, left.agreement.cipherSuite)
                < (right.agreement.version, right.agreement.cipherSuite)
        }
    }
}
