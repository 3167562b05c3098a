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

/// SplitMix64: the same seed gives the same bytes, on every machine and in pieces of any length.
struct PseudoRandom: Sendable {
    private var state: UInt64
    private var word: UInt64 = 0
    private var left = 0

    /// - Parameter offset: how many of its bytes are passed over.
    init(seed: UInt64, from offset: UInt64 = 0) {
        state = seed &+ offset / 8 &* Self.step
        guard offset % 8 > 0 else { return }
        (word, left) = (nextWord() >> (offset % 8 * 8), 8 - Int(offset % 8))
    }

    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func nextWord() -> UInt64 {
        state &+= Self.step
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Appends bytes. They do not depend on where one call ends and the next begins.
    mutating func append(_ count: Int, to bytes: inout [UInt8]) {
        for _ in 0..<count {
            if left == 0 {
                word = nextWord()
                left = 8
            }
            bytes.append(UInt8(truncatingIfNeeded: word))
            word >>= 8
            left -= 1
        }
    }

    static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = PseudoRandom(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        random.append(count, to: &bytes)
        return bytes
    }
}

extension [UInt8] {
    /// The octets in a coding of `/gzip` and `/deflate` (RFC 9110 §8.4.1); nil only if zlib has no memory.
    ///
    /// - Parameter windowBits: 31 for gzip, 15 for zlib's format, -15 for DEFLATE without zlib's frame, which some
    ///   servers send as "deflate" in breach of RFC 9110 §8.4.1.2.
    func compressed(windowBits: CInt) -> [UInt8]? { MessageDeflater.stream(of: span, windowBits: windowBits) }
}
