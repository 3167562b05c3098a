/// Whether a failed exchange is sent again automatically (RFC 9112 §9.3.1, RFC 9110 §9.2.2).
///
/// It answers one race: the server closed a kept-alive connection while the request was on its way. curl then sends
/// even a POST again. This library does so only if the server cannot have acted on it: none of it left, or the kernel
/// tells that none of it arrived before the server closed (``Facts/unreceived``).
public enum RetryRule {
    /// The facts by which a retry is decided.
    public struct Facts: Hashable, Sendable {
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
    }

    /// Whether the request is sent once more.
    public static func allows(_ facts: Facts) -> Bool {
        facts.meetsClosedConnection && facts.replayable
            && !facts.alreadyRetried && (!facts.sent || facts.unreceived || facts.idempotent)
    }

    /// Whether a method is idempotent (RFC 9110 §9.2.2); methods are compared with case.
    public static func isIdempotent(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE": true
        default: false
        }
    }
}
