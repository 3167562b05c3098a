/// How long a virtual user waits between a response and its next request.
package enum Pause: Hashable, Sendable {
    /// All in nanoseconds.
    case fixed(UInt64)
    case uniform(UInt64, UInt64)
    /// Exponential, with this mean: as independent users behave.
    case exponential(UInt64)

    /// `100ms`, `50ms-150ms`, `exp:100ms`.
    package init(_ text: String, for flag: String) throws(UsageError) {
        if text.hasPrefix("exp:") {
            self = .exponential(try Quantity.time(String(text.dropFirst(4)), for: flag, allowingZero: true))
            return
        }
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let low = try Quantity.time(ends[0], for: flag, allowingZero: true)
        guard ends.count == 2 else {
            self = .fixed(low)
            return
        }
        let high = try Quantity.time(ends[1], for: flag, allowingZero: true)
        guard low <= high else { throw UsageError("\(flag) \(quoted(text)) ends before it begins: put the less first") }
        self = .uniform(low, high)
    }

    package func length(_ random: inout RandomStream) -> UInt64 {
        switch self {
        case .fixed(let span): span
        case .uniform(let low, let high): UInt64.random(in: low...high, using: &random)
        case .exponential(let mean): UInt64(random.exponential() * Double(mean))
        }
    }

    package var description: String {
        switch self {
        case .fixed(let span): Units.time(span)
        case .uniform(let low, let high): "\(Units.time(low)) to \(Units.time(high))"
        case .exponential(let mean): "\(Units.time(mean)) on average"
        }
    }
}
