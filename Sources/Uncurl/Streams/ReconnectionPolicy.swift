internal import URLLoading

/// Says when and how often a stream of events is requested again.
///
/// The pause before the next attempt is ``retry``, or the pause that the stream names, within ``shortest`` and
/// ``longestAsked``. It grows by ``factor`` with each attempt in a row that brought no event, up to ``longest``. A
/// share of the pause is random (``jitter``).
public struct ReconnectionPolicy: Sendable {
    /// The pause before the next attempt, until the stream names one.
    public var retry = Duration.seconds(3)
    /// The factor by which the pause grows with each attempt in a row that brought no event.
    public var factor = 2.0
    /// The longest pause after growth.
    public var longest = Duration.seconds(60)
    /// The shortest pause before ``jitter``, whatever the stream names: `retry: 0` would request the stream as fast as
    /// the network allows. Half a second, as in Firefox.
    public var shortest = Duration.milliseconds(500)
    /// The longest pause that a stream may name. A longer one is cut to this.
    public var longestAsked = Duration.seconds(3600)
    /// The share of the pause that is random, from 0 to 1, so that a server's readers do not all reconnect at the same
    /// moment.
    public var jitter = 0.1
    /// The number of attempts in a row without an event after which the sequence throws the last error, or
    /// ``StreamFailure/noEvent(attempts:)``. Nil: no limit.
    public var attempts: Int?
    /// Decides after which errors the stream is requested again. By default after network errors, but not after an
    /// answer that is not acceptable.
    public var reconnects: @Sendable (any Error) -> Bool = { ReconnectionPolicy.isTransient($0) }

    /// A policy with the defaults of its properties.
    public init() {}

    /// - Parameters:
    ///   - retry: the policy's pause, or the one that the stream names.
    ///   - failures: the number of attempts in a row that brought no event.
    func delay(retry: Duration, failures: Int) -> Duration {
        let retry = max(shortest, min(retry, longestAsked))
        // The factor is limited, and one that is not a number counts as 1: a duration cannot be arbitrarily large.
        let growth = factor > 1 ? min(factor, 1e6) : 1
        var delay = retry
        for _ in 1..<max(2, min(failures, 64)) where failures > 1 && delay < longest {
            // Compared before the multiplication, which could overflow a duration.
            delay = longest / growth < delay ? longest : delay * growth
        }
        // A pause that the stream names applies even if it is longer than the growth allows.
        delay = min(delay, max(longest, retry))
        guard jitter > 0 else { return delay }
        return delay * (1 - Double.random(in: 0...min(1, jitter)))
    }

    /// Whether the error is a network error that may not occur in a later attempt.
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
