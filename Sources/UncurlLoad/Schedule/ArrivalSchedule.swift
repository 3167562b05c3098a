import UncurlReactor

/// One thread's requests by the schedule, as they come due.
struct ArrivalSchedule: Sendable {
    /// The next arrival to notice.
    private(set) var cursor: ArrivalCursor
    /// The time when it is due; `.never` after the last.
    private(set) var next: Instant
    private let grain: Int64
    /// The time when the last look was due.
    private var lastLook: Instant

    /// Requests that are due within this time, in nanoseconds, are sent together, and each is timed from its own
    /// instant. The thread then sleeps and wakes once for them: at 50,000/s, setting timers took a quarter of the CPU.
    /// Up to 10,000/s each request is sent by itself.
    static let grain: Int64 = 100_000

    /// - Parameters:
    ///   - limit: The number of this thread's requests. Nil for as many as the profile has.
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
        next = cursor.time
    }

    /// The number of requests whose instant has come and was noticed.
    var noticed: UInt64 { cursor.index }

    /// The time of the next look for requests that are due.
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
        let due = next
        cursor.advance()
        next = cursor.time
        return due
    }

    /// From this number on, arrivals are noticed in parts and not one by one. At a rate that no machine keeps up with,
    /// more arrivals come due than can be noticed one by one.
    static let crowd: UInt64 = 10_000

    /// Notices every arrival that is due by `now`, a crowd in about a thousand parts of the same size. `due` is the
    /// instant at which a part's middle was due.
    mutating func noticeCrowd(by now: Instant, _ body: (_ due: Instant, _ count: UInt64) -> Void) {
        let mine = cursor.count(by: now)
        guard mine > noticed else { return }
        cursor.parts(until: mine, body)
        next = cursor.time
    }
}

/// A thread's requests that are due and wait. They take no memory, even if a server hangs: a cursor stands for them,
/// and each instant is computed again when its request is taken.
struct WaitingArrivals: Sendable {
    private var cursor: ArrivalCursor
    private var end: UInt64
    private var looks = Looks()
    /// When the first of them was due; `.never` if there is none.
    private(set) var next = Instant.never

    init(from cursor: ArrivalCursor) { (self.cursor, end) = (cursor, cursor.index) }

    var count: UInt64 { end - cursor.index }

    /// Adds the arrivals from `cursor` to number `end`, which were noticed at `now`.
    mutating func notice(from cursor: ArrivalCursor, until end: UInt64, at now: Instant) {
        if count == 0 {
            self.cursor = cursor
            next = self.cursor.time
            looks.clear()
        }
        looks.noticed(from: cursor.index, at: now)
        self.end = end
    }

    /// Takes the request that was due first. Nil if there is none.
    mutating func take() -> Backlog.Request? {
        guard count > 0 else { return nil }
        let (due, noticed) = (next, looks.time(of: cursor.index) ?? next)
        cursor.advance()
        next = count == 0 ? .never : cursor.time
        return Backlog.Request(due: due, noticed: noticed, number: cursor.lastNumber)
    }

    /// Takes all, in parts if there are very many.
    mutating func takeAll(_ body: (_ due: Instant, _ count: UInt64) -> Void) {
        cursor.parts(until: end, body)
        next = .never
    }
}
