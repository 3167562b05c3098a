import Reactor

/// One thread's requests by the schedule: which have come due, and which were sent. Threads take turns: the j-th request
/// of thread k out of n is the schedule's number j · n + k.
///
/// What is due and not yet sent is two counters, however long a server hangs: each instant is computed again when its
/// request is sent.
struct Arrivals: Sendable {
    private let profile: LoadProfile
    private let origin: Instant
    private let step: UInt64
    private let offset: UInt64
    private let limit: UInt64

    /// Requests whose instant has come and been noticed.
    private(set) var noticed: UInt64 = 0
    /// Of these, those handed out by ``take()``.
    private(set) var taken: UInt64 = 0
    /// When the next one that is not noticed yet is due; never after the last.
    private(set) var next = Instant.never
    private var looks = Looks()
    private var noticeStage = 0
    private var takeStage = 0
    private let grain: Int64
    /// When the last look was due.
    private var lastLook: Instant

    /// Requests that are due so soon after one another leave together, each timed from its own instant all the same: a sleep and a wake-up
    /// are paid once for them, and at 50,000/s a quarter of the CPU went into setting timers. Up to 10,000/s every one leaves alone.
    static let grain: Int64 = 100_000

    /// - Parameters:
    ///   - limit: of this thread's requests; nil: as many as the profile has.
    ///   - grain: the least time between two looks, in nanoseconds.
    init(
        _ profile: LoadProfile,
        from origin: Instant,
        thread: Int,
        of threads: Int,
        limit: UInt64? = nil,
        grain: Int64 = Arrivals.grain
    ) {
        (self.profile, self.origin, self.limit) = (profile, origin, limit ?? .max)
        (step, offset) = (UInt64(threads), UInt64(thread))
        self.grain = grain
        lastLook = origin.advanced(byNanoseconds: -grain)
        next = due(0, &noticeStage)
    }

    /// Due, and not taken.
    var backlog: UInt64 { noticed - taken }
    /// The last has come due, and was taken.
    var isOver: Bool { next == .never && backlog == 0 }

    /// When to look for requests that are due.
    var nextLook: Instant { next == .never ? .never : max(next, lastLook.advanced(byNanoseconds: grain)) }

    /// Whether the time for that has come by `now`.
    mutating func isTimeToLook(_ now: Instant) -> Bool {
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
        noticed += 1
        next = self.due(noticed, &noticeStage)
        return due
    }

    /// The earliest request that is due and was not taken: when it was due, and when that was noticed.
    mutating func take() -> (due: Instant, noticed: Instant)? {
        guard taken < noticed else { return nil }
        let due = due(taken, &takeStage)
        let noticed = looks.time(of: taken) ?? due
        taken += 1
        if backlog == 0 { looks.clear() }
        return (due, noticed)
    }

    /// The schedule's number of the request that was taken last.
    var lastTaken: UInt64 { (taken &- 1) &* step &+ offset }

    /// So many at once are a crowd: a rate that no machine keeps up with makes more of them come due while they are looked at singly.
    static let crowd = 10_000

    /// Notices all whose instant has come by `now`, a crowd in a thousand parts of about as many: when each part's middle was due.
    mutating func noticeCrowd(by now: Instant, _ body: (_ due: Instant, _ count: UInt64) -> Void) {
        let all = profile.count(by: UInt64(clamping: now.nanoseconds(since: origin)))
        let mine = min(limit, all > offset ? (all - offset - 1) / step + 1 : 0)
        guard mine > noticed else { return }
        looks.noticed(from: noticed, at: now)
        parts(noticed..<mine, &noticeStage, body)
        noticed = mine
        next = due(noticed, &noticeStage)
    }

    /// Takes all that are due, likewise.
    mutating func takeCrowd(_ body: (_ due: Instant, _ count: UInt64) -> Void) {
        parts(taken..<noticed, &takeStage, body)
        taken = noticed
    }

    private func parts(_ range: Range<UInt64>, _ stage: inout Int, _ body: (Instant, UInt64) -> Void) {
        let length = range.count < Self.crowd ? 1 : UInt64(range.count) / 1_000
        var first = range.lowerBound
        while first < range.upperBound {
            let count = min(length, range.upperBound - first)
            body(due(first + count / 2, &stage), count)
            first += count
        }
    }

    private func due(_ index: UInt64, _ stage: inout Int) -> Instant {
        guard index < limit, let time = profile.due(index &* step &+ offset, from: &stage) else { return .never }
        return origin.advanced(byNanoseconds: Int64(clamping: time))
    }
}
