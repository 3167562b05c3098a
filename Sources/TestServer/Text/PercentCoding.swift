/// Percent-encoding (RFC 3986 §2.1) and the form encoding built on it.
enum PercentCoding {
    /// Undoes `%XX`; a `%` without two digits stands for itself, as browsers read it.
    static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
        String(decoding: decodeBytes(text.utf8, plusIsSpace: plusIsSpace), as: UTF8.self)
    }

    static func decodeBytes(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            index = bytes.index(after: index)
            if byte == UInt8(ascii: "%"), let (value, after) = hexPair(bytes, at: index) {
                result.append(value)
                index = after
            } else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return result
    }

    /// Encodes everything but unreserved octets and `kept`.
    static func encode(_ text: String, keeping kept: StaticString = "") -> String {
        var result: [UInt8] = []
        let extra = unsafe UnsafeBufferPointer(start: kept.utf8Start, count: kept.utf8CodeUnitCount)
        for byte in text.utf8 {
            if unsafe isUnreserved(byte) || extra.contains(byte) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(digit(byte >> 4))
                result.append(digit(byte & 15))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// `a=1&b=2`, in its order; a name without `=` has an empty value.
    static func pairs(_ text: some StringProtocol) -> [Pair] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { part in
            let pieces = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = pieces.count > 1 ? decodeBytes(pieces[1], plusIsSpace: true) : []
            return Pair(
                name: String(decoding: decodeBytes(pieces[0], plusIsSpace: true), as: UTF8.self),
                value: String(decoding: value, as: UTF8.self)
            )
        }
    }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    private static func hexPair<Bytes: Collection<UInt8>>(
        _ bytes: Bytes,
        at index: Bytes.Index
    ) -> (UInt8, Bytes.Index)? {
        guard index != bytes.endIndex, let high = hexValue(bytes[index]) else { return nil }
        let second = bytes.index(after: index)
        guard second != bytes.endIndex, let low = hexValue(bytes[second]) else { return nil }
        return (high << 4 | low, bytes.index(after: second))
    }

    /// RFC 3986 §2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}

/// A name and a value: a field, an argument, a cookie.
struct Pair: Equatable, Sendable {
    var name: String
    var value: String
}

extension String {
    /// ASCII letters of either case are equal; nothing else is folded (RFC 9110 §5.1).
    func equalsIgnoringCase(_ other: String) -> Bool {
        let (left, right) = (utf8, other.utf8)
        return left.count == right.count && zip(left, right).allSatisfy { folded($0) == folded($1) }
    }
}

private func folded(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
