internal import Foundation
internal import UncurlHTTP1

/// Limits in seconds, as Foundation has them. As in URLSession, infinity, zero and negative times mean no limit.
enum TimeLimit {
    static func duration(_ seconds: TimeInterval) -> Duration? { nanoseconds(seconds).map { .nanoseconds($0) } }

    /// The same in nanoseconds, because arithmetic with `Duration` uses 128 bits.
    static func nanoseconds(_ seconds: TimeInterval) -> Int64? {
        guard seconds > 0, seconds <= longest else { return nil }
        return Int64(seconds * 1e9)
    }

    /// Thirty years. A longer time means no limit.
    static let longest: TimeInterval = 999_999_999
}

extension String {
    /// The date of a field (RFC 9110 §5.6.7), in seconds since 1970; nil for text that is no date.
    package var httpDate: Int64? {
        let octets = Array(utf8)
        return HTTPDate.parse(octets.span, now: Int64(Date().timeIntervalSince1970))
    }
}
