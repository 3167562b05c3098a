/// Numbers and times as wrk writes them: an integer and one unit, upper and lower case alike.
///
/// wrk reads a unit with `strncasecmp` and knows only whole numbers, so `1m` is a million connections
/// and a minute of time. volley adds the units below a second to times.
package enum Quantity {
    /// A month: instants are signed 64-bit nanoseconds, and any sum of a few of these fits.
    package static let longest: UInt64 = 31 * 24 * 3_600_000_000_000

    /// `10`, `1k`, `1M`, `1G`; at least one.
    package static func count(_ text: String, for flag: String) throws(UsageError) -> UInt64 {
        guard let (number, unit) = split(text) else {
            throw UsageError("\(flag) \(quoted(text)) is not a number: use a whole number such as 64, 1k or 1M")
        }
        let scale: UInt64
        switch unit {
        case "": scale = 1
        case "k": scale = 1_000
        case "m": scale = 1_000_000
        case "g": scale = 1_000_000_000
        default:
            throw UsageError("\(flag) \(quoted(text)) has an unknown unit \(quoted(unit)): use k, M or G")
        }
        return try positive(number, times: scale, text, flag)
    }

    /// `10` (seconds), `500us`, `500ms`, `2s`, `2m`, `2h`, in nanoseconds; more than none.
    package static func time(_ text: String, for flag: String) throws(UsageError) -> UInt64 {
        guard let (number, unit) = split(text) else {
            throw UsageError(
                "\(flag) \(quoted(text)) is not a time: use a whole number and a unit such as 500ms, 10s or 2m"
            )
        }
        let scale: UInt64
        switch unit {
        case "us": scale = 1_000
        case "ms": scale = 1_000_000
        case "", "s": scale = 1_000_000_000
        case "m": scale = 60_000_000_000
        case "h": scale = 3_600_000_000_000
        default:
            throw UsageError("\(flag) \(quoted(text)) has an unknown unit \(quoted(unit)): use us, ms, s, m or h")
        }
        let nanoseconds = try positive(number, times: scale, text, flag)
        guard nanoseconds <= longest else {
            throw UsageError("\(flag) \(quoted(text)) is too long: at most 744h")
        }
        return nanoseconds
    }

    /// Digits, then letters, and nothing else; nil when there are no digits at the front or a number
    /// beyond 64 bits. The letters come back in lower case.
    private static func split(_ text: String) -> (UInt64, String)? {
        let digits = text.utf8.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        guard !digits.isEmpty, let number = UInt64(Substring(digits)) else { return nil }
        return (number, String(text.dropFirst(digits.count)).lowercased())
    }

    private static func positive(
        _ number: UInt64,
        times scale: UInt64,
        _ text: String,
        _ flag: String
    ) throws(UsageError) -> UInt64 {
        let (value, overflow) = number.multipliedReportingOverflow(by: scale)
        guard !overflow else { throw UsageError("\(flag) \(quoted(text)) is beyond 64 bits: use a smaller number") }
        guard value > 0 else { throw UsageError("\(flag) must be more than 0") }
        return value
    }
}
