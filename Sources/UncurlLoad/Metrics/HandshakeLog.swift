package import UncurlTLS

/// TLS handshakes with the server that led to a connection: how many, how many of them resumed a session, and what they
/// agreed on.
package struct HandshakeLog: Sendable, Equatable {
    package struct Agreement: Hashable, Sendable {
        package let version: TLSVersion
        /// The suite's IANA name.
        package let cipherSuite: String
    }

    package private(set) var full: UInt64 = 0
    package private(set) var resumed: UInt64 = 0
    /// The count of each agreement. OpenSSL's number of cipher suites bounds it.
    private(set) var agreements: [Agreement: UInt64] = [:]

    init() {}

    /// Takes the counts of another process.
    init(full: UInt64, resumed: UInt64, agreements: [Agreement: UInt64]) {
        (self.full, self.resumed, self.agreements) = (full, resumed, agreements)
    }

    package var count: UInt64 { full &+ resumed }

    /// The share of handshakes that resumed a session. Nil without any handshake.
    package var resumedShare: Double? { count == 0 ? nil : Double(resumed) / Double(count) }

    package mutating func add(_ info: TLSInfo) {
        if info.isResumed { resumed &+= 1 } else { full &+= 1 }
        agreements[Agreement(version: info.version, cipherSuite: info.cipherSuite), default: 0] &+= 1
    }

    package mutating func merge(_ other: HandshakeLog) {
        full &+= other.full
        resumed &+= other.resumed
        agreements.merge(other.agreements) { $0 &+ $1 }
    }

    /// The agreements, the most frequent first. Ties are ordered by version and name, so that reports compare.
    package var sorted: [(agreement: Agreement, count: UInt64)] {
        agreements.map { (agreement: $0.key, count: $0.value) }.sorted { left, right in
            guard left.count == right.count else { return left.count > right.count }
            return (left.agreement.version, left.agreement.cipherSuite)
                < (right.agreement.version, right.agreement.cipherSuite)
        }
    }
}
