import Reactor

/// One thread's requests by the schedule: which have come due, and which were sent.
///
/// What is due and not yet sent is two cursors, however long a server hangs: each instant is computed again when its
/// request is sent.
struct ArrivalSchedule: Sendable {
    /// Those that are noticed next, and taken next. Both see the same arrivals.
    private var noticing: ArrivalCursor
    private var taking: ArrivalCursor

    /// When the next one that is not noticed yet is due; never after the last.
    private(set) var next: Instant
    private var looks = Looks()
    private let grain: Int64
    /// When the last look was due.
    private var lastLook: Instant

    /// Requests that are due so soon after one another leave together, each timed from its own instant all the same: a
    /// sleep and a wake-up are paid once for them, and at 50,000/s a quarter of the CPU went into setting timers. Up to
    /// 10,000/s every one leaves alone.
    static let grain: Int64 = 100_000

    /// - Parameters:
    ///   - limit: of this thread's requests; nil: as many as the profile has.
    ///   - grain: the least time between two looks, in nanoseconds.
    ///   - random: the thread's own chance, for arrivals of a Poisson process; nil: evenly.
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

    /// Requests whose instant has come and been noticed.
    var noticed: UInt64 { noticing.index }
    /// Of these, those handed out by ``take()``.
    var taken: UInt64 { taking.index }

    /// Due, and not taken.
    var backlog: UInt64 { noticed - taken }
    /// The last has come due, and was taken.
    var isOver: Bool { next == .never && backlog == 0 }

    /// When to look for requests that are due.
    var nextLook: Instant { next == .never ? .never : max(next, lastLook.advanced(byNanoseconds: grain)) }

    /// Notes a look, if the time for one has come by `now`. False: it has not.
    mutating func look(_ now: Instant) -> Bool {
        let time = nextLook
        guard time <= now, time != .never else { return false }
        // Not `now`: who is late once looks no later the next time.
        lastLook = time
        return true
    }

    /// Notices the next request if its instant has come by `now`, and says when that was.
    mutating func notice(by now: Instant) -> Instant? {
        guard next <= now, next != .never else { return nil }
        let due = next
        looks.noticed(from: noticed, at: now)
        noticing.advance()
        next = noticing.time
        return due
    }

    /// The earliest request that is due and was not taken: when it was due, and when that was noticed.
    mutating func take() -> (due: Instant, noticed: Instant)? {
        guard taken < noticed else { return nil }
        let due = taking.time
        let noticed = looks.time(of: taken) ?? due
        taking.advance()
        if backlog == 0 { looks.clear() }
        return (due, noticed)
    }

    /// The schedule's number of the request that was taken last.
    var lastTaken: UInt64 { taking.lastNumber }

    /// So many at once are a crowd: a rate that no machine keeps up with makes more of them come due while they are
    /// looked at singly.
    static let crowd: UInt64 = 10_000

    /// Notices every arrival that is due by `now`. A crowd is noticed in a thousand parts of about the same size, each
    /// at the instant at which its middle was due.
    mutating func noticeCrowd(by now: Instant, _ body: (_ due: Instant, _ count: UInt64) -> Void) {
        let mine = noticing.count(by: now)
        guard mine > noticed else { return }
        looks.noticed(from: noticed, at: now)
        noticing.parts(until: mine, body)
        next = noticing.time
    }

    /// Takes all that are due, likewise.
    mutating func takeCrowd(_ body: (_ due: Instant, _ count: UInt64) -> Void) {
        taking.parts(until: noticed, body)
        looks.clear()
    }
}
