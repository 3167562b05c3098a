import UncurlText
internal import UncurlWebSocket

extension [UInt8] {
    /// Appends the octets of a literal, without a String.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a number in decimal digits, without a String.
    mutating func append(decimal number: UInt64) {
        guard number >= 10 else { return append(UInt8(truncatingIfNeeded: 48 + number)) }
        append(decimal: number / 10)
        append(UInt8(truncatingIfNeeded: 48 + number % 10))
    }

    /// Appends a number in hexadecimal digits, as a chunk size is written (RFC 9112 §7.1).
    mutating func append(hex number: UInt64) {
        if number >= 16 { append(hex: number / 16) }
        let digit = UInt8(truncatingIfNeeded: number % 16)
        append(digit < 10 ? 48 + digit : 87 + digit)
    }
}

extension [UInt8] {
    /// `count` pseudo-random bytes: the same for the same seed, on every machine.
    static func random(_ count: Int, seed: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        bytes.append(random: 0..<UInt64(count), seed: seed)
        return bytes
    }

    /// Appends a part of these bytes. They do not depend on where a part begins and ends.
    mutating func append(random part: Range<UInt64>, seed: UInt64) {
        var word: UInt64 = 0
        for place in part {
            if place == part.lowerBound || place % 8 == 0 {
                word = splitMix64(seed &+ (place / 8 &+ 1) &* splitMix64Step) >> (place % 8 * 8)
            }
            append(UInt8(truncatingIfNeeded: word))
            word >>= 8
        }
    }

    /// The octets in a coding of `/gzip` and `/deflate` (RFC 9110 §8.4.1); nil only if zlib has no memory.
    ///
    /// - Parameter windowBits: 31 for gzip, 15 for zlib's format, -15 for DEFLATE without zlib's frame, which some
    ///   servers send as "deflate" in breach of RFC 9110 §8.4.1.2.
    func compressed(windowBits: CInt) -> [UInt8]? { MessageDeflater.stream(of: span, windowBits: windowBits) }
}
