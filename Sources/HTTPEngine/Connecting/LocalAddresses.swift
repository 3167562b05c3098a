internal import Reactor

/// The local ends that connections leave from, in turn.
struct LocalAddresses {
    private let candidates: [SocketAddress]
    private var index = 0

    init(_ candidates: [SocketAddress]) { self.candidates = candidates }

    /// The next in turn that can reach the family, where that is known before any look-up. If none can, one that makes
    /// the dial fail: leaving by an address that was not asked for would be worse. Nil for the system's choice.
    mutating func next(reaching family: SocketAddress.Family?) -> SocketAddress? {
        guard !candidates.isEmpty, family != .unix else { return nil }
        for _ in candidates {
            let candidate = candidates[index]
            index = (index + 1) % candidates.count
            if family == nil || candidate.family == family { return candidate }
        }
        return candidates[index]
    }
}
