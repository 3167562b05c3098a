public import URLLoading
internal import UncurlText

/// The value of a property list.
public indirect enum PropertyListValue: Sendable, Hashable {
    /// A Boolean.
    case bool(Bool)
    /// An integer that fits 64 bits with a sign.
    case integer(Int64)
    /// A larger integer, which fits 64 bits without a sign.
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

    /// Reads a property list in any format. More than 128 combining marks in a row are refused: in a textual list
    /// everywhere, in a binary one in the names of a dictionary.
    public init(reading data: Data) throws {
        if BinaryPropertyList.isOne(data) {
            self = try BinaryPropertyList.value(of: data)
            return
        }
        let text = try TextEncoding.propertyList(data)
        guard !MarkRun.isTooLong(inText: text.span) else { throw Problem.tooManyMarks(limit: MarkRun.limit) }
        let object = try unsafe PropertyListSerialization.propertyList(from: text, options: [], format: nil)
        self = try Self(object, depth: 0)
    }

    /// The member of this name; nil where there is none or where this is no dictionary.
    public subscript(name: String) -> PropertyListValue? {
        if case .dictionary(let members) = self { members[name] } else { nil }
    }

    /// The element at this index; nil outside the array or where this is no array.
    public subscript(index: Int) -> PropertyListValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The Boolean; nil for any other value.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer; nil where it does not fit, and for any other value.
    public var int64: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The text; nil for any other value.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The value as `PropertyListSerialization` returns it.
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
        case tooManyMarks(limit: Int)
    }

    private init(_ object: Any, depth: Int) throws {
        guard depth <= Parameters.maximumDepth else { throw Problem.tooDeep }
        switch object {
        case let value as String: self = .string(value)
        case let value as Data: self = .data(value)
        case let value as Date: self = .date(value)
        case let value as [Any]: self = .array(try value.map { try Self($0, depth: depth + 1) })
        case let value as [String: Any]: self = .dictionary(try value.mapValues { try Self($0, depth: depth + 1) })
        // Decided by the type: a cast would convert 1 to true.
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
