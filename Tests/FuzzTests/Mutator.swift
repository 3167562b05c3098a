/// Changes inputs as a fuzzer does, the same way in each run: bits flipped, octets replaced, pieces taken out, doubled
/// and moved.
struct Mutator {
    private var state: UInt64

    init(seed: UInt64) { state = seed | 1 }

    mutating func change(_ input: [UInt8]) -> [UInt8] {
        var octets = input
        for _ in 0...next(below: 4) { changeOnce(&octets) }
        return octets
    }

    private mutating func changeOnce(_ octets: inout [UInt8]) {
        guard !octets.isEmpty else { return octets.append(UInt8(truncatingIfNeeded: next())) }
        let place = next(below: octets.count)
        let end = min(octets.count, place + 1 + next(below: 16))
        switch next(below: 6) {
        case 0: octets[place] ^= 1 << UInt8(next(below: 8))
        case 1: octets[place] = UInt8(truncatingIfNeeded: next())
        case 2: octets[place] = Self.telling[next(below: Self.telling.count)]
        case 3: octets.removeSubrange(place..<end)
        case 4: octets.insert(contentsOf: octets[place..<end], at: next(below: octets.count))
        default: octets.insert(contentsOf: Self.numbers[next(below: Self.numbers.count)].utf8, at: place)
        }
    }

    /// Octets that grammars care for.
    private static let telling = Array("\0\t\n\r \"#%&'()*+,-./:;<=>?@[\\]{|}~".utf8) + [0x7F, 0x80, 0xC3, 0xFF]
    /// Numbers at the borders of integers.
    private static let numbers = [
        "-1", "0", "255", "65536", "4294967296", "9223372036854775807", "18446744073709551616", "1e999",
    ]

    /// xorshift64*.
    private mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 2_685_821_657_736_338_717
    }

    private mutating func next(below limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
