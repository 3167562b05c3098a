import UncurlReactor

/// One thread's requests by the schedule, as they come due.
struct ArrivalSchedule: Sendable {
    private(set) var cursor: ArrivalCursor
    /// The time when it is due; `.never` after the last.
    var next: Instant { cursor.time }
    private let grain: Int64
    private var lastLook: Instant

    /// Requests that are due within this time, in nanoseconds, are sent together, and each is timed from its own
    /// instant. The thread then sleeps and wakes once for them: at 50,000/s, setting timers took a quarter of the CPU.
    /// Up to 10,000/s each request is sent by itself.
    static let grain: Int64 = 100_000

    /// - Parameters:
    ///   - grain: The least time between two looks, in nanoseconds.
    ///   - random: The thread's random numbers, for arrivals of a Poisson process. Nil for even arrivals.
    init(
        _ profile: LoadProfile,
        from origin: Instant,
        thread: Int,
        of threads: Int,
        limit: UInt64? = nil,
        grain: Int64 = ArrivalSchedule.grain,
        random: RandomStream? = nil
    ) {
        cursor = ArrivalCursor(
            profile,
            from: origin,
            thread: thread,
            of: threads,
            limit: limit ?? .max,
            random: random
        )
        self.grain = grain
        lastLook = origin.advanced(byNanoseconds: -grain)
    }

    /// The number of requests whose instant has come and was noticed.
    var noticed: UInt64 { cursor.index }

    var nextLook: Instant { next == .never ? .never : max(next, lastLook.advanced(byNanoseconds: grain)) }

    /// Notes a look, if the time for one has come by `now`. Returns false if it has not.
    mutating func look(_ now: Instant) -> Bool {
        let time = nextLook
        guard time <= now, time != .never else { return false }
        // This is not `now`: after a late look, the next one must not be late, too.
        lastLook = time
        return true
    }

    /// Notices the next request if its instant has come by `now`, and returns that instant.
    mutating func notice(by now: Instant) -> Instant? {
        guard next <= now, next != .never else { return nil }
        defer { cursor.advance() }
        return next
    }

    /// From this number on, arrivals are noticed in parts and not one by one. At a rate that no machine keeps up with,
    /// more arrivals come due than can be noticed one by one.
    static let crowd: UInt64 = 10_000

    /// Notices every arrival that is due by `now`, a crowd in about a thousand parts of the same size. `due` is the
    /// instant at which a part's middle was due.
    mutating func noticeCrowd(by now: Instant, _ body: (_ due: Instant, _ count: UInt64) -> Void) {
        let mine = cursor.count(by: now)
        if mine > noticed { cursor.parts(until: mine, body) }
    }
}

/// A thread's requests that are due and wait. They take no memory, even if a server hangs: a cursor stands for them,
/// and each instant is computed again when its request is taken.
struct WaitingArrivals: Sendable {
    private var cursor: ArrivalCursor
    private var end: UInt64
    private var looks = Looks()
    /// When the first of them was due; `.never` if there is none.
    var next: Instant { count == 0 ? .never : cursor.time }

    init(from cursor: ArrivalCursor) { (self.cursor, end) = (cursor, cursor.index) }

    var count: UInt64 { end - cursor.index }

    /// Adds the arrivals from `cursor` to number `end`, which were noticed at `now`.
    mutating func notice(from cursor: ArrivalCursor, until end: UInt64, at now: Instant) {
        if count == 0 {
            self.cursor = cursor
            looks.clear()
        }
        looks.noticed(from: cursor.index, at: now)
        self.end = end
    }

    mutating func take() -> Backlog.Request? {
        guard count > 0 else { return nil }
        let (due, noticed) = (next, looks.time(of: cursor.index) ?? next)
        cursor.advance()
        return (due, noticed, cursor.lastNumber)
    }

    /// Takes all, in parts if there are very many.
    mutating func takeAll(_ body: (_ due: Instant, _ count: UInt64) -> Void) { cursor.parts(until: end, body) }
}

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
    /// The time when the present arrival is due; `.never` after the last.
    private(set) var time = Instant.never
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
        findTime()
    }

    private mutating func findTime() {
        let due =
            index >= limit
            ? nil
            : random == nil
                ? profile.due(index &* step &+ offset, from: &stage) : profile.due(position: reached, from: &stage)
        time = due.map { origin.advanced(byNanoseconds: Int64(clamping: $0)) } ?? .never
    }

    /// The schedule's number for the arrival before the present one.
    var lastNumber: UInt64 { (index &- 1) &* step &+ offset }

    mutating func advance() {
        index += 1
        advanceByChance()
        findTime()
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
        for _ in 0..<(random == nil ? 0 : count) { advanceByChance() }
        index += count
        findTime()
    }

    private mutating func advanceByChance() {
        guard let gap = random?.exponential() else { return }
        reached += gap * Double(step)
    }
}

/// The looks at the schedule, and which look noticed which request. A look is kept as long as one of its requests may
/// wait. If there are too many looks, several become one with the time of the first.
struct Looks: Sendable {
    /// Each with the first request that it found.
    private var looks: [(first: UInt64, time: Instant)] = []
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

    mutating func noticed(from first: UInt64, at now: Instant) {
        // The same look has found another request.
        guard now != last else { return }
        last = now
        inLast += 1
        guard inLast > grain || looks.isEmpty else { return }
        inLast = 1
        if looks.count == Self.limit { shrink() }
        looks.append((first, now))
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
