internal import Foundation
internal import UncurlClient
internal import UncurlHTTP1

/// Limits in seconds, as Foundation has them. As in URLSession, infinity, zero and negative times mean no limit.
extension Duration {
    static func limit(_ seconds: TimeInterval) -> Duration? { limitNanoseconds(seconds).map { .nanoseconds($0) } }

    /// The same in nanoseconds, because arithmetic with `Duration` uses 128 bits.
    static func limitNanoseconds(_ seconds: TimeInterval) -> Int64? {
        guard seconds > 0, seconds <= longestLimit else { return nil }
        return Int64(seconds * 1e9)
    }

    /// Thirty years. A longer time means no limit.
    static let longestLimit: TimeInterval = 999_999_999
}

extension String {
    /// The date of a field (RFC 9110 §5.6.7), in seconds since 1970; nil for text that is no date.
    package var httpDate: Int64? {
        let octets = Array(utf8)
        return HTTPDate.parse(octets.span, now: unixTime())
    }
}
