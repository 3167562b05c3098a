public import URLLoading

/// A number of a JSON text. Integers are kept exactly, however many digits they have.
@frozen public enum JSONNumber: Sendable, Hashable {
    /// A whole number, with all of its digits.
    case integer(Int64)
    /// Beyond ``integer(_:)``.
    case unsigned(UInt64)
    /// An integer beyond 64 bits, by its digits.
    case digits(String)
    /// What is written with a fraction or an exponent.
    case floating(Double)

    /// Nil where it does not fit exactly.
    public var int64: Int64? {
        switch self {
        case .integer(let value): value
        case .unsigned, .digits: nil
        case .floating(let value): Int64(exactly: value)
        }
    }

    /// Nil where it does not fit exactly.
    public var uint64: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .digits: nil
        case .floating(let value): UInt64(exactly: value)
        }
    }

    /// The nearest.
    public var double: Double {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .digits(let digits): Double(digits) ?? .infinity
        case .floating(let value): value
        }
    }

    /// Exact as far as 38 digits go.
    public var decimal: Decimal {
        switch self {
        case .integer(let value): Decimal(value)
        case .unsigned(let value): Decimal(value)
        case .digits(let digits): Decimal(string: digits) ?? .nan
        // Made of the digits: 0.1 is meant where 0.1 is written.
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
