public import URLLoading

/// A property list, read.
public indirect enum PropertyListValue: Sendable, Hashable {
    /// A Boolean.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// Beyond ``integer(_:)``.
    case unsigned(UInt64)
    /// A number with a fraction.
    case real(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A point in time.
    case date(Date)
    /// Several values in their order.
    case array([PropertyListValue])
    /// Values with names.
    case dictionary([String: PropertyListValue])

    /// Reads any format.
    public init(reading data: Data) throws {
        if BinaryPropertyList.isOne(data) {
            self = try BinaryPropertyList.value(of: data)
            return
        }
        let text = try TextEncoding.propertyList(data)
        let object = try unsafe PropertyListSerialization.propertyList(from: text, options: [], format: nil)
        self = try Self(object, depth: 0)
    }

    /// A member; nil where there is none, or where this is no dictionary.
    public subscript(name: String) -> PropertyListValue? {
        if case .dictionary(let members) = self { members[name] } else { nil }
    }

    /// An element; nil beyond the ends, or where this is no array.
    public subscript(index: Int) -> PropertyListValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The Boolean; nil for any other value.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number where it fits; nil otherwise.
    public var int64: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The text; nil for any other value.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// As `PropertyListSerialization` gives it.
    public var foundationObject: Any {
        switch self {
        case .bool(let value): value
        case .integer(let value): value
        case .unsigned(let value): value
        case .real(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .array(let elements): elements.map(\.foundationObject)
        case .dictionary(let members): members.mapValues(\.foundationObject)
        }
    }

    private enum Problem: Error {
        case unknown(String)
        case tooDeep
    }

    private init(_ object: Any, depth: Int) throws {
        guard depth <= Parameters.maximumDepth else { throw Problem.tooDeep }
        switch object {
        case let value as String: self = .string(value)
        case let value as Data: self = .data(value)
        case let value as Date: self = .date(value)
        case let value as [Any]: self = .array(try value.map { try Self($0, depth: depth + 1) })
        case let value as [String: Any]: self = .dictionary(try value.mapValues { try Self($0, depth: depth + 1) })
        // Decided by the type: a cast would take 1 for true.
        case let value as Bool where type(of: object) == Bool.self: self = .bool(value)
        case let value as NSNumber: self = Self.number(value)
        default: throw Problem.unknown("\(type(of: object))")
        }
    }

    private static func number(_ value: NSNumber) -> PropertyListValue {
        switch unsafe String(cString: value.objCType) {
        case "d", "f": .real(value.doubleValue)
        case "Q": Int64(exactly: value.uint64Value).map { .integer($0) } ?? .unsigned(value.uint64Value)
        default: .integer(value.int64Value)
        }
    }
}
