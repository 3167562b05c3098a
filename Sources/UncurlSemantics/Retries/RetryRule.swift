internal import UncurlHTTP1

/// Whether a failed exchange is sent again automatically (RFC 9112 §9.3.1, RFC 9110 §9.2.2).
///
/// It answers one race: the server closed a kept-alive connection while the request was on its way. curl then sends
/// even a POST again. This library does so only if the server cannot have acted on it: none of it left, or the kernel
/// tells that none of it arrived before the server closed (``unreceived``).
public struct RetryRule: Hashable, Sendable {
    /// Whether the connection had carried an exchange before: a failure on a new one is never retried silently.
    public var reusedConnection: Bool
    /// Whether anything of a response came, even an informational one.
    public var responseStarted: Bool
    /// Whether the peer ended the connection (FIN, RST); a timeout or a malformed answer does not count.
    public var peerClosed: Bool
    /// Whether the kernel took any part of the request.
    public var sent: Bool
    /// Whether the peer had closed its side before any of the request arrived.
    public var unreceived: Bool
    /// Whether the method is GET, HEAD, OPTIONS, TRACE, PUT or DELETE, or the caller says that it is idempotent.
    public var idempotent: Bool
    /// Whether the content can be sent again from its start.
    public var replayable: Bool
    /// Whether it has been sent a second time already.
    public var alreadyRetried: Bool

    /// Makes the facts of one failure; see the properties.
    public init(
        reusedConnection: Bool,
        responseStarted: Bool,
        peerClosed: Bool,
        sent: Bool,
        unreceived: Bool = false,
        idempotent: Bool,
        replayable: Bool,
        alreadyRetried: Bool
    ) {
        self.reusedConnection = reusedConnection
        self.responseStarted = responseStarted
        self.peerClosed = peerClosed
        self.sent = sent
        self.unreceived = unreceived
        self.idempotent = idempotent
        self.replayable = replayable
        self.alreadyRetried = alreadyRetried
    }

    /// Whether the server closed the connection between two exchanges, or as the second began.
    public var meetsClosedConnection: Bool { reusedConnection && !responseStarted && peerClosed }

    /// Whether the request is sent once more.
    public var allowsRetry: Bool {
        meetsClosedConnection && replayable && !alreadyRetried && (!sent || unreceived || idempotent)
    }

    /// Returns the pause before a new try after a failure of the network, by how many pauses there were: a quarter of a
    /// second, then twice as long each time, up to ten seconds. The kernel does not report when a server can be reached
    /// again, and a try costs one look-up and one packet.
    static func pause(after pauses: Int) -> Duration { min(.milliseconds(250 << min(pauses, 8)), .seconds(10)) }

    /// Whether a method is idempotent (RFC 9110 §9.2.2); methods are compared with case.
    public static func isIdempotent(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE": true
        default: false
        }
    }
}

/// The value of a Retry-After field (RFC 9110 §10.2.3): how long a client is asked to wait before it sends another
/// request.
public enum RetryAfter: Hashable, Sendable {
    /// That many seconds after the answer. A number that no integer holds counts as the largest one.
    case seconds(Int64)
    /// Until that date, in seconds since 1970.
    case date(Int64)

    /// Reads a value; nil if it is neither a number of seconds nor a date.
    ///
    /// - Parameters:
    ///   - value: the field's value; blanks at its ends are ignored.
    ///   - now: seconds since 1970, for dates with years of two digits.
    public init?(_ value: String, now: Int64) {
        let octets = Array(value.utf8).withoutBlanks
        guard !octets.isEmpty else { return nil }
        if octets.allSatisfy({ $0 &- 0x30 < 10 }) {
            self = .seconds(Int64(String(decoding: octets, as: UTF8.self)) ?? .max)
        } else if let date = HTTPDate.parse(Array(octets).span, now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Returns how long to wait; zero for a date in the past.
    ///
    /// - Parameter now: seconds since 1970.
    public func delay(at now: Double) -> Duration {
        switch self {
        case .seconds(let seconds): .seconds(seconds)
        case .date(let date): .seconds(max(0, Double(date) - now))
        }
    }
}
