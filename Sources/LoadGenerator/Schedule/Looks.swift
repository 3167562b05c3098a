import Reactor

/// When requests that wait were noticed: which look at the schedule found each. Looks are kept as long as a request of
/// theirs may wait; if they become too many, several count as one, and their requests as noticed with the first of
/// them.
struct Looks: Sendable {
    private struct Look: Sendable {
        /// The first request that it found.
        let first: UInt64
        let time: Instant
    }

    private var looks: [Look] = []
    /// Those before it have no request that waits.
    private var head = 0
    /// So many looks are kept as one; the last of them has had `inLast`.
    private var grain = 1
    private var inLast = 0
    private var last = Instant.never

    /// Sixteen bytes each; a server that hangs for a minute at 10,000/s would leave 600,000.
    static let limit = 4_096

    var count: Int { looks.count - head }

    /// A look found requests from `first` on.
    mutating func noticed(from first: UInt64, at now: Instant) {
        // The same look has found another.
        guard now != last else { return }
        last = now
        inLast += 1
        guard inLast > grain || looks.isEmpty else { return }
        inLast = 1
        if looks.count == Self.limit { shrink() }
        looks.append(Look(first: first, time: now))
    }

    /// When request `index` was noticed; indices rise, and those below are not asked for again.
    mutating func time(of index: UInt64) -> Instant? {
        while head + 1 < looks.count, looks[head + 1].first <= index { head += 1 }
        return head < looks.count ? looks[head].time : nil
    }

    /// No request waits.
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
