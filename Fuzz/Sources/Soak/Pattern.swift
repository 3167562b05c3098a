/// Content that says whose it is: a byte of another exchange's stands out at once.
struct Pattern: Sendable {
    let id: UInt64

    func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: id &* 7 &+ UInt64(truncatingIfNeeded: index) &* 31) }

    func bytes(_ range: Range<Int>) -> [UInt8] { range.map(byte) }
}
