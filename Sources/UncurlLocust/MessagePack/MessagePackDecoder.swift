import UncurlLoad

extension MessagePack {
    /// The limit of nesting. A master's messages have five levels.
    static let depthLimit = 32

    /// Decodes exactly one value.
    package init(decoding bytes: [UInt8]) throws(MessagePackError) {
        var decoder = Decoder(bytes)
        self = try decoder.value(depth: 0)
        guard decoder.isAtEnd else { throw .trailingBytes }
    }

    private struct Decoder {
        private let bytes: [UInt8]
        private var position = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { position == bytes.count }

        mutating func value(depth: Int) throws(MessagePackError) -> MessagePack {
            guard depth < depthLimit else { throw .tooDeep(limit: depthLimit) }
            let lead = UInt8(try unsigned(1))
            switch lead {
            case 0x00...0x7F: return .integer(Int64(lead))
            case 0x80...0x8F: return try map(Int(lead & 0x0F), depth)
            case 0x90...0x9F: return try array(Int(lead & 0x0F), depth)
            case 0xA0...0xBF: return try string(Int(lead & 0x1F))
            case 0xC0: return .null
            case 0xC1: throw .unusedByte
            case 0xC2: return .bool(false)
            case 0xC3: return .bool(true)
            case 0xC4, 0xC5, 0xC6: return .bytes(try take(try length(1 << (lead - 0xC4))))
            case 0xC7, 0xC8, 0xC9: return try ext(try length(1 << (lead - 0xC7)))
            case 0xCA: return .number(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try unsigned(4)))))
            case 0xCB: return .number(Double(bitPattern: try unsigned(8)))
            case 0xCC...0xCF:
                let value = try unsigned(1 << (lead - 0xCC))
                return Int64(exactly: value).map { .integer($0) } ?? .number(Double(value))
            case 0xD0: return .integer(Int64(Int8(truncatingIfNeeded: try unsigned(1))))
            case 0xD1: return .integer(Int64(Int16(truncatingIfNeeded: try unsigned(2))))
            case 0xD2: return .integer(Int64(Int32(truncatingIfNeeded: try unsigned(4))))
            case 0xD3: return .integer(Int64(bitPattern: try unsigned(8)))
            case 0xD4...0xD8: return try ext(1 << (lead - 0xD4))
            case 0xD9, 0xDA, 0xDB: return try string(try length(1 << (lead - 0xD9)))
            case 0xDC, 0xDD: return try array(try length(2 << (lead - 0xDC)), depth)
            case 0xDE, 0xDF: return try map(try length(2 << (lead - 0xDE)), depth)
            default: return .integer(Int64(Int8(bitPattern: lead)))
            }
        }

        private mutating func unsigned(_ width: Int) throws(MessagePackError) -> UInt64 {
            guard bytes.count - position >= width else { throw .truncated }
            var value: UInt64 = 0
            for byte in bytes[position..<(position + width)] { value = value << 8 | UInt64(byte) }
            position += width
            return value
        }

        private mutating func length(_ width: Int) throws(MessagePackError) -> Int { Int(try unsigned(width)) }

        private mutating func take(_ count: Int) throws(MessagePackError) -> [UInt8] {
            guard bytes.count - position >= count else { throw .truncated }
            position += count
            return Array(bytes[(position - count)..<position])
        }

        private mutating func string(_ count: Int) throws(MessagePackError) -> MessagePack {
            guard let text = String(validating: try take(count), as: UTF8.self) else { throw .notUTF8 }
            return .string(text)
        }

        /// Reads an extension and drops its type.
        private mutating func ext(_ count: Int) throws(MessagePackError) -> MessagePack {
            _ = try unsigned(1)
            return .bytes(try take(count))
        }

        /// Reserves no memory for a count that the peer chose: each element takes at least one byte.
        private mutating func array(_ count: Int, _ depth: Int) throws(MessagePackError) -> MessagePack {
            var values: [MessagePack] = []
            for _ in 0..<count { values.append(try value(depth: depth + 1)) }
            return .array(values)
        }

        private mutating func map(_ count: Int, _ depth: Int) throws(MessagePackError) -> MessagePack {
            var pairs: [Pair] = []
            for _ in 0..<count {
                let key = try value(depth: depth + 1)
                pairs.append(Pair(key, try value(depth: depth + 1)))
            }
            return .map(pairs)
        }
    }
}
