extension [UInt8] {
    /// Appends the content of `bytes` with one copy.
    @inline(__always)
    mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

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
