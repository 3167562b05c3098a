import UncurlLoad
import UncurlText

/// Reads numbers and times, in the same notation everywhere: `64`, `1.5k`, `1e3`, `0`; `500ms`, `0.2s`, `1h30m`.
///
/// The units are wrk's, in upper or lower case, so `1m` is a million connections or one minute. volley adds fractions,
/// powers of ten, and units below a second. Values are exact: a number with a remainder is refused and not rounded.
extension UInt64 {
    /// Reads `10`, `1.5k`, `1e6`, `1M`, `1G`.
    init(count text: String, for flag: String, allowingZero: Bool = false) throws(UsageError) {
        guard let (number, unit) = DecimalNumber.first(of: Substring(text)) else {
            throw UsageError("\(flag) \(quoted(text)) is not a number: use a whole number such as 64, 1.5k or 1M")
        }
        guard let scale = DecimalNumber.scale(ofUnit: unit.lowercased()) else {
            throw UsageError("\(flag) \(quoted(text)) has an unknown unit \(quoted(unit.lowercased())): use k, M or G")
        }
        self = try Self.exact(number, times: scale, text, flag, "a whole number")
        guard self > 0 || allowingZero else { throw UsageError("\(flag) must be more than 0") }
    }

    /// Reads `10` (seconds), `500us`, `500ms`, `0.2s`, `2m`, `1h30m` as nanoseconds, at most 744 hours.
    init(time text: String, for flag: String, allowingZero: Bool = false) throws(UsageError) {
        var rest = Substring(text)
        var (sum, last) = (UInt64(0), UInt64.max)
        repeat {
            guard let (number, tail) = DecimalNumber.first(of: rest) else {
                throw UsageError("\(flag) \(quoted(text)) is not a time: use such as 500ms, 0.2s, 10s or 1h30m")
            }
            let unit = Substring(tail.utf8.prefix { !$0.isASCIIDigit })
            guard let scale = Self.scale(ofTime: unit.lowercased()) else {
                throw UsageError(
                    "\(flag) \(quoted(text)) has an unknown unit \(quoted(unit.lowercased())): use us, ms, s, m or h"
                )
            }
            // 1h30 and 1m1m are ambiguous.
            try need(
                scale < last && (!unit.isEmpty || last == .max),
                "\(flag) \(quoted(text)) has parts that do not add up: use such as 1h30m, the longest first"
            )
            last = scale
            let (total, overflow) = sum.addingReportingOverflow(
                try Self.exact(number, times: scale, text, flag, "whole nanoseconds")
            )
            guard !overflow else { throw Self.tooLong(text, flag) }
            sum = total
            rest = tail[unit.endIndex...]
        } while !rest.isEmpty
        guard sum > 0 || allowingZero else { throw UsageError("\(flag) must be more than 0") }
        guard sum <= LoadOptions.longest else { throw Self.tooLong(text, flag) }
        self = sum
    }

    private static func scale(ofTime unit: String) -> UInt64? {
        guard unit.utf8.count <= 3 else { return nil }
        return switch unit {
        case "ns": 1
        case "us", "µs": 1_000
        case "ms": 1_000_000
        case "", "s": 1_000_000_000
        case "m": 60_000_000_000
        case "h": 3_600_000_000_000
        default: nil
        }
    }

    private static func tooLong(_ text: String, _ flag: String) -> UsageError {
        UsageError("\(flag) \(quoted(text)) is too long: at most 744h")
    }

    private static func exact(
        _ number: DecimalNumber,
        times scale: UInt64,
        _ text: String,
        _ flag: String,
        _ wanted: String
    ) throws(UsageError) -> UInt64 {
        guard let product = number.times(scale) else {
            throw UsageError("\(flag) \(quoted(text)) is no multiple of one: use \(wanted)")
        }
        try need(product <= UInt64.max, "\(flag) \(quoted(text)) is beyond 64 bits: use a smaller number")
        return UInt64(product)
    }
}

extension String? {
    func time(for flag: String, allowingZero: Bool = false) throws(UsageError) -> UInt64? {
        guard let self else { return nil }
        return try UInt64(time: self, for: flag, allowingZero: allowingZero)
    }
}

extension Double {
    /// Reads a share such as `0.1%`, `0.001` or `1e-3`; nil for any other text.
    init?(share text: String) {
        guard let (number, unit) = DecimalNumber.first(of: Substring(text)), unit.utf8.count <= 1,
            ["", "%"].contains(unit)
        else { return nil }
        self = unit.isEmpty ? number.value : number.value / 100
    }
}

extension Pause {
    /// Reads `100ms`, `50ms-150ms` or `exp:100ms`.
    init(_ text: String, for flag: String) throws(UsageError) {
        if text.begins(with: "exp:") {
            self = .exponential(try UInt64(time: String(text.dropFirst(4)), for: flag, allowingZero: true))
            return
        }
        let ends = text.parts(at: "-", most: 2).map(String.init)
        let low = try UInt64(time: ends[0], for: flag, allowingZero: true)
        guard ends.count == 2 else {
            self = .fixed(low)
            return
        }
        let high = try UInt64(time: ends[1], for: flag, allowingZero: true)
        guard low <= high else { throw UsageError("\(flag) \(quoted(text)) ends before it begins: put the less first") }
        self = .uniform(low, high)
    }
}

extension Shard {
    /// The most parts. No scheduler starts more at once.
    private static var limit: Int { 100_000 }

    /// Reads `2/8`, or `/8` with the index that a Kubernetes Indexed Job gives its pods.
    init(_ text: String, completionIndex: String?) throws(UsageError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[1]), (1...Self.limit).contains(count) else {
            throw UsageError(
                "--shard \(quoted(text)) is no part of a whole: use I/N such as 0/4, or /N in an Indexed Job"
            )
        }
        let number = parts[0].isEmpty ? completionIndex ?? "" : String(parts[0])
        guard let index = Int(number), index >= 0 else {
            throw UsageError(
                parts[0].isEmpty
                    ? "--shard \(quoted(text)) names no part and JOB_COMPLETION_INDEX is not set: use I/\(count)"
                    : "--shard \(quoted(text)) is no part of a whole: use I/N such as 0/\(count)"
            )
        }
        try need(index < count, "--shard \(quoted(text)) is beyond the last part: parts count from 0 to \(count - 1)")
        self.init(index: index, count: count)
    }
}
