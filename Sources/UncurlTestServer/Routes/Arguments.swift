/// Parses numbers in paths and queries. Each has a bound, so that no route does more than a test needs.
enum Arguments {
    /// Whole numbers from 0 to `most`; nil for anything else.
    static func count(_ text: String?, upTo most: UInt64) -> UInt64? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        guard let value = UInt64(text), value <= most else { return nil }
        return value
    }

    /// Seconds with an optional fraction, cut to `most`; nil for anything else or below 0.
    static func seconds(_ text: String?, upTo most: Double) -> Duration? {
        guard let text, let value = Double(text), value >= 0, value.isFinite else { return nil }
        return .nanoseconds(Int64((min(value, most) * 1e9).rounded()))
    }
}

/// Bounds of the routes.
enum RouteLimits {
    /// `/delay`, `/drip`: httpbin's own bound.
    static let seconds = 10.0
    /// `/bytes`, `/range`, `/stream-bytes`, `/download`, `length`: 1 GiB is a long download on loopback, and costs no
    /// memory here.
    static let bytes: UInt64 = 1 << 30
    /// `/stream`, `/chunked`, `/payloads`: pieces.
    static let pieces: UInt64 = 100_000
    /// `/redirect`: clients give up at 20 to 50.
    static let redirects: UInt64 = 1000
    static let links: UInt64 = 200
    /// `/headers-large`: above any client's limit, and still sent at once.
    static let headerBytes: UInt64 = 1 << 20
    /// `/freeze`, in milliseconds.
    static let freeze: UInt64 = 10_000
}
