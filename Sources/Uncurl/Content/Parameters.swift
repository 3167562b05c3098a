public import URLLoading

/// A tree of values for a request, which a serializer writes as a query, a form or a document.
///
/// Parameters are written as literals, or made of an `Encodable` value by ``init(encoding:)``:
/// ```swift
/// let parameters: Parameters = ["name": "bang", "families": ["father", "mother"], "page": 2]
/// ```
/// The text of a leaf is decided when it is written: by ``QueryEncoding`` or by the serializer.
public indirect enum Parameters: Sendable, Hashable {
    /// No value. Serializers write it as `null` or as a bare name, or omit it.
    case null
    /// A Boolean.
    case bool(Bool)
    /// An integer that fits 64 bits with a sign.
    case integer(Int64)
    /// A larger integer, which fits 64 bits without a sign.
    case unsigned(UInt64)
    /// A number with a fraction. A number that is not finite is a ``ParameterFailure`` when it is written.
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
    /// An array whose order has no meaning. It is written in a stable order.
    case set([Parameters])
    /// Values with names.
    case keyed(KeyedParameters)

    /// Parameters without entries. That differs from no parameters at all.
    public static var empty: Parameters { .keyed(KeyedParameters()) }

    /// Values with names, from a dictionary.
    public init(_ fields: [String: Parameters]) {
        self = .keyed(KeyedParameters(fields))
    }

    /// The value of a name. Setting nil removes the name. Parameters without names return nil, and setting a value
    /// makes them keyed.
    public subscript(key: String) -> Parameters? {
        get {
            if case .keyed(let fields) = self { fields[key] } else { nil }
        }
        set {
            if case .keyed(var fields) = self {
                fields[key] = newValue
                self = .keyed(fields)
            } else if let newValue {
                self = .keyed([key: newValue])
            }
        }
    }

    /// Whether these are keyed parameters without entries.
    public var isEmpty: Bool {
        if case .keyed(let fields) = self { fields.isEmpty } else { false }
    }

    /// The limit of nesting. Trees are walked by recursion, and 512 levels take a tenth of the smallest stack that a
    /// thread has here. The parsers of servers stop at this number or earlier.
    public static let maximumDepth = 512

    static func check(depth: Int) throws(ParameterFailure) {
        guard depth <= maximumDepth else { throw ParameterFailure(.tooDeep(limit: maximumDepth)) }
    }
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

    /// Of several values with one name, the last one counts.
    public init(dictionaryLiteral elements: (String, Parameters)...) {
        var fields = KeyedParameters()
        for (key, value) in elements { fields[key] = value }
        self = .keyed(fields)
    }
}

extension Parameters {
    /// The parameters as parts of a multipart form. Names follow the rules of a query, without escapes. Bytes stay
    /// bytes, null is an empty part (unless ``QueryEncoding/nulls`` omits it), and any other value is text.
    public func formParts(
        _ rules: QueryEncoding = QueryEncoding(),
        stringEncoding: String.Encoding = .utf8
    ) throws(ParameterFailure) -> [(name: String, value: Data)] {
        var parts: [(name: String, value: Data)] = []
        for leaf in try rules.leaves(self) {
            switch leaf.value {
            case .data(let data): parts.append((leaf.name, data))
            case .null:
                if case .omitted = rules.nulls { continue }
                parts.append((leaf.name, Data()))
            case .bool, .integer, .unsigned, .double, .decimal, .string, .date, .array, .set, .keyed:
                guard let data = try rules.text(of: leaf).data(using: stringEncoding) else {
                    throw ParameterFailure(.notInEncoding(stringEncoding))
                }
                parts.append((leaf.name, data))
            }
        }
        return parts
    }
}

extension Parameters: CustomStringConvertible {
    /// The parameters as a literal in one line. A secret, such as the value of `access_token`, is shown as `…`.
    public var description: String {
        switch self {
        case .null: "nil"
        case .string(let text): text.debugDescription
        default: Mirror(reflecting: self).children.first.map { "\($0.value)" } ?? ""
        }
    }
}

extension KeyedParameters: CustomStringConvertible {
    public var description: String {
        let members = map { "\($0.name.debugDescription): \($0.name.namesSecret ? "…" : "\($0.value)")" }
        return "[\(members.isEmpty ? ":" : members.joined(separator: ", "))]"
    }
}

