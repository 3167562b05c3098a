/// A JSON text, read. Compared by meaning: the order of an object's members does not count.
public indirect enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

/// A number of a JSON text. Integers are kept exactly, however many digits they have.
public enum JSONNumber: Sendable, Hashable {
    case integer(Int64)
    /// Beyond ``integer(_:)``.
    case unsigned(UInt64)
    /// An integer beyond 64 bits, by its digits.
    case digits(String)
    /// What is written with a fraction or an exponent.
    case floating(Double)
}
