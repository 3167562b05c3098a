public import URLLoading

/// A tree of values that a request is about, before it becomes a query, a form or a document.
///
/// Written as literals, or made of anything `Encodable` by ``init(encoding:)``:
/// ```swift
/// let parameters: Parameters = ["name": "bang", "families": ["father", "mother"], "page": 2]
/// ```
/// How its leaves become text is decided where it is written: by ``QueryEncoding`` and by the serializers.
public indirect enum Parameters: Sendable, Hashable {
    /// No value. Serializers write it as `null`, a bare name, or not at all.
    case null
    /// A Boolean.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// What is beyond ``integer(_:)``.
    case unsigned(UInt64)
    /// A number with a fraction. One that is not finite is a ``ParameterFailure`` when it is written.
    case double(Double)
    /// A decimal number, written with all of its digits.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// Bytes, written as the serializer's ``DataStyle`` says.
    case data(Data)
    /// A point in time, written as the serializer's ``DateStyle`` says.
    case date(Date)
    /// Several values in their order.
    case array([Parameters])
    /// An array whose order means nothing; written in a stable one.
    case set([Parameters])
    /// Values with names.
    case keyed(KeyedParameters)

    /// No parameters, which is not the same as none given.
    public static var empty: Parameters { .keyed(KeyedParameters()) }

    /// Values with names, of a dictionary.
    public init(_ fields: [String: Parameters]) {
        self = .keyed(KeyedParameters(fields))
    }

    /// The value of a key; setting nil removes the key. Nil where this is not keyed, and setting makes it so.
    public subscript(key: String) -> Parameters? {
        get {
            switch self {
            case .keyed(let fields): fields[key]
            case .null, .bool, .integer, .unsigned, .double, .decimal, .string, .data, .date, .array, .set: nil
            }
        }
        set {
            switch self {
            case .keyed(var fields):
                fields[key] = newValue
                self = .keyed(fields)
            case .null, .bool, .integer, .unsigned, .double, .decimal, .string, .data, .date, .array, .set:
                guard let newValue else { return }
                self = .keyed([key: newValue])
            }
        }
    }

    /// Whether these are keyed and there are none of them.
    public var isEmpty: Bool {
        switch self {
        case .keyed(let fields): fields.isEmpty
        case .null, .bool, .integer, .unsigned, .double, .decimal, .string, .data, .date, .array, .set: false
        }
    }

    /// How deep a tree may be nested. Trees are walked by recursion, and 512 levels take a tenth of the smallest
    /// stack that a thread has here; the parsers of the servers that read them give up at the same number or before.
    public static let maximumDepth = 512
}

extension Parameters: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: Parameters...) { self = .array(elements) }

    /// Of two values with one key the last counts.
    public init(dictionaryLiteral elements: (String, Parameters)...) {
        var fields = KeyedParameters()
        for (key, value) in elements { fields[key] = value }
        self = .keyed(fields)
    }
}