/// Parameters can be encoded by any encoder. The encoder's own strategies write decimals, dates and bytes; sets become
/// arrays.
extension Parameters: Encodable {
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try value.encode(to: encoder)
        case .integer(let value): try value.encode(to: encoder)
        case .unsigned(let value): try value.encode(to: encoder)
        case .double(let value): try value.encode(to: encoder)
        case .string(let value): try value.encode(to: encoder)
        // Encoded through a container, because encoders know these three types.
        case .decimal(let value): try Self.encode(value, to: encoder)
        case .data(let value): try Self.encode(value, to: encoder)
        case .date(let value): try Self.encode(value, to: encoder)
        case .array(let elements), .set(let elements):
            try Parameters.check(depth: encoder.codingPath.count)
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .keyed(let fields):
            try Parameters.check(depth: encoder.codingPath.count)
            var container = encoder.container(keyedBy: ParameterKey.self)
            for (name, value) in fields { try container.encode(value, forKey: ParameterKey(name)) }
        }
    }

    private static func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// Parameters with names, in the given order. Those of a `Dictionary`, which has no order, are sorted by name.
public struct KeyedParameters: Sendable {
    private var values: [String: Parameters] = [:]
    private var names: [String] = []

    /// No parameters.
    public init() {}

    /// The parameters of a dictionary.
    public init(_ fields: [String: Parameters]) {
        values = fields
        names = fields.keys.sorted()
    }

    /// Whether there is no parameter.
    public var isEmpty: Bool { values.isEmpty }
    /// The number of names.
    public var count: Int { values.count }

    /// The value of a name. Setting nil removes the name; a name that is set again keeps its position.
    public subscript(name: String) -> Parameters? {
        get { values[name] }
        set {
            let isNew = values[name] == nil
            values[name] = newValue
            if isNew, newValue != nil {
                names.append(name)
            } else if !isNew, newValue == nil {
                names.removeAll { $0 == name }
            }
        }
    }
}

extension KeyedParameters: Sequence {
    public func makeIterator() -> AnyIterator<(name: String, value: Parameters)> {
        var names = names.makeIterator()
        return AnyIterator {
            guard let name = names.next(), let value = values[name] else { return nil }
            return (name, value)
        }
    }
}

/// Two values are equal if they have the same names with the same values, in any order.
extension KeyedParameters: Hashable {
    public static func == (left: KeyedParameters, right: KeyedParameters) -> Bool { left.values == right.values }
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension KeyedParameters: ExpressibleByDictionaryLiteral {
    /// Of several values with one name, the last one counts.
    public init(dictionaryLiteral elements: (String, Parameters)...) {
        for (name, value) in elements { self[name] = value }
    }
}

extension Parameters {
    /// Makes parameters of Foundation's objects, such as the results of `JSONSerialization` and
    /// `PropertyListSerialization`, or a `[String: Any]`. The names of dictionaries are sorted. A nil is null.
    ///
    /// - Throws: ``ParameterFailure`` for an object of another kind, with its position, and for nesting beyond the
    ///   limit.
    public init(foundationObject object: Any) throws(ParameterFailure) {
        self = try Self.value(of: object, at: "", depth: 0)
    }

    private static func value(of object: Any, at path: String, depth: Int) throws(ParameterFailure) -> Parameters {
        try check(depth: depth)
        switch object {
        case let value as Parameters: return value
        case let value as any PossiblyNil:
            return try value.content.map { content throws(ParameterFailure) in
                try self.value(of: content, at: path, depth: depth)
            } ?? .null
        case let value as String: return .string(value)
        // Decided by the type: a cast would convert 1 to true.
        case let value as Bool where type(of: object) == Bool.self: return .bool(value)
        case let value as any FixedWidthInteger where !(object is NSNumber): return Parameters(value)
        case let value as Decimal where type(of: object) == Decimal.self: return .decimal(value)
        case let value as NSDecimalNumber: return .decimal(value.decimalValue)
        case let value as NSNumber: return number(value)
        case let value as Data: return .data(value)
        case let value as Date: return .date(value)
        case let value as URL: return .string(value.absoluteString)
        case is NSNull: return .null
        case let values as [String: Any]:
            var fields = KeyedParameters()
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                fields[name] = try self.value(of: value, at: path.isEmpty ? name : "\(path).\(name)", depth: depth + 1)
            }
            return .keyed(fields)
        case let values as Set<AnyHashable>: return .set(try elements(of: values.map(\.base), at: path, depth: depth))
        case let values as [Any]: return .array(try elements(of: values, at: path, depth: depth))
        default:
            throw ParameterFailure(.notExpressible(path: path, kind: "\(type(of: object))", format: "a request"))
        }
    }

