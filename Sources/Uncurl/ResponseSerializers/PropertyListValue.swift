internal import Foundation
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
        let text = try String.Encoding.propertyList(data)
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

    enum Problem: Error {
        /// An object that is no part of a property list: sets, UIDs and others.
        case unknownObject(UInt8)
        case unknown(String)
        case tooDeep
        case tooManyMarks(limit: Int)
        case truncated
        case invalid(String)
        /// An object contains itself, or objects are shared so often that the list would have more values than its
        /// octets can write, or far more text and data.
        case tooLarge
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

/// Reads a binary property list (`bplist00`). Foundation's reader traps on lists that Foundation would not write.
struct BinaryPropertyList {
    typealias Problem = PropertyListValue.Problem

    private let data: Data
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let table: Int
    /// The number of references that may still be read. It begins with the number of octets: each reference takes at
    /// least one, unless containers are shared or overlap.
    private var budget: Int
    /// The octets of text and data that may still be read. Those that are shared count for each reference: names are
    /// hashed for each, and Foundation's decoder reads them for each.
    private var octetBudget: Int
    /// The texts and data that have been read, by the number of the object, and their length in octets.
    private var known: [Int: (value: PropertyListValue, size: Int)] = [:]

    static func isOne(_ data: Data) -> Bool { data.starts(with: "bplist".utf8) }

    static func value(of data: Data) throws(Problem) -> PropertyListValue {
        guard data.count >= 40 else { throw .truncated }
        // The trailer: five unused octets, the sort version, two sizes, then three numbers of eight octets.
        let start = data.count - 32
        let sizes = (Int(data[data.startIndex + start + 6]), Int(data[data.startIndex + start + 7]))
        var list = BinaryPropertyList(data: data, sizes: sizes)
        let count = try list.number(at: start + 8, size: 8)
        let top = try list.number(at: start + 16, size: 8)
        let table = try list.number(at: start + 24, size: 8)
        guard (1...8).contains(sizes.0), (1...8).contains(sizes.1), count > 0, top < count, table >= 8, table <= start,
            count <= (start - table) / sizes.0
        else { throw .invalid("trailer") }
        list = BinaryPropertyList(data: data, sizes: sizes, count: count, table: table)
        return try list.object(top, depth: 0)
    }

    private init(data: Data, sizes: (Int, Int), count: Int = 0, table: Int = 0) {
        self.data = data
        (offsetSize, referenceSize) = sizes
        self.count = count
        self.table = table
        budget = data.count
        octetBudget = (data.count + (64 << 10)) * 32
    }

    /// A big-endian number. One that does not fit into an `Int` becomes the largest `Int`, which is beyond the end of
    /// any list.
    private func number(at place: Int, size: Int) throws(Problem) -> Int {
        Int(exactly: try bits(at: place, size)) ?? .max
    }

    private func bits(at place: Int, _ size: Int) throws(Problem) -> UInt64 {
        try check(place, size)
        var value: UInt64 = 0
        for index in 0..<size { value = value << 8 | UInt64(data[data.startIndex + place + index]) }
        return value
    }

    private func check(_ place: Int, _ size: Int) throws(Problem) {
        guard place >= 0, size >= 0, place <= data.count, size <= data.count - place else { throw .truncated }
    }

    private mutating func charge(_ size: Int) throws(Problem) {
        octetBudget -= min(size, data.count)
        guard octetBudget >= 0 else { throw .tooLarge }
    }

    private mutating func object(_ index: Int, depth: Int) throws(Problem) -> PropertyListValue {
        guard depth <= Parameters.maximumDepth else { throw .tooDeep }
        if let (value, size) = known[index] {
            try charge(size)
            return value
        }
        guard index < count else { throw .invalid("reference") }
        let place = try number(at: table + index * offsetSize, size: offsetSize)
        guard place < table else { throw .invalid("offset") }
        let marker = UInt8(try number(at: place, size: 1) & 0xFF)
        let low = Int(marker & 15)
        switch marker >> 4 {
        case 0x0 where low == 8 || low == 9: return .bool(low == 9)
        case 0x1: return try integer(at: place + 1, 1 << low)
        case 0x2: return .real(try real(at: place + 1, 1 << low))
        case 0x3 where low == 3:
            let seconds = try real(at: place + 1, 8)
            guard seconds.isFinite else { throw .invalid("date") }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case 0x4...0x7:
            let (first, count) = try length(place, low)
            guard count <= data.count else { throw .truncated }
            let size = marker >> 4 == 0x6 ? count * 2 : count
            try charge(size)
            try check(first, size)
            let start = data.startIndex + first
            let value = try content(marker >> 4, Data(data[start..<start + size]))
            known[index] = (value, size)
            return value
        case 0xA:
            let (first, size) = try length(place, low)
            var elements: [PropertyListValue] = []
            for reference in try references(at: first, size) {
                elements.append(try object(reference, depth: depth + 1))
            }
            return .array(elements)
        case 0xD:
            let (first, size) = try length(place, low)
            guard size <= data.count else { throw .truncated }
            let names = try references(at: first, size)
            let values = try references(at: first + size * referenceSize, size)
            var members: [String: PropertyListValue] = [:]
            for (name, value) in zip(names, values) {
                guard case .string(let key) = try object(name, depth: depth + 1), !MarkRun.isTooLong(in: key) else {
                    throw .invalid("key")
                }
                members[key] = try object(value, depth: depth + 1)
            }
            return .dictionary(members)
        default: throw .unknownObject(marker)
        }
    }

    /// The length of an object. Fifteen means that an integer follows.
    private func length(_ place: Int, _ low: Int) throws(Problem) -> (first: Int, count: Int) {
        guard low == 15 else { return (place + 1, low) }
        let marker = try number(at: place + 1, size: 1)
        guard marker >> 4 == 1, marker & 15 <= 3 else { throw .invalid("length") }
        let size = 1 << (marker & 15)
        return (place + 2 + size, try number(at: place + 2, size: size))
    }

    private mutating func references(at place: Int, _ count: Int) throws(Problem) -> [Int] {
        guard count <= data.count else { throw .truncated }
        budget -= count
        guard budget >= 0 else { throw .tooLarge }
        try check(place, count * referenceSize)
        var references: [Int] = []
        references.reserveCapacity(count)
        for index in 0..<count {
            references.append(try number(at: place + index * referenceSize, size: referenceSize))
        }
        return references
    }

    /// An integer of up to four octets has no sign, one of eight octets has one. Sixteen octets hold numbers beyond 63
    /// bits.
    private func integer(at place: Int, _ size: Int) throws(Problem) -> PropertyListValue {
        guard size <= 16 else { throw .invalid("integer") }
        let value = try bits(at: place, size)
        if size < 8 { return .integer(Int64(truncatingIfNeeded: value)) }
        if size == 8 || value <= Int64.max { return .integer(Int64(truncatingIfNeeded: value)) }
        return .unsigned(value)
    }

    private func real(at place: Int, _ size: Int) throws(Problem) -> Double {
        let bits = try bits(at: place, size)
        switch size {
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 8: return Double(bitPattern: bits)
        default: throw .invalid("real")
        }
    }

    private func content(_ kind: UInt8, _ octets: Data) throws(Problem) -> PropertyListValue {
        if kind == 0x4 { return .data(octets) }
        let encoding: String.Encoding = kind == 0x5 ? .ascii : kind == 0x6 ? .utf16BigEndian : .utf8
        guard let text = encoding.text(octets) else { throw .invalid("string") }
        return .string(text)
    }
}
