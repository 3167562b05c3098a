/// Requests a second as an exact number: a whole number of ``units``, for a decimal or a count an hour too.
package struct Rate: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The rate in parts of a request a second. ``unitsPerRequest`` of these are one request a second.
    package let units: UInt64

    /// The number of units in one request a second. One unit is a millionth of a request an hour.
    package static let unitsPerRequest: UInt64 = 3_600_000_000
    /// The highest rate: one request a nanosecond. `units` stays below 2^62.
    package static let highest = Rate(units: 1_000_000_000 * unitsPerRequest)

    package static let zero = Rate(units: 0)

    package init(units: UInt64) { self.units = units }

    package init(perSecond: UInt64) { units = min(perSecond, 1_000_000_000) * Self.unitsPerRequest }

    package var perSecond: Double { Double(units) / Double(Self.unitsPerRequest) }

    package static func < (left: Rate, right: Rate) -> Bool { left.units < right.units }

    /// Makes the rate nearest to `perSecond`, for a search that steps by factors.
    package init(nearest perSecond: Double) {
        let units = (perSecond * Double(Self.unitsPerRequest)).rounded()
        self.units = units < 1 ? 1 : units >= Double(Self.highest.units) ? Self.highest.units : UInt64(units)
    }

    /// Reads a rate: `1000`, `2.5k`, `1e3`, `0.2/s`, `90/m`, `100/h`. Nothing finer than ``units`` is one.
    package init(_ text: String, for name: String, allowingZero: Bool = false) throws(UsageError) {
        let given = "\(name) \(quoted(text))"
        guard let units = Self.units(text) else {
            throw UsageError("\(given) is no rate: use requests a second such as 1000, 2.5k or 0.2, or 90/m or 100/h")
        }
        guard units > 0 || allowingZero else { throw UsageError("\(given) must be more than 0") }
        guard units <= Self.highest.units else { throw UsageError("\(given) is too high: at most 1G/s") }
        self.units = units
    }

    private static func units(_ text: String) -> UInt64? {
        let parts = text.parts(at: "/", most: 2)
        guard parts.count == 1 || parts[1].utf8.count == 1 else { return nil }
        let span: UInt64
        switch parts.count == 2 ? parts[1].lowercased() : "s" {
        case "s": span = 1
        case "m": span = 60
        case "h": span = 3_600
        default: return nil
        }
        guard let (number, unit) = DecimalNumber.first(of: parts[0]),
            let scale = DecimalNumber.scale(ofUnit: unit.lowercased())
        else { return nil }
        return number.times(unitsPerRequest * scale, over: span).map { UInt64(clamping: $0) }
    }

    /// The rate as text: `1000/s`, `0.25/s`.
    package var description: String {
        let (whole, part) = units.quotientAndRemainder(dividingBy: Self.unitsPerRequest)
        guard part > 0 else { return "\(whole)/s" }
        let millionths = "\(1_000_000 + (part + 1_800) / 3_600)".dropFirst()
        let digits = String(millionths.reversed().drop { $0 == "0" }.reversed())
        return digits.isEmpty ? "\(fixed(perSecond, 9))/s" : "\(whole).\(digits)/s"
    }
}
