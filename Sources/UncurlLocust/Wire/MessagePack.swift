package import UncurlLoad

/// A MessagePack value, with the types that Locust's messages use.
package enum MessagePack: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    /// Binary data or the data of an extension, neither of which is interpreted.
    case bytes([UInt8])
    case array([MessagePack])
    /// Pairs in the given order. Keys may be of any type.
    case map([Pair])

    package struct Pair: Hashable, Sendable {
        package var key: MessagePack
        package var value: MessagePack

        package init(_ key: MessagePack, _ value: MessagePack) { (self.key, self.value) = (key, value) }
        package init(_ key: String, _ value: MessagePack) { (self.key, self.value) = (.string(key), value) }
    }

    static func map(_ members: KeyValuePairs<String, MessagePack>) -> MessagePack {
        .map(members.map { Pair($0.key, $0.value) })
    }

    /// The member of this name in a map; nil for any other value.
    package subscript(_ name: String) -> MessagePack? {
        guard case .map(let pairs) = self else { return nil }
        return pairs.first { $0.key.text?.isSame(as: name) == true }?.value
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }

    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .bytes, .array, .map: nil
        }
    }

    /// An integer that is not negative; nil for any other value.
    package var count: Int? {
        guard let number, number >= 0, number <= 1e15, number == number.rounded() else { return nil }
        return Int(number)
    }
}

extension MessagePack {
    /// The limit of nesting. A master's messages have five levels.
    static let depthLimit = 32

    package init(decoding bytes: [UInt8]) throws(UsageError) {
        var rest = bytes[...]
        self = try Self.value(&rest, depth: 0)
        guard rest.isEmpty else { throw .unreadable("something follows the value") }
    }

