internal import UncurlLibC
import UncurlText

/// Returns a number with this many decimals, by the C library's rules, as wrk prints it.
package func fixed(_ value: Double, _ decimals: Int) -> String {
    // The longest finite double has 309 digits before the point.
    var text = [CChar](repeating: 0, count: 352)
    let count = unsafe withVaList([Int32(decimals), value]) { arguments in
        unsafe vsnprintf(&text, text.count, "%.*f", arguments)
    }
    return String(decoding: text.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Returns the digits in groups: `1,204,332`.
package func grouped(_ value: UInt64) -> String {
    var out: [Character] = []
    for (index, digit) in String(value).reversed().enumerated() {
        if index > 0 && index.isMultiple(of: 3) { out.append(",") }
        out.append(digit)
    }
    return String(out.reversed())
}

/// Returns `text` with blanks before or after it, up to a width in characters.
package func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

package func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}

/// Times and sizes for people, with three significant digits.
/// Returns nanoseconds as `512 ns`, `45.3 µs`, `1.23 ms`, `2 s`, `1.5 min`.
package func timeText(_ nanoseconds: UInt64) -> String { timeText(Double(nanoseconds)) }

package func timeText(_ nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<999.5: threeDigits(nanoseconds) + " ns"
    case ..<999.5e3: threeDigits(nanoseconds / 1e3) + " µs"
    case ..<999.5e6: threeDigits(nanoseconds / 1e6) + " ms"
    case ..<119.5e9: threeDigits(nanoseconds / 1e9) + " s"
    case ..<7_200e9: threeDigits(nanoseconds / 60e9) + " min"
    default: threeDigits(nanoseconds / 3_600e9) + " h"
    }
}

/// Returns bytes as `512 B`, `1.21 KiB`, `24 MiB`.
package func bytesText(_ count: Double) -> String {
    var amount = count
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
        if amount < 1_000 { return "\(threeDigits(amount)) \(unit)" }
        amount /= 1_024
    }
    return threeDigits(amount) + " PiB"
}

private func threeDigits(_ value: Double) -> String {
    let decimals = value == value.rounded() ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0
    return fixed(value, decimals)
}

/// Returns the bytes of a number of this width, the highest first.
package func bigEndian(_ number: UInt64, width: Int) -> [UInt8] {
    stride(from: 8 * (width - 1), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
}

extension [Double] {
    /// The mean; 0 without elements.
    package var mean: Double { isEmpty ? 0 : reduce(0, +) / Double(count) }

    /// The median of one element or more.
    package var median: Double {
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}

/// Returns a count with its noun: `1 request`, `2 requests`.
package func several(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// A decimal number without a sign, kept exactly as written: `12`, `1.5`, `2e6`, `1.5e-3`.
package struct DecimalNumber: Hashable, Sendable {
    /// The number is `digits` · 10^`exponent`.
    private let digits: UInt64
    private let exponent: Int

    /// The number that `text` begins with, and what follows it; nil if it begins with none, or with one of more digits
    /// than 64 bits hold.
    package static func first(of text: Substring) -> (DecimalNumber, rest: Substring)? {
        let whole = text.utf8.prefix(while: \.isASCIIDigit)
        guard !whole.isEmpty else { return nil }
        var rest = text.utf8[whole.endIndex...]
        var fraction = rest.prefix(0)
        if rest.first == UInt8(ascii: "."), rest.dropFirst().first?.isASCIIDigit == true {
            fraction = rest.dropFirst().prefix(while: \.isASCIIDigit)
            rest = rest[fraction.endIndex...]
        }
        var power = 0
        if let (number, tail) = exponent(rest) { (power, rest) = (number, tail) }
        guard let digits = UInt64(Substring(whole) + Substring(fraction)) else { return nil }
        return (DecimalNumber(digits: digits, exponent: power - fraction.count), Substring(rest))
    }

    /// Reads `e3` or `E-3`. Returns nil for another text, or for an exponent that is too high to be of use.
    private static func exponent(_ text: Substring.UTF8View) -> (Int, Substring.UTF8View)? {
        guard text.first == UInt8(ascii: "e") || text.first == UInt8(ascii: "E") else { return nil }
        var rest = text.dropFirst()
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        let digits = rest.prefix(while: \.isASCIIDigit)
        guard let number = Int(Substring(digits)), number <= 40 else { return nil }
        return (isNegative ? -number : number, rest[digits.endIndex...])
    }

    package var value: Double { Double("\(digits)e\(exponent)") ?? .infinity }

    /// Returns `scale` times the number, divided by `divisor`, or the greatest number where that is beyond 128 bits.
    /// Nil where it is no whole number.
    package func times(_ scale: UInt64, over divisor: UInt64 = 1) -> UInt128? {
        guard digits > 0, scale > 0 else { return 0 }
        var product = UInt128(digits) * UInt128(scale)
        var divisor = UInt128(divisor)
        for _ in 0..<abs(exponent) {
            let (next, overflow) = (exponent > 0 ? product : divisor).multipliedReportingOverflow(by: 10)
            guard !overflow else { return exponent > 0 ? .max : nil }
            if exponent > 0 { product = next } else { divisor = next }
        }
        let (quotient, rest) = product.quotientAndRemainder(dividingBy: divisor)
        return rest == 0 ? quotient : nil
    }

    /// Returns the factor of a unit of counts: none, k, M or G in lower case. Nil for another.
    package static func scale(ofUnit unit: String) -> UInt64? {
        guard unit.utf8.count <= 1 else { return nil }
        return switch unit {
        case "": 1
        case "k": 1_000
        case "m": 1_000_000
        case "g": 1_000_000_000
        default: nil
        }
    }
}
