internal import UncurlReactor

/// The local addresses that connections use in turn.
struct LocalAddresses {
    private let candidates: [SocketAddress]
    private var index = 0

    init(_ candidates: [SocketAddress]) { self.candidates = candidates }

    /// Returns the next local address of the family, or the next one of all if the family is not known before the
    /// look-up. If none has the family, it returns one with which the dial fails, since only these addresses may be
    /// used. Nil for the system's choice.
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
