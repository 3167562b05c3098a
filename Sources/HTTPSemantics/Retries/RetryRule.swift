/// Whether a failed exchange is sent again by itself (RFC 9112 §9.3.1, RFC 9110 §9.2.2).
///
/// The one race it answers: the server closed a kept-alive connection while our request was on its way.
/// curl re-sends even a POST in that case; we do so only where the server cannot have acted on it: none of it left, or
/// the kernel tells that none of it arrived before the server closed (``Connection/wasClosedBeforeRequest(_:)``).
struct RetryRule {
    /// The facts a retry is decided on.
    struct Facts: Equatable {
        /// The connection had carried an exchange before: a fresh one that fails is never retried silently.
        var reusedConnection: Bool
        /// Anything at all of a response, an informational one too.
        var responseStarted: Bool
        /// The peer ended the connection (FIN, RST); never a timeout, never a malformed answer.
        var peerClosed: Bool
        /// The kernel took any part of the request.
        var sent: Bool
        /// The peer had closed its side before any of the request arrived.
        var unreceived = false
        /// GET, HEAD, OPTIONS, TRACE, PUT, DELETE, or the caller's word.
        var idempotent: Bool
        /// The body can be sent from its start again.
        var replayable: Bool
        var alreadyRetried: Bool

        /// The server closed the connection between two exchanges, or as the second began.
        var meetsClosedConnection: Bool { reusedConnection && !responseStarted && peerClosed }
    }

    static func allows(_ facts: Facts) -> Bool {
        facts.meetsClosedConnection && facts.replayable
            && !facts.alreadyRetried && (!facts.sent || facts.unreceived || facts.idempotent)
    }

    /// The methods of RFC 9110 §9.2.2, case-sensitive.
    static func isIdempotent(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE": true
        default: false
        }
    }
}
