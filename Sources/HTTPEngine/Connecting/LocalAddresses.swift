internal import Reactor

/// The local addresses that connections use in turn.
struct LocalAddresses {
    private let candidates: [SocketAddress]
    private var index = 0

    init(_ candidates: [SocketAddress]) { self.candidates = candidates }

    /// Returns the next address that can reach the family, if that is known before the look-up. If none can, it returns
    /// one with which the dial fails: an address that was not asked for must not be used. Nil for the system's choice.
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
