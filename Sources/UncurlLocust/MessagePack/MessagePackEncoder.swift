import UncurlLoad

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
            bytes.append(0xCB)
            Self.append(value.bitPattern, width: 8, to: &bytes)
        case .string(let text):
            let utf8 = Array(text.utf8)
            if utf8.count < 32 {
                bytes.append(0xA0 | UInt8(utf8.count))
            } else {
                Self.append(length: utf8.count, 0xD9, 0xDA, 0xDB, to: &bytes)
            }
            bytes += utf8
        case .bytes(let content):
            Self.append(length: content.count, 0xC4, 0xC5, 0xC6, to: &bytes)
            bytes += content
        case .array(let values):
            Self.append(count: values.count, few: 0x90, 0xDC, 0xDD, to: &bytes)
            for value in values { value.append(to: &bytes) }
        case .map(let pairs):
            Self.append(count: pairs.count, few: 0x80, 0xDE, 0xDF, to: &bytes)
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

    private static func append(length: Int, _ one: UInt8, _ two: UInt8, _ four: UInt8, to bytes: inout [UInt8]) {
        switch length {
        case ...0xFF: append(one, UInt64(length), width: 1, to: &bytes)
        case ...0xFFFF: append(two, UInt64(length), width: 2, to: &bytes)
        default: append(four, UInt64(UInt32(clamping: length)), width: 4, to: &bytes)
        }
    }

    private static func append(count: Int, few: UInt8, _ two: UInt8, _ four: UInt8, to bytes: inout [UInt8]) {
        switch count {
        case ..<16: bytes.append(few | UInt8(count))
        case ...0xFFFF: append(two, UInt64(count), width: 2, to: &bytes)
        default: append(four, UInt64(UInt32(clamping: count)), width: 4, to: &bytes)
        }
    }

    private static func append(_ lead: UInt8, _ value: UInt64, width: Int, to bytes: inout [UInt8]) {
        bytes.append(lead)
        append(value, width: width, to: &bytes)
    }

    private static func append(_ value: UInt64, width: Int, to bytes: inout [UInt8]) {
        for shift in stride(from: 8 * (width - 1), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }
}
