public import UncurlHTTP1

/// How long a stored response may be used without validation, and how old it is (RFC 9111 §4.2), in seconds.
public struct CacheFreshness: Hashable, Sendable {
    /// How long the response is fresh, from the time it was made.
    public let lifetime: Int64
    /// How old the response is.
    public let age: Int64

    /// Whether it is fresh (§4.2): response_is_fresh = (freshness_lifetime > current_age).
    public var isFresh: Bool { lifetime > age }
    /// How long it has been stale; 0 if it is fresh.
    public var staleness: Int64 { max(0, age - lifetime) }

    /// - Parameters:
    ///   - exchange: the stored response, with the times of its request and of its head.
    ///   - control: the directives of the response.
    ///   - now: seconds since 1970.
    ///   - usesHeuristics: whether a response without a stated lifetime has a guessed one (§4.2.2); otherwise it is
    ///     stale at once.
    public init(_ exchange: StoredExchange, _ control: CacheControl, now: Int64, usesHeuristics: Bool = false) {
        let record = exchange.record
        // §4.2.3. Clocks are set back and servers lie, so the values are limited: no age is below 0 or above the
        // largest number of seconds.
        let date = Self.date(.date, in: exchange.fields, now: record.received) ?? record.received
        let apparent = Self.clamped(record.received, minus: date)
        let delay = Self.clamped(record.received, minus: record.requested)
        let corrected = min(Self.statedAge(exchange.fields) + delay, CacheControl.largest)
        let resident = Self.clamped(now, minus: record.received)
        age = min(max(apparent, corrected) + resident, CacheControl.largest)
        lifetime = Self.lifetime(exchange, control, date: date, usesHeuristics)
    }

    /// Returns the lifetime (§4.2.1) for a private cache, to which s-maxage does not apply.
    private static func lifetime(
        _ exchange: StoredExchange,
        _ control: CacheControl,
        date: Int64,
        _ usesHeuristics: Bool
    ) -> Int64 {
        switch control.maxAge {
        case .value(let seconds): return seconds
        case .invalid: return 0
        case .absent: break
        }
        if exchange.fields.contains(.expires) {
            // §5.3: "0" and anything else that is no date is in the past. So are several dates that differ.
            guard let expires = Self.date(.expires, in: exchange.fields, now: exchange.record.received) else {
                return 0
            }
            return clamped(expires, minus: date)
        }
        return usesHeuristics ? heuristic(exchange, date: date) : 0
    }

    /// Returns the heuristic lifetime (§4.2.2): a tenth of the time since the last change, if the status allows a
    /// heuristic. It is a week at most: a page that has not changed for years may change today.
    private static func heuristic(_ exchange: StoredExchange, date: Int64) -> Int64 {
        guard CacheStorage.isHeuristic(exchange.status),
            let modified = Self.date(.lastModified, in: exchange.fields, now: exchange.record.received)
        else { return 0 }
        return min(clamped(date, minus: modified) / 10, 7 * 86_400)
    }

    /// Returns the age in the Age field (§5.1): the first number of the first line; anything else counts as missing.
    private static func statedAge(_ fields: HTTPFields) -> Int64 {
        guard fields.contains(.age), let first = fields.listMembers(of: "Age").first else { return 0 }
        return CacheControl.seconds(first) ?? 0
    }

    /// Returns the date in a field; nil also if the field is there twice with different values.
    public static func date(_ known: KnownField, in fields: HTTPFields, now: Int64) -> Int64? {
        fields.agreed(known).flatMap { HTTPDate.parse($0.span, now: now) }
    }

    private static func clamped(_ later: Int64, minus earlier: Int64) -> Int64 {
        let (difference, isTooMuch) = later.subtractingReportingOverflow(earlier)
        if isTooMuch { return later > earlier ? CacheControl.largest : 0 }
        return min(max(0, difference), CacheControl.largest)
    }
}
