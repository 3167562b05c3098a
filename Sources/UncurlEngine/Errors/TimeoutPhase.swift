/// The limit that was exceeded.
public enum TimeoutPhase: Hashable, Sendable {
    /// ``Timeouts/connect``, before the socket was connected.
    case connect
    /// The same limit, during the TLS handshake.
    case handshake
    /// ``TrustEvaluator/timeLimit(for:)``.
    case trustDecision
    /// The limits of the same names.
    case poolWait, responseHead, idle, total
}
