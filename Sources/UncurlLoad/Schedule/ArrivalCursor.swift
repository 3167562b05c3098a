import UncurlReactor

/// Goes through one thread's arrivals by a schedule, from the first on. Threads take turns: the j-th request of thread
/// k out of n is the schedule's number j · n + k. For random arrivals (Poisson), each thread has a process of its own
/// at an n-th of the rate; together they are a Poisson process at the whole rate.
struct ArrivalCursor: Sendable {
    private let profile: LoadProfile
    private let origin: Instant
    private let step: UInt64
    private let offset: UInt64
    private let limit: UInt64
    private var stage = 0
    /// The number of the arrival that ``time`` belongs to.
    private(set) var index: UInt64 = 0
    /// The thread's random numbers. Nil if arrivals are even.
    private var random: RandomStream?
    /// With random arrivals: the integral of the rate up to the arrival, in requests of all threads.
    private var reached = 0.0

    init(
        _ profile: LoadProfile,
        from origin: Instant,
        thread: Int,
        of threads: Int,
        limit: UInt64,
        random: RandomStream?
    ) {
        (self.profile, self.origin, self.limit, self.random) = (profile, origin, limit, random)
        (step, offset) = (UInt64(threads), UInt64(thread))
        advanceByChance()
    }

    /// The time when the present arrival is due; `.never` after the last.
    var time: Instant {
        mutating get {
            guard index < limit else { return .never }
            let time =
                random == nil
                ? profile.due(index &* step &+ offset, from: &stage) : profile.due(position: reached, from: &stage)
            return time.map { origin.advanced(byNanoseconds: Int64(clamping: $0)) } ?? .never
        }
    }

    /// The schedule's number for the arrival before the present one.
    var lastNumber: UInt64 { (index &- 1) &* step &+ offset }

    mutating func advance() {
        index += 1
        advanceByChance()
    }

    /// Calls `body` for the arrivals from the present one to `end`, one by one or, for ``ArrivalSchedule/crowd`` and
    /// more, in about a thousand equal parts. `due` is the time of a part's middle.
    mutating func parts(until end: UInt64, _ body: (_ due: Instant, _ count: UInt64) -> Void) {
        let length = end - index < ArrivalSchedule.crowd ? 1 : (end - index) / 1_000
        while index < end {
            let count = min(length, end - index)
            skip(count / 2)
            body(time, count)
            skip(count - count / 2)
        }
    }

    /// Returns how many of all arrivals are due by `now`.
    func count(by now: Instant) -> UInt64 {
        guard random == nil else {
            var cursor = self
            while cursor.time <= now, cursor.time != .never { cursor.advance() }
            return cursor.index
        }
        let all = profile.count(by: UInt64(clamping: now.nanoseconds(since: origin)))
        return min(limit, all > offset ? (all - offset - 1) / step + 1 : 0)
    }

    private mutating func skip(_ count: UInt64) {
        guard random != nil else {
            index += count
            return
        }
        for _ in 0..<count { advance() }
    }

    private mutating func advanceByChance() {
        guard let gap = random?.exponential() else { return }
        reached += gap * Double(step)
    }
}
