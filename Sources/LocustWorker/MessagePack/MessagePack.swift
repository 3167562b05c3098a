import LoadGenerator

/// A MessagePack value, as far as Locust's messages use them.
package enum MessagePack: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    /// Binary, and what an extension holds: nothing here reads either.
    case bytes([UInt8])
    case array([MessagePack])
    /// In the order given; keys may be of any kind.
    case map([Pair])

    package struct Pair: Hashable, Sendable {
        package var key: MessagePack
        package var value: MessagePack

        package init(_ key: MessagePack, _ value: MessagePack) { (self.key, self.value) = (key, value) }
        package init(_ key: String, _ value: MessagePack) { (self.key, self.value) = (.string(key), value) }
    }

    /// The member of a map with this name; nil for anything else.
    package subscript(_ name: String) -> MessagePack? {
        guard case .map(let pairs) = self else { return nil }
        return pairs.first { $0.key == .string(name) }?.value
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }

    /// A number of either kind.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .bytes, .array, .map: nil
        }
    }

    /// A whole number that is not negative.
    package var count: Int? {
        guard let number, number >= 0, number <= 1e15, number == number.rounded() else { return nil }
        return Int(number)
    }
}

/// Why bytes are no MessagePack value.
package enum MessagePackError: Error, Hashable, Sendable, CustomStringConvertible {
    case truncated
    case trailingBytes
    case notUTF8
    case tooDeep(limit: Int)
    /// 0xC1, the only byte that starts no value.
    case unusedByte

    package var description: String {
        switch self {
        case .truncated: "it ends within a value"
        case .trailingBytes: "something follows the value"
        case .notUTF8: "a string is not UTF-8"
        case .tooDeep(let limit): "it is nested more than \(limit) deep"
        case .unusedByte: "a value starts with 0xc1"
        }
    }
}
