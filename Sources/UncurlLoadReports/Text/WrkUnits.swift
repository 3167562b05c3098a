import UncurlLoad

/// Numbers in wrk's format (its `units.c`). The next unit is used from 85 % of it on. wrk never uses the last unit of
/// each family, so two hours are `120m` and 900,000 µs are `900.00ms`.
enum WrkUnits {
    /// Microseconds as `45.00us`, `1.23ms`, `2.00s`, `1.50m`.
    static func microseconds(_ value: Double) -> String {
        value >= 1_000_000
            ? scaled(value / 1_000_000, by: 60, base: "s", ["m"], decimals: 2)
            : scaled(value, by: 1_000, base: "us", ["ms"], decimals: 2)
    }

    /// Whole seconds as `10s`, `2m`.
    static func seconds(_ value: Double) -> String { scaled(value, by: 60, base: "s", ["m"], decimals: 0) }

    /// Bytes as `512.00`, `1.21M`; the caller adds the `B`.
    static func binary(_ value: Double) -> String {
        scaled(value, by: 1_024, base: "", ["K", "M", "G", "T"], decimals: 2)
    }

    /// Counts as `512.00`, `48.12k`.
    static func metric(_ value: Double) -> String {
        scaled(value, by: 1_000, base: "", ["k", "M", "G", "T"], decimals: 2)
    }

    /// A number in a column. wrk adds as many spaces as its unit is shorter than two letters.
    static func column(_ text: String, _ width: Int) -> String {
        let letters = text.suffix(2).filter(\.isLetter).count
        let pad = 2 - letters
        let cut = String(text.prefix(width - pad))
        return right(cut, width - pad) + String(repeating: " ", count: pad)
    }

    private static func scaled(
        _ value: Double,
        by scale: Double,
        base: String,
        _ units: [String],
        decimals: Int
    ) -> String {
        var amount = value
        var unit = base
        for next in units where amount >= scale * 0.85 {
            amount /= scale
            unit = next
        }
        return fixed(amount, decimals) + unit
    }
}
