internal import Glibc

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
package enum Units {
    /// Returns nanoseconds as `512 ns`, `45.3 µs`, `1.23 ms`, `2 s`, `1.5 min`.
    package static func time(_ nanoseconds: UInt64) -> String { time(Double(nanoseconds)) }

    package static func time(_ nanoseconds: Double) -> String {
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
    package static func bytes(_ count: Double) -> String {
        var amount = count
        for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
            if amount < 1_000 { return "\(threeDigits(amount)) \(unit)" }
            amount /= 1_024
        }
        return threeDigits(amount) + " PiB"
    }

    private static func threeDigits(_ value: Double) -> String {
        let decimals = value == value.rounded() ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        return fixed(value, decimals)
    }
}

/// Returns a count with its noun: `1 request`, `2 requests`.
package func several(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
