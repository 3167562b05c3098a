import UncurlLoad

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

    /// The member of this name in a map; nil for any other value.
    package subscript(_ name: String) -> MessagePack? {
        guard case .map(let pairs) = self else { return nil }
        return pairs.first { $0.key.text?.isSame(as: name) == true }?.value
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The number as a double; nil for any other value.
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

/// Why bytes are not a MessagePack value.
package enum MessagePackError: Error, Hashable, Sendable, CustomStringConvertible {
    case truncated
    case trailingBytes
    case notUTF8
    case tooDeep(limit: Int)
    /// 0xC1, the only byte that begins no value.
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
