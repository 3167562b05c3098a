import Testing
import UncurlReactor

@testable import UncurlEngine

/// The limits of an exchange that began at an instant.
private struct Dated {
    private let limits: Deadlines
    private let end: Instant

    init(_ timeouts: Timeouts, _ start: Instant) {
        limits = Deadlines(timeouts)
        end = limits.total.map(start.advanced(byNanoseconds:)) ?? .never
    }

    func forConnection(since: Instant, counts: Bool, at now: Instant) -> Deadlines.Verdict {
        limits.forConnection(since: since, counts: counts, end: end, at: now)
    }

    func onWire(lastActivity: Instant, sent: Instant?, paused: Bool, at now: Instant) -> Deadlines.Verdict {
        limits.onWire(lastActivity, sent: sent, paused: paused, end: end, at: now)
    }
}

@Suite("Deadlines")
struct DeadlinesTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private func after(_ seconds: Int64) -> Instant { start.advanced(by: .seconds(seconds)) }

    @Test("without limits nothing ever passes")
    func none() {
        let deadlines = Dated(Timeouts(connect: nil, idle: nil), start)
        #expect(deadlines.forConnection(since: start, counts: true, at: after(1_000_000)) == .next(.never))
        #expect(
            deadlines.onWire(lastActivity: start, sent: start, paused: false, at: after(1_000)) == .next(.never)
        )
    }

    @Test("idle counts from the last byte, and passes exactly at its limit")
    func idle() {
        let deadlines = Dated(Timeouts(idle: .seconds(5)), start)
        #expect(deadlines.onWire(lastActivity: after(10), sent: nil, paused: false, at: after(14)) == .next(after(15)))
        #expect(deadlines.onWire(lastActivity: after(10), sent: nil, paused: false, at: after(15)) == .passed(.idle))
    }

    @Test("idle and the wait for the response head stand still while the consumer pauses; the total does not")
    func paused() {
        let limits = Timeouts(responseHead: .seconds(2), idle: .seconds(5), total: .seconds(60))
        let deadlines = Dated(limits, start)
        #expect(deadlines.onWire(lastActivity: start, sent: start, paused: true, at: after(30)) == .next(after(60)))
        #expect(deadlines.onWire(lastActivity: start, sent: start, paused: true, at: after(60)) == .passed(.total))
    }

    @Test("the response head is waited for from the request's last byte, and no longer once it is there")
    func responseHead() {
        let deadlines = Dated(Timeouts(responseHead: .seconds(2), idle: nil), start)
        #expect(
            deadlines.onWire(lastActivity: start, sent: after(3), paused: false, at: after(5))
                == .passed(.responseHead)
        )
        #expect(
            deadlines.onWire(lastActivity: start, sent: nil, paused: false, at: after(50)) == .next(.never)
        )
    }

    @Test("the wait in the pool has a limit of its own")
    func pool() {
        let deadlines = Dated(Timeouts(poolWait: .seconds(1), idle: .milliseconds(1)), start)
        #expect(deadlines.forConnection(since: start, counts: true, at: start) == .next(after(1)))
        #expect(deadlines.forConnection(since: start, counts: true, at: after(1)) == .passed(.poolWait))
    }

    @Test("the wait in the pool passes only while it counts, and is looked at again")
    func uncounted() {
        let deadlines = Dated(Timeouts(poolWait: .seconds(2), idle: nil), start)
        #expect(deadlines.forConnection(since: start, counts: false, at: after(1)) == .next(after(2)))
        #expect(deadlines.forConnection(since: start, counts: false, at: after(3)) == .next(after(5)))
        #expect(deadlines.forConnection(since: start, counts: true, at: after(5)) == .passed(.poolWait))
    }

    @Test("absurd limits saturate instead of trapping")
    func absurd() {
        let deadlines = Dated(Timeouts(idle: .seconds(Int64.max), total: .seconds(Int64.max)), start)
        #expect(
            deadlines.onWire(lastActivity: start, sent: nil, paused: false, at: after(9)) == .next(.never)
        )
        let negative = Dated(Timeouts(total: .seconds(-5)), start)
        #expect(negative.forConnection(since: start, counts: true, at: start) == .passed(.total))
    }
}
