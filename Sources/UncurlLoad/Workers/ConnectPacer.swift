/// When a thread may open its next connection: by the rate, by the number of connects under way, and not at once after
/// a failure. It has no clock; times are nanoseconds after the start of the run.
struct ConnectPacer: Sendable {
    private(set) var pending: Int
    /// The number of connects begun so far.
    private(set) var ordinal: UInt64 = 0
    private var heldUntil: UInt64 = 0
    private let plan: RunPlan
    private let share: RunPlan.Share

    /// The time after a failed connect in which the thread opens no connection, in nanoseconds. It is short enough to
    /// notice a server that comes back, and long enough that refusals do not occupy a core.
    static let holdOff: UInt64 = 10_000_000

    /// How late a connect may be and still keep the following ones at their times, in nanoseconds. More time without
    /// connects, when none was needed, is no credit for many at once.
    static let slack: UInt64 = 100_000_000

    init(_ plan: RunPlan, _ share: RunPlan.Share) {
        (self.plan, self.share, pending) = (plan, share, share.connections)
    }

    /// Returns nil if a connection may be opened (``began(at:)`` must follow), or else the time of the next check.
    func wait(at now: UInt64, dialling: Int) -> UInt64? {
        if now < heldUntil { return heldUntil }
        if dialling >= share.connectsInFlight { return now &+ 1_000_000 }
        let due = plan.connectDue(ordinal, share: share)
        return now < due ? due : nil
    }

    mutating func began(at now: UInt64) {
        pending = max(0, pending - 1)
        if max(now, Self.slack) - Self.slack > plan.connectDue(ordinal, share: share) {
            ordinal = max(ordinal, plan.lastConnect(dueBy: now, share: share))
        }
        ordinal &+= 1
    }

    mutating func add() { pending += 1 }

    mutating func want(_ count: Int) { pending = count }

    mutating func failed(at now: UInt64) { heldUntil = now &+ Self.holdOff }
}
