public import URLLoading
internal import UncurlText

/// How names are spelled. `Encodable` types have names in Swift's style; servers often want another one.
@frozen public enum KeyStyle: Sendable {
    /// As the program names it.
    case asGiven
    /// `userName` becomes `user_name`, `homeURL` becomes `home_url`.
    case snakeCase
    /// `userName` becomes `user-name`.
    case kebabCase
    /// `userName` becomes `UserName`.
    case capitalized
    /// `userName` becomes `USERNAME`.
    case uppercased
    /// `userName` becomes `username`.
    case lowercased
    /// The closure spells the name.
    case custom(@Sendable (String) -> String)

    /// The name in this style.
    public func spelled(_ name: String) -> String {
        switch self {
        case .asGiven: name
        case .snakeCase: Self.words(name).joined(separator: "_")
        case .kebabCase: Self.words(name).joined(separator: "-")
        case .capitalized: name.prefix(1).uppercased() + name.dropFirst()
        case .uppercased: name.uppercased()
        case .lowercased: name.lowercased()
        case .custom(let spelling): spelling(name)
        }
    }

    /// The words of a name in lower case. A word begins at a capital after a non-capital, and at the last of
    /// several capitals before a small letter: `myURLText` is my, url, text.
    private static func words(_ name: String) -> [String] {
        let letters = Array(name)
        var words: [String] = []
        var start = 0
        for index in letters.indices.dropFirst() where letters[index].isUppercase {
            let isAfterSmall = !letters[index - 1].isUppercase
            let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
            guard isAfterSmall || isBeforeSmall else { continue }
            words.append(String(letters[start..<index]).lowercased())
            start = index
        }
        return words + [String(letters[start...]).lowercased()]
    }
}

/// How a date becomes text, or a number in JSON.
@frozen public enum DateStyle: Sendable {
    /// `2001-01-01T00:00:00Z`, in whole seconds, because many parsers refuse a fraction.
    case iso8601
    /// `2001-01-01 00:00:00 +0000`
    case description
    /// Seconds since 2001.
    case secondsSinceReferenceDate
    /// Seconds since 1970, with a fraction where there is one.
    case secondsSince1970
    /// Milliseconds since 1970, with a fraction where there is one.
    case millisecondsSince1970
    /// The closure writes the date. What it throws becomes a ``ParameterFailure``.
    case formatted(@Sendable (Date) throws -> String)

    /// The text or the number that is written for a date.
    ///
    /// - Parameter path: the position of the date, for the error.
    func value(of date: Date, at path: @autoclosure () -> String) throws(ParameterFailure) -> Parameters {
        let seconds = date.timeIntervalSince1970
        guard seconds.isFinite else { throw ParameterFailure(.notFinite(path: path(), seconds)) }
        switch self {
        case .iso8601:
            // RFC 3339 has years of four digits, and calendars trap on other years.
            guard Self.yearsOfFourDigits.contains(seconds) else {
                throw ParameterFailure(
                    .notExpressible(path: path(), kind: "a date beyond year 9999", format: "ISO 8601")
                )
            }
            return .string(date.formatted(.iso8601))
        case .description:
            guard Self.yearsOfFourDigits.contains(seconds) else {
                throw ParameterFailure(
                    .notExpressible(path: path(), kind: "a date beyond year 9999", format: "the calendar")
                )
            }
            return .string(date.description)
        case .secondsSinceReferenceDate: return .double(date.timeIntervalSinceReferenceDate)
        case .secondsSince1970: return .double(seconds)
        case .millisecondsSince1970:
            guard (seconds * 1000).isFinite else { throw ParameterFailure(.notFinite(path: path(), seconds)) }
            return .double(seconds * 1000)
        case .formatted(let format):
            return .string(try ParameterFailure.wrapping { try format(date) })
        }
    }

    /// From the year 1 to the year 9999.
    private static let yearsOfFourDigits = -62_135_596_800.0..<253_402_300_800.0
}

/// How bytes become text.
@frozen public enum DataStyle: Sendable {
    /// Base64 (RFC 4648 §4).
    case base64
    /// Two hexadecimal digits per octet.
    case hexadecimal
    /// The closure writes the bytes. What it throws becomes a ``ParameterFailure``.
    case formatted(@Sendable (Data) throws -> String)

    func text(_ data: Data) throws(ParameterFailure) -> String {
        switch self {
        case .base64: return data.base64EncodedString()
        case .hexadecimal: return hexText(data)
        case .formatted(let format): return try ParameterFailure.wrapping { try format(data) }
        }
    }
}

extension Double {
    /// How every format writes the number: the shortest digits that read back as the same number. Integers have no
    /// fraction. Nil for a number that is not finite.
    var shortestText: String? {
        guard isFinite else { return nil }
        // Up to 2^53 every integer is a double; beyond it, the form with an exponent is shorter. -0 keeps its sign.
        guard let whole = Int64(exactly: self), whole.magnitude <= 1 << 53, whole != 0 || sign == .plus else {
            return description
        }
        return String(whole)
    }
}
