import Reactor

/// One thread's requests by the schedule: those that have come due, and those that were sent.
///
/// Requests that are due and not yet sent take no memory, even if a server hangs: two cursors stand for them, and each
/// instant is computed again when its request is sent.
struct ArrivalSchedule: Sendable {
    /// The next arrival to notice, and the next one to take. Both cursors go through the same arrivals.
    private var noticing: ArrivalCursor
    private var taking: ArrivalCursor

    /// The time when the next arrival that is not noticed yet is due; `.never` after the last.
    private(set) var next: Instant
    private var looks = Looks()
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
        taking = ArrivalCursor(
            profile,
            from: origin,
            thread: thread,
            of: threads,
            limit: limit ?? .max,
            random: random
        )
        noticing = taking
        self.grain = grain
        lastLook = origin.advanced(byNanoseconds: -grain)
        next = noticing.time
    }

    /// The number of requests whose instant has come and was noticed.
    var noticed: UInt64 { noticing.index }
    /// Of these, the number that ``take()`` returned.
    var taken: UInt64 { taking.index }

    /// The number of requests that are due and not taken.
    var backlog: UInt64 { noticed - taken }
    /// Whether the last request has come due and was taken.
    var isOver: Bool { next == .never && backlog == 0 }

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
        looks.noticed(from: noticed, at: now)
        noticing.advance()
        next = noticing.time
        return due
    }

    /// Takes the earliest request that is due: returns when it was due, and when that was noticed.
    mutating func take() -> (due: Instant, noticed: Instant)? {
        guard taken < noticed else { return nil }
        let due = taking.time
        let noticed = looks.time(of: taken) ?? due
        taking.advance()
        if backlog == 0 { looks.clear() }
        return (due, noticed)
    }

    /// The schedule's number for the request that was taken last.
    var lastTaken: UInt64 { taking.lastNumber }

    /// From this number on, arrivals are noticed in parts and not one by one. At a rate that no machine keeps up with,
    /// more arrivals come due than can be noticed one by one.
    static let crowd: UInt64 = 10_000

    /// Notices every arrival that is due by `now`, a crowd in about a thousand parts of the same size. `due` is the
    /// instant at which a part's middle was due.
    mutating func noticeCrowd(by now: Instant, _ body: (_ due: Instant, _ count: UInt64) -> Void) {
        let mine = noticing.count(by: now)
        guard mine > noticed else { return }
        looks.noticed(from: noticed, at: now)
        noticing.parts(until: mine, body)
        next = noticing.time
    }

    /// Takes all requests that are due, in the same way.
    mutating func takeCrowd(_ body: (_ due: Instant, _ count: UInt64) -> Void) {
        taking.parts(until: noticed, body)
        looks.clear()
    }
}
