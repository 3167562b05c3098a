internal import UncurlLibC
import UncurlText

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
        state &+= splitMix64Step
        return splitMix64(state)
    }

    /// Returns an exponentially distributed number with the mean 1, at most 40: more would come once in 10^17 times.
    mutating func exponential() -> Double { min(-log(1 - fraction()), 40) }

    /// Returns a number from 0 to below 1.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}

/// The time that a virtual user waits between a response and its next request.
package enum Pause: Hashable, Sendable {
    /// A fixed time. All times are in nanoseconds.
    case fixed(UInt64)
    case uniform(UInt64, UInt64)
    /// An exponentially distributed time with this mean, like the pauses of independent users.
    case exponential(UInt64)

    package func length(_ random: inout RandomStream) -> UInt64 {
        switch self {
        case .fixed(let span): span
        case .uniform(let low, let high): UInt64.random(in: low...high, using: &random)
        case .exponential(let mean): UInt64(random.exponential() * Double(mean))
        }
    }

    package var description: String {
        switch self {
        case .fixed(let span): timeText(span)
        case .uniform(let low, let high): "\(timeText(low)) to \(timeText(high))"
        case .exponential(let mean): "\(timeText(mean)) on average"
        }
    }
}

extension [UInt64] {
    package var runningSums: [UInt64] {
        var sum: UInt64 = 0
        return map {
            sum &+= $0
            return sum
        }
    }

    /// Returns an index, chosen by weight. The array holds the running sums of the weights.
    package func index(byChance random: inout RandomStream) -> Int {
        guard count > 1, let total = last, total > 0 else { return 0 }
        return self.count(upTo: UInt64.random(in: 0..<total, using: &random))
    }

    /// Returns how many elements are not above a value. They are in order.
    func count(upTo value: UInt64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] > value { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