    private static func elements(
        of objects: [Any],
        at path: String,
        depth: Int
    ) throws(ParameterFailure) -> [Parameters] {
        var values: [Parameters] = []
        for (index, object) in objects.enumerated() {
            values.append(try value(of: object, at: "\(path)[\(index)]", depth: depth + 1))
        }
        return values
    }

    private static func number(_ number: NSNumber) -> Parameters {
        switch unsafe String(cString: number.objCType) {
        case "d": .double(number.doubleValue)
        case "f": Parameters(number.floatValue)
        case "Q": Parameters(number.uint64Value)
        // Foundation has only two Boolean objects.
        case "c",
            "B" where number === NSNumber(value: true) || number === NSNumber(value: false):
            .bool(number.boolValue)
        default: .integer(number.int64Value)
        }
    }
}

/// Marks `Optional`: a dictionary of anything may have optional values.
private protocol PossiblyNil {
    var content: Any? { get }
}

extension Optional: PossiblyNil {
    fileprivate var content: Any? { self }
}

/// Why parameters or header fields cannot be put into a request. Nothing has been sent.
public struct ParameterFailure: Error, Sendable {
    /// Why the parameters cannot be written.
    @frozen public enum Reason: Sendable {
        /// The parameters have no names. A query or a form needs names, which an array or a single value does not have.
        case notKeyed
        /// A number is infinite or not a number.
        case notFinite(path: String, Double)
        /// The format cannot express the value: a property list has no null, for example.
        case notExpressible(path: String, kind: String, format: String)
        /// The parameters are nested deeper than ``Parameters/maximumDepth``.
        case tooDeep(limit: Int)
        /// The text has characters that the chosen encoding does not have.
        case notInEncoding(String.Encoding)
        /// The name of a header field is no token (RFC 9110 §5.1).
        case headerName(String)
        /// The value of a header field has CR, LF, NUL or another control character (RFC 9110 §5.5).
        case headerValue(name: String)
        /// The user name has a colon, which Basic credentials cannot express (RFC 7617 §2).
        case colonInUserName
        /// The request has no URL, or its URL's query cannot be changed.
        case noURL
        /// `encode(to:)` of a value, an encoder, or a custom query or style threw.
        case thrown(any Error)
    }

    /// Why the parameters cannot be written.
    public let reason: Reason
    /// The request as far as it was made.
    public let request: URLRequest?

    /// A failure that carries its request, for a serializer of the program's own.
    public init(_ reason: Reason, request: URLRequest? = nil) {
        self.reason = reason
        self.request = request
    }

    /// Wraps what the program's own code throws in a failure of this type.
    static func wrapping<Value>(_ body: () throws -> Value) throws(ParameterFailure) -> Value {
        do {
            return try body()
        } catch let failure as ParameterFailure {
            throw failure
        } catch {
            throw ParameterFailure(.thrown(error))
        }
    }

    func about(_ request: URLRequest) -> ParameterFailure { ParameterFailure(reason, request: request) }
}

extension ParameterFailure: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch reason {
        case .notKeyed: "parameters without names make neither a query nor a form"
        case .notFinite(let path, let number): "\(Self.place(path)) is \(number), for which there is no text"
        case .notExpressible(let path, let kind, let format):
            "\(Self.place(path)) is \(kind), which \(format) cannot express"
        case .tooDeep(let limit): "parameters are nested deeper than \(limit) levels"
        case .notInEncoding(let encoding): "the parameters have characters that \(encoding) lacks"
        case .headerName(let name): "\(name.debugDescription) is not a valid name of a header field"
        case .headerValue(let name): "the value of header field \(name) has control characters in it"
        case .colonInUserName: "a user name with a colon cannot be sent as Basic credentials"
        case .noURL: "the request has no URL that could carry a query"
        case .thrown(let error): "the parameters could not be encoded: \(error)"
        }
    }

    public var errorDescription: String? { description }

    private static func place(_ path: String) -> String { path.isEmpty ? "the parameter" : "parameter \(path)" }
}

/// The failure as an `NSError` with AFNetworking's domain, code and key.
extension ParameterFailure: CustomNSError {
    public static var errorDomain: String { "com.alamofire.error.serialization.request" }

    /// `cannotDecodeContentData` (-1016).
    public var errorCode: Int { URLError.cannotDecodeContentData.rawValue }

    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: description,
        ]
        if let request { info["com.alamofire.serialization.request.error.response"] = request }
        if case .thrown(let error) = reason { info[NSUnderlyingErrorKey] = error as NSError }
        return info
    }
}
