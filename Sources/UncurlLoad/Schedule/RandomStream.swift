internal import Glibc

/// The generator SplitMix64. The same seed gives the same numbers.
package struct RandomStream: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// - Parameter stream: A number that separates threads with the same seed.
    package init(seed: UInt64, stream: Int) {
        state = seed &+ UInt64(truncatingIfNeeded: stream) &* 0xD1B5_4A32_D192_ED03
        // Seeds are mostly small numbers, and the first outputs of neighbours would resemble each other.
        _ = next()
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns an exponentially distributed number with the mean 1, at most 40: more would come once in 10^17 times.
    mutating func exponential() -> Double { min(-log(1 - fraction()), 40) }

    /// Returns a number from 0 to below 1.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
