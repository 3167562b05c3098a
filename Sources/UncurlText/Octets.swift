extension [UInt8] {
    /// The octets of a span, copied once.
    package init(_ bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Appends the octets of a span, copied once.
    package mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends a number, its highest octet first.
    @inlinable
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }
}

/// How far the state of the generator SplitMix64 moves with each number.
package let splitMix64Step: UInt64 = 0x9E37_79B9_7F4A_7C15

/// The number that SplitMix64 makes of a state. The same state gives the same number.
@inlinable
package func splitMix64(_ state: UInt64) -> UInt64 {
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
}
