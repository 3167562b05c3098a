internal import URLLoading

/// When and how often a stream of events is asked for again.
///
/// The pause before the next attempt is ``retry``, or what the stream asks for, within ``shortest`` and
/// ``longestAsked``. It grows by ``factor`` with each attempt in a row that brought no event, up to ``longest``. Of
/// that a part is left to chance (``jitter``).
public struct ReconnectionPolicy: Sendable {
    /// The pause before the next attempt, until the stream names one.
    public var retry = Duration.seconds(3)
    /// The factor by which the pause grows with each attempt in a row that brought no event.
    public var factor = 2.0
    /// The longest pause that it grows to.
    public var longest = Duration.seconds(60)
    /// No pause is shorter, whatever the stream asks for: `retry: 0` would ask for the stream as fast as the network
    /// goes. Half a second, as in Firefox.
    public var shortest = Duration.milliseconds(500)
    /// The longest pause that a stream may ask for; one that asks for more gets this.
    public var longestAsked = Duration.seconds(3600)
    /// The share of the pause that is random, from 0 to 1, so that a server's readers do not all return at once.
    public var jitter = 0.1
    /// Attempts in a row without an event before the last error counts, or ``StreamFailure/noEvent(attempts:)``; nil:
    /// any number.
    public var attempts: Int?
    /// Decides after which errors the stream is requested again. By default after those of the network, and not after
    /// another answer of a server.
    public var reconnects: @Sendable (any Error) -> Bool = { ReconnectionPolicy.isTransient($0) }

    /// A policy with the defaults of its properties.
    public init() {}

    /// - Parameters:
    ///   - retry: this policy's, or what the stream asks for.
    ///   - failures: attempts in a row that brought no event.
    func delay(retry: Duration, failures: Int) -> Duration {
        let retry = max(shortest, min(retry, longestAsked))
        // The factor is bounded, and one that is not a number counts as 1: a duration has its limits.
        let growth = factor > 1 ? min(factor, 1e6) : 1
        var delay = retry
        for _ in 1..<max(2, min(failures, 64)) where failures > 1 && delay < longest {
            // Looked at before it is multiplied: a duration has its limits.
            delay = longest / growth < delay ? longest : delay * growth
        }
        // What the stream asks for counts, though it is longer than the pause would grow.
        delay = min(delay, max(longest, retry))
        guard jitter > 0 else { return delay }
        return delay * (1 - Double.random(in: 0...min(1, jitter)))
    }

    /// Whether the error is one of the network that a later attempt may not meet.
    public static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case let error as URLError: isTransient(error)
        case UncurlError.transport(let error): isTransient(error)
        default: false
        }
    }

    private static func isTransient(_ error: URLError) -> Bool {
        switch error.code {
        case .cancelled, .badURL, .unsupportedURL, .userCancelledAuthentication, .userAuthenticationRequired,
            .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
            .httpTooManyRedirects:
            false
        default: true
        }
    }
}
