/// SplitMix64: the same seed gives the same bytes, on every machine and in pieces of any length.
struct PseudoRandom: Sendable {
    private var state: UInt64
    private var word: UInt64 = 0
    private var left = 0

    init(seed: UInt64) { state = seed }

    mutating func nextWord() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
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
