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
    private var noticeStage = 0
    private var takeStage = 0

    /// - Parameter limit: of this thread's requests; nil: as many as the profile has.
    init(_ profile: LoadProfile, from origin: Instant, thread: Int, of threads: Int, limit: UInt64? = nil) {
        (self.profile, self.origin, self.limit) = (profile, origin, limit ?? .max)
        (step, offset) = (UInt64(threads), UInt64(thread))
        next = due(0, &noticeStage)
    }

    /// Due, and not taken.
    var backlog: UInt64 { noticed - taken }

    /// Notices the next request if its instant has come by `now`, and says when that was.
    mutating func notice(by now: Instant) -> Instant? {
        guard next <= now, next != .never else { return nil }
        let due = next
        noticed += 1
        next = self.due(noticed, &noticeStage)
        return due
    }

    /// The earliest request that is due and was not taken: when it was due.
    mutating func take() -> Instant? {
        guard taken < noticed else { return nil }
        defer { taken += 1 }
        return due(taken, &takeStage)
    }

    /// So many at once are a crowd: a rate that no machine keeps up with makes more of them come due while they are looked at singly.
    static let crowd = 10_000

    /// Notices all whose instant has come by `now`, a crowd in a thousand parts of about as many: when each part's middle was due.
    mutating func noticeCrowd(by now: Instant, _ body: (_ due: Instant, _ count: UInt64) -> Void) {
        let all = profile.count(by: UInt64(clamping: now.nanoseconds(since: origin)))
        let mine = min(limit, all > offset ? (all - offset - 1) / step + 1 : 0)
        guard mine > noticed else { return }
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
