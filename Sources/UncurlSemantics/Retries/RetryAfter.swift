internal import UncurlHTTP1

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
