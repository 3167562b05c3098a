import UncurlReactor

/// The looks at the schedule, and which look noticed which request. A look is kept as long as one of its requests may
/// wait. If there are too many looks, several become one with the time of the first.
struct Looks: Sendable {
    private struct Look: Sendable {
        /// The first request that the look found.
        let first: UInt64
        let time: Instant
    }

    private var looks: [Look] = []
    /// The first look that a waiting request may belong to.
    private var head = 0
    /// The number of looks that are kept as one, and how many the last one stands for so far.
    private var grain = 1
    private var inLast = 0
    private var last = Instant.never

    /// The most looks, of sixteen bytes each. Without the limit, a server that hangs for a minute at 10,000/s would
    /// cause 600,000.
    static let limit = 4_096

    var count: Int { looks.count - head }

    /// Notes a look that found requests from `first` on.
    mutating func noticed(from first: UInt64, at now: Instant) {
        // The same look has found another request.
        guard now != last else { return }
        last = now
        inLast += 1
        guard inLast > grain || looks.isEmpty else { return }
        inLast = 1
        if looks.count == Self.limit { shrink() }
        looks.append(Look(first: first, time: now))
    }

    /// Returns when request `index` was noticed. Indices rise, and lower ones are not asked for again.
    mutating func time(of index: UInt64) -> Instant? {
        while head + 1 < looks.count, looks[head + 1].first <= index { head += 1 }
        return head < looks.count ? looks[head].time : nil
    }

    /// Forgets all looks, since no request waits.
    mutating func clear() {
        looks.removeAll(keepingCapacity: true)
        (head, grain, inLast, last) = (0, 1, 0, .never)
    }

    private mutating func shrink() {
        guard head < Self.limit / 2 else {
            looks.removeFirst(head)
            head = 0
            return
        }
        let kept = looks[head...]
        looks = stride(from: kept.startIndex, to: kept.endIndex, by: 2).map { kept[$0] }
        (head, grain) = (0, grain * 2)
    }
}
