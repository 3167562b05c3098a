// Percent-encoding (RFC 3986 §2.1).

/// Undoes `%XX`; a `%` without two digits stands for itself, as browsers read it. Takes any octets.
package func percentDecodedOctets(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
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
package func percentEncodedText(_ text: String, keeping kept: StaticString = "") -> String {
    var result: [UInt8] = []
    let extra = unsafe UnsafeBufferPointer(start: kept.utf8Start, count: kept.utf8CodeUnitCount)
    for byte in text.utf8 {
        if unsafe isUnreservedOctet(byte) || extra.contains(byte) {
            result.append(byte)
        } else {
            appendPercentEncoded(byte, to: &result)
        }
    }
    return String(decoding: result, as: UTF8.self)
}

/// Encodes each octet of a URL's text that is not kept, save a `%` that two digits follow.
///
/// - Parameter isKept: asked with an index of the octets; it keeps the digits.
package func percentMended(_ octets: ArraySlice<UInt8>, keeping isKept: (Int) -> Bool) -> [UInt8] {
    var result: [UInt8] = []
    for (index, octet) in zip(octets.indices, octets) {
        let isEscape =
            octet == UInt8(ascii: "%") && index + 2 < octets.endIndex
            && hexValue(of: octets[index + 1]) != nil && hexValue(of: octets[index + 2]) != nil
        if isEscape || isKept(index) { result.append(octet) } else { appendPercentEncoded(octet, to: &result) }
    }
    return result
}

private func hexPair<Bytes: Collection<UInt8>>(
    _ bytes: Bytes,
    at index: Bytes.Index
) -> (UInt8, Bytes.Index)? {
    guard index != bytes.endIndex, let high = hexValue(of: bytes[index]) else { return nil }
    let second = bytes.index(after: index)
    guard second != bytes.endIndex, let low = hexValue(of: bytes[second]) else { return nil }
    return (high << 4 | low, bytes.index(after: second))
}

/// `%XX`, with upper-case digits (RFC 3986 §2.1).
package func appendPercentEncoded(_ byte: UInt8, to bytes: inout [UInt8]) {
    // One by one: an array of them would be made anew for each octet.
    bytes.append(UInt8(ascii: "%"))
    bytes.append(upperHexDigit(byte >> 4))
    bytes.append(upperHexDigit(byte & 15))
}

/// RFC 3986 §2.3: letters, digits and `-._~`.
package func isUnreservedOctet(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
}
