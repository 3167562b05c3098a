package import UncurlTLS

/// The part of a request's life in which it went wrong.
package enum Phase: String, Hashable, Sendable, CaseIterable {
    case resolve, connect, proxy
    /// The TLS handshake with the server, or with an https proxy.
    case tls
    case write
    /// The time from the last byte sent to the first byte of the answer.
    case responseStart = "first-byte"
    case head, body
    /// The opening handshake of a WebSocket.
    case upgrade
    /// On a WebSocket, from a message sent to the one that answers it.
    case message
    case check
}

/// The kind of a failure, by the bytes received and the error number.
package enum FailureClass: String, Hashable, Sendable, CaseIterable {
    case unresolved
    case refused
    case unreachable
    case noLocalPort = "no-local-port"
    case descriptorLimit = "descriptor-limit"
    case timeout
    /// RST, or a write after the peer's FIN.
    case reset
    /// The peer sent FIN before any byte of the answer, in its head, or in its body.
    case closedBeforeAnswer = "closed-before-answer"
    case closedInHead = "closed-in-head"
    case closedInBody = "closed-in-body"
    /// The same before the connection was open: in the TLS handshake, or while a proxy was asked for a tunnel.
    case closedInHandshake = "closed-in-handshake"
    /// The verifier's reason is the failure's detail.
    case untrusted
    case tlsAlert = "tls-alert"
    case tlsProtocol = "tls-protocol"
    /// The proxy's answer, a status code or the name of a SOCKS reply, is the failure's detail.
    case proxyRefused = "proxy-refused"
    case proxyAuthentication = "proxy-authentication"
    /// The parser's reason is the failure's detail.
    case malformed
    /// Bytes that belong to no answer followed a whole one: its length was wrong, or the server sent them unasked.
    case surplus
    /// The failure's detail is what differs from the expectation.
    case unexpected
    case redirectLimit = "redirect-limit"
    /// The server answered a WebSocket's opening handshake with another status than 101, which is the failure's detail.
    case upgradeRefused = "upgrade-refused"
    /// The server closed a WebSocket in place of an answer; the close code is the failure's detail.
    case closeFrame = "close-frame"
    /// The answer exceeded a limit of the client's: the size of a head, the number of 1xx responses.
    case limit
    case other
}

package struct Failure: Hashable, Sendable {
    package let phase: Phase
    package let kind: FailureClass
    /// Error number, or 0 where no system call failed.
    package let errno: CInt
    /// A reason from a fixed set, such as the parser's; never text that a peer chose.
    package let detail: String

    package init(_ phase: Phase, _ kind: FailureClass, errno: CInt = 0, detail: String = "") {
        (self.phase, self.kind, self.errno, self.detail) = (phase, kind, errno, detail)
    }
}

/// Failures by kind: how many, when first and last, and an example of the first.
package struct FailureLog: Sendable {
    package struct Record: Sendable, Equatable {
        package var count: UInt64
        /// Nanoseconds after the start of the run.
        package var first: UInt64
        package var last: UInt64
        package var example: String
    }

    /// The most kinds that are counted separately. Most pairs of the eleven phases and 24 classes are impossible, so a
    /// real server causes fewer.
    package static let limit = 256

    package private(set) var records: [Failure: Record] = [:]

    /// Counts `count` failures of one kind. `example` is made for the first one only.
    package mutating func add(
        _ failure: Failure,
        count: UInt64 = 1,
        at time: UInt64,
        example: @autoclosure () -> String
    ) {
        let key = slot(for: failure)
        guard var record = records[key] else {
            records[key] = Record(count: count, first: time, last: time, example: example())
            return
        }
        record.count &+= count
        (record.first, record.last) = (min(record.first, time), max(record.last, time))
        records[key] = record
    }

    package mutating func merge(_ other: FailureLog) {
        for (failure, record) in other.records {
            add(failure, record.count, from: record.first, to: record.last) { record.example }
        }
    }

    mutating func add(
        _ failure: Failure,
        _ count: UInt64,
        from first: UInt64,
        to last: UInt64,
        _ example: () -> String
    ) {
        let key = slot(for: failure)
        guard var record = records[key] else {
            records[key] = Record(count: count, first: first, last: last, example: example())
            return
        }
        record.count &+= count
        record.last = max(record.last, last)
        if first < record.first { (record.first, record.example) = (first, example()) }
        records[key] = record
    }

    /// The records, the most frequent first; ties by phase, class and error number, so that reports compare.
    package var sorted: [(failure: Failure, record: Record)] {
        records.map { (failure: $0.key, record: $0.value) }.sorted { left, right in
            guard left.record.count == right.record.count else { return left.record.count > right.record.count }
            return Self.order(left.failure) < Self.order(right.failure)
        }
    }

    package var isEmpty: Bool { records.isEmpty }

    package func count(where matches: (Failure) -> Bool) -> UInt64 {
        records.reduce(0) { matches($1.key) ? $0 &+ $1.value.count : $0 }
    }

    /// Returns the row of a failure. When the table is full, further kinds share one row for each phase.
    private func slot(for failure: Failure) -> Failure {
        guard records.count >= Self.limit, records[failure] == nil else { return failure }
        return Failure(failure.phase, .other, detail: "kinds beyond \(Self.limit)")
    }

    private static func order(_ failure: Failure) -> (String, String, CInt, String) {
        (failure.phase.rawValue, failure.kind.rawValue, failure.errno, failure.detail)
    }
}

/// TLS handshakes with the server that led to a connection: how many, how many of them resumed a session, and what they
/// agreed on.
package struct HandshakeLog: Sendable, Equatable {
    package private(set) var full: UInt64 = 0
    package private(set) var resumed: UInt64 = 0
    /// The count of each agreement, by the version and the suite's IANA name. OpenSSL's number of cipher suites bounds
    /// it.
    private(set) var agreements: [TLSVersion: [String: UInt64]] = [:]

    init() {}

    /// Takes the counts of another process.
    init(full: UInt64, resumed: UInt64, agreements: [TLSVersion: [String: UInt64]]) {
        (self.full, self.resumed, self.agreements) = (full, resumed, agreements)
    }

    package var count: UInt64 { full &+ resumed }

    /// The share of handshakes that resumed a session. Nil without any handshake.
    package var resumedShare: Double? { count == 0 ? nil : Double(resumed) / Double(count) }

    package mutating func add(_ info: TLSInfo) {
        if info.isResumed { resumed &+= 1 } else { full &+= 1 }
        agreements[info.version, default: [:]][info.cipherSuite, default: 0] &+= 1
    }

    package mutating func merge(_ other: HandshakeLog) {
        full &+= other.full
        resumed &+= other.resumed
        agreements.merge(other.agreements) { $0.merging($1) { $0 &+ $1 } }
    }

    /// The agreements, the most frequent first. Ties are ordered by version and name, so that reports compare.
    package var sorted: [(version: TLSVersion, cipherSuite: String, count: UInt64)] {
        agreements.flatMap { version, suites in suites.map { (version: version, cipherSuite: $0, count: $1) } }
            .sorted { ($1.count, $0.version, $0.cipherSuite) < ($0.count, $1.version, $1.cipherSuite) }
    }
}
