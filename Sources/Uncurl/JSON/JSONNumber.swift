public import URLLoading

/// A number of a JSON text. Integers are exact, however many digits they have.
@frozen public enum JSONNumber: Sendable, Hashable {
    /// An integer that fits 64 bits with a sign.
    case integer(Int64)
    /// A positive integer that fits only 64 bits without a sign.
    case unsigned(UInt64)
    /// An integer beyond 64 bits, as its digits.
    case digits(String)
    /// A number with a fraction or an exponent.
    case floating(Double)

    /// The number as `Int64`; nil where it does not fit exactly.
    public var int64: Int64? {
        switch self {
        case .integer(let value): value
        case .unsigned, .digits: nil
        case .floating(let value): Int64(exactly: value)
        }
    }

    /// The number as `UInt64`; nil where it does not fit exactly.
    public var uint64: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .digits: nil
        case .floating(let value): UInt64(exactly: value)
        }
    }

    /// The nearest double.
    public var double: Double {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .digits(let digits): Double(digits) ?? .infinity
        case .floating(let value): value
        }
    }

    /// The number as a decimal, exact for up to 38 digits.
    public var decimal: Decimal {
        switch self {
        case .integer(let value): Decimal(value)
        case .unsigned(let value): Decimal(value)
        case .digits(let digits): Decimal(string: digits) ?? .nan
        // Made from the shortest digits: 0.1 stays 0.1.
        case .floating(let value): Decimal(string: value.description) ?? .nan
        }
    }

    var foundationObject: NSNumber {
        switch self {
        case .integer(let value): NSNumber(value: value)
        case .unsigned(let value): NSNumber(value: value)
        case .digits: NSDecimalNumber(decimal: decimal)
        case .floating(let value): NSNumber(value: value)
        }
    }
}

extension JSONNumber: CustomStringConvertible {
    public var description: String {
        switch self {
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .digits(let digits): digits
        case .floating(let value): value.description
        }
    }
}
