/// Whether a failed exchange is sent again by itself (RFC 9112 §9.3.1, RFC 9110 §9.2.2).
///
/// The one race it answers: the server closed a kept-alive connection while our request was on its way.
/// curl re-sends even a POST in that case; we do so only where the server cannot have acted on it: none of it left, or
/// the kernel tells that none of it arrived before the server closed (``Facts/unreceived``).
public enum RetryRule {
    /// The facts a retry is decided on.
    public struct Facts: Hashable, Sendable {
        /// The connection had carried an exchange before: a fresh one that fails is never retried silently.
        public var reusedConnection: Bool
        /// Anything at all of a response, an informational one too.
        public var responseStarted: Bool
        /// The peer ended the connection (FIN, RST); never a timeout, never a malformed answer.
        public var peerClosed: Bool
        /// The kernel took any part of the request.
        public var sent: Bool
        /// The peer had closed its side before any of the request arrived.
        public var unreceived: Bool
        /// GET, HEAD, OPTIONS, TRACE, PUT, DELETE, or the caller's word.
        public var idempotent: Bool
        /// The body can be sent from its start again.
        public var replayable: Bool
        /// It has been sent a second time already.
        public var alreadyRetried: Bool

        /// The facts of one failure; see the properties.
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

        /// The server closed the connection between two exchanges, or as the second began.
        public var meetsClosedConnection: Bool { reusedConnection && !responseStarted && peerClosed }
    }

    /// Whether the request is sent once more.
    public static func allows(_ facts: Facts) -> Bool {
        facts.meetsClosedConnection && facts.replayable
            && !facts.alreadyRetried && (!facts.sent || facts.unreceived || facts.idempotent)
    }

    /// The methods of RFC 9110 §9.2.2, case-sensitive.
    public static func isIdempotent(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE": true
        default: false
        }
    }
}