    private static func value(_ rest: inout ArraySlice<UInt8>, depth: Int) throws(UsageError) -> MessagePack {
        guard depth < depthLimit else { throw .unreadable("it is nested more than \(depthLimit) deep") }
        let lead = UInt8(try unsigned(&rest, 1))
        switch lead {
        case 0x00...0x7F: return .integer(Int64(lead))
        case 0x80...0x8F: return try map(&rest, Int(lead & 0x0F), depth)
        case 0x90...0x9F: return try array(&rest, Int(lead & 0x0F), depth)
        case 0xA0...0xBF: return try string(&rest, Int(lead & 0x1F))
        case 0xC0: return .null
        case 0xC1: throw .unreadable("a value starts with 0xc1")
        case 0xC2: return .bool(false)
        case 0xC3: return .bool(true)
        case 0xC4, 0xC5, 0xC6: return .bytes(try take(&rest, try length(&rest, 1 << (lead - 0xC4))))
        case 0xC7, 0xC8, 0xC9: return try ext(&rest, try length(&rest, 1 << (lead - 0xC7)))
        case 0xCA: return .number(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try unsigned(&rest, 4)))))
        case 0xCB: return .number(Double(bitPattern: try unsigned(&rest, 8)))
        case 0xCC...0xCF:
            let value = try unsigned(&rest, 1 << (lead - 0xCC))
            return Int64(exactly: value).map { .integer($0) } ?? .number(Double(value))
        case 0xD0: return .integer(Int64(Int8(truncatingIfNeeded: try unsigned(&rest, 1))))
        case 0xD1: return .integer(Int64(Int16(truncatingIfNeeded: try unsigned(&rest, 2))))
        case 0xD2: return .integer(Int64(Int32(truncatingIfNeeded: try unsigned(&rest, 4))))
        case 0xD3: return .integer(Int64(bitPattern: try unsigned(&rest, 8)))
        case 0xD4...0xD8: return try ext(&rest, 1 << (lead - 0xD4))
        case 0xD9, 0xDA, 0xDB: return try string(&rest, try length(&rest, 1 << (lead - 0xD9)))
        case 0xDC, 0xDD: return try array(&rest, try length(&rest, 2 << (lead - 0xDC)), depth)
        case 0xDE, 0xDF: return try map(&rest, try length(&rest, 2 << (lead - 0xDE)), depth)
        default: return .integer(Int64(Int8(bitPattern: lead)))
        }
    }

    private static func unsigned(_ rest: inout ArraySlice<UInt8>, _ width: Int) throws(UsageError) -> UInt64 {
        try take(&rest, width).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func length(_ rest: inout ArraySlice<UInt8>, _ width: Int) throws(UsageError) -> Int {
        Int(try unsigned(&rest, width))
    }

    private static func take(_ rest: inout ArraySlice<UInt8>, _ count: Int) throws(UsageError) -> [UInt8] {
        guard rest.count >= count else { throw .unreadable("it ends within a value") }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private static func string(_ rest: inout ArraySlice<UInt8>, _ count: Int) throws(UsageError) -> MessagePack {
        guard let text = String(validating: try take(&rest, count), as: UTF8.self) else {
            throw .unreadable("a string is not UTF-8")
        }
        return .string(text)
    }

    private static func ext(_ rest: inout ArraySlice<UInt8>, _ count: Int) throws(UsageError) -> MessagePack {
        _ = try unsigned(&rest, 1)
        return .bytes(try take(&rest, count))
    }

    /// Reserves no memory for a count that the peer chose: each element takes at least one byte.
    private static func array(
        _ rest: inout ArraySlice<UInt8>,
        _ count: Int,
        _ depth: Int
    ) throws(UsageError) -> MessagePack {
        var values: [MessagePack] = []
        for _ in 0..<count { values.append(try value(&rest, depth: depth + 1)) }
        return .array(values)
    }

    private static func map(
        _ rest: inout ArraySlice<UInt8>,
        _ count: Int,
        _ depth: Int
    ) throws(UsageError) -> MessagePack {
        var pairs: [Pair] = []
        for _ in 0..<count {
            let key = try value(&rest, depth: depth + 1)
            pairs.append(Pair(key, try value(&rest, depth: depth + 1)))
        }
        return .map(pairs)
    }
}

extension MessagePack {
    /// The value in its shortest form.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(0xC0)
        case .bool(let value): bytes.append(value ? 0xC3 : 0xC2)
        case .integer(let value): Self.append(value, to: &bytes)
        case .number(let value):
            Self.append(0xCB, value.bitPattern, width: 8, to: &bytes)
        case .string(let text):
            Self.append(count: text.utf8.count, few: 0xA0, below: 32, [1: 0xD9, 2: 0xDA, 4: 0xDB], to: &bytes)
            bytes += text.utf8
        case .bytes(let content):
            Self.append(count: content.count, few: 0, below: 0, [1: 0xC4, 2: 0xC5, 4: 0xC6], to: &bytes)
            bytes += content
        case .array(let values):
            Self.append(count: values.count, few: 0x90, below: 16, [2: 0xDC, 4: 0xDD], to: &bytes)
            for value in values { value.append(to: &bytes) }
        case .map(let pairs):
            Self.append(count: pairs.count, few: 0x80, below: 16, [2: 0xDE, 4: 0xDF], to: &bytes)
            for pair in pairs {
                pair.key.append(to: &bytes)
                pair.value.append(to: &bytes)
            }
        }
    }

    private static func append(_ value: Int64, to bytes: inout [UInt8]) {
        switch value {
        case 0...0x7F: bytes.append(UInt8(value))
        case -32..<0: bytes.append(UInt8(bitPattern: Int8(value)))
        case 0...0xFF: append(0xCC, UInt64(value), width: 1, to: &bytes)
        case 0...0xFFFF: append(0xCD, UInt64(value), width: 2, to: &bytes)
        case 0...0xFFFF_FFFF: append(0xCE, UInt64(value), width: 4, to: &bytes)
        case 0...Int64.max: append(0xCF, UInt64(value), width: 8, to: &bytes)
        default: append(0xD3, UInt64(bitPattern: value), width: 8, to: &bytes)
        }
    }

    /// Appends a count within the byte `few`, if it is below the limit of that form, or behind the lead of the least
    /// width in bytes that has room for it.
    private static func append(
        count: Int,
        few: UInt8,
        below limit: Int,
        _ leads: KeyValuePairs<Int, UInt8>,
        to bytes: inout [UInt8]
    ) {
        guard count >= limit else { return bytes.append(few | UInt8(count)) }
        let (width, lead) = leads.first { count < 1 << (8 * $0.key) } ?? leads[leads.count - 1]
        append(lead, UInt64(UInt32(clamping: count)), width: width, to: &bytes)
    }

    private static func append(_ lead: UInt8, _ value: UInt64, width: Int, to bytes: inout [UInt8]) {
        bytes.append(lead)
        bytes += bigEndian(value, width: width)
    }
}
