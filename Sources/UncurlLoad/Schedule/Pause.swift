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
        case .fixed(let span): Units.time(span)
        case .uniform(let low, let high): "\(Units.time(low)) to \(Units.time(high))"
        case .exponential(let mean): "\(Units.time(mean)) on average"
        }
    }
}
