import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Timer wheel", .ownThread)
struct TimerWheelTests {
    private static let tick = Int64(1) << TimerWheel.tickShift

    private func instant(ticks: Int64, plus nanoseconds: Int64 = 0) -> Instant {
        Instant(nanoseconds: ticks * Self.tick + nanoseconds)
    }

    private func fired(_ wheel: inout TimerWheel, at now: Instant) -> [TimerID] {
        (0..<wheel.advance(to: now)).compactMap { wheel.takeDue(at: $0)?.0 }
    }

    @Test("a timer never fires early, and at most one tick late")
    func rounding() {
        var wheel = TimerWheel(now: instant(ticks: 100))
        let id = wheel.arm(at: instant(ticks: 105, plus: 1), Alarm())
        #expect(fired(&wheel, at: instant(ticks: 105, plus: 1)) == [])
        #expect(fired(&wheel, at: instant(ticks: 106, plus: -1)) == [])
        #expect(fired(&wheel, at: instant(ticks: 106)) == [id])
        #expect(wheel.count == 0)
    }

    @Test("a deadline on a tick fires at that tick")
    func exact() {
        var wheel = TimerWheel(now: instant(ticks: 0))
        let id = wheel.arm(at: instant(ticks: 3), Alarm())
        #expect(wheel.nextWake == instant(ticks: 3))
        #expect(fired(&wheel, at: instant(ticks: 3)) == [id])
    }

    @Test("a deadline in the past fires at the next tick")
    func past() {
        var wheel = TimerWheel(now: instant(ticks: 50))
        let id = wheel.arm(at: instant(ticks: 1), Alarm())
        #expect(fired(&wheel, at: instant(ticks: 50, plus: 1)) == [])
        #expect(fired(&wheel, at: instant(ticks: 51)) == [id])
    }

    @Test("a timer further ahead than one revolution is passed over until its time")
    func revolutions() {
        var wheel = TimerWheel(now: instant(ticks: 0))
        let far = wheel.arm(at: instant(ticks: 5_000), Alarm())
        let near = wheel.arm(at: instant(ticks: 5_000 % 1_024), Alarm())
        #expect(fired(&wheel, at: instant(ticks: 4_999)) == [near])
        #expect(fired(&wheel, at: instant(ticks: 5_000)) == [far])
    }

    @Test("the end of time can be armed and is never reached")
    func never() {
        var wheel = TimerWheel(now: instant(ticks: 0))
        let id = wheel.arm(at: .never, Alarm())
        #expect(fired(&wheel, at: instant(ticks: 1 << 30)) == [])
        #expect(wheel.nextWake != nil)
        _ = wheel.remove(id)
        #expect(wheel.nextWake == nil)
    }

    @Test("a spent or cancelled id names nothing, not even the timer that took its place")
    func generations() {
        var wheel = TimerWheel(now: instant(ticks: 0))
        let first = wheel.arm(at: instant(ticks: 2), Alarm())
        #expect(wheel.remove(first) != nil)
        let second = wheel.arm(at: instant(ticks: 2), Alarm())
        #expect(wheel.remove(first) == nil)
        #expect(fired(&wheel, at: instant(ticks: 2)) == [second])
        #expect(wheel.remove(second) == nil)
    }

    @Test("a timer that an earlier one of its batch cancels does not fire")
    func cancelledWithinBatch() {
        var wheel = TimerWheel(now: instant(ticks: 0))
        let ids = (0..<3).map { _ in wheel.arm(at: instant(ticks: 1), Alarm()) }
        #expect(wheel.advance(to: instant(ticks: 1)) == 3)
        let first = wheel.takeDue(at: 0)?.0
        for id in ids where id != first { _ = wheel.remove(id) }
        #expect(wheel.takeDue(at: 1) == nil)
        #expect(wheel.takeDue(at: 2) == nil)
    }

    @Test("a wheel agrees with a plain list over ten thousand random steps", arguments: [1, 2, 3])
    func model(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var now = instant(ticks: 1_000)
        var wheel = TimerWheel(now: now)
        var model: [TimerID: Int64] = [:]
        func tick(reaching deadline: Instant) -> Int64 { (deadline.nanoseconds + Self.tick - 1) / Self.tick }
        for _ in 0..<10_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let span = Int64.random(in: -Self.tick..<(Self.tick * 3_000), using: &random)
                let deadline = now.advanced(byNanoseconds: span)
                let id = wheel.arm(at: deadline, Alarm())
                model[id] = max(tick(reaching: deadline), now.nanoseconds / Self.tick + 1)
            case 5..<7:
                guard let victim = model.keys.min(by: { $0.node < $1.node }) else { continue }
                #expect(wheel.remove(victim) != nil)
                model[victim] = nil
            default:
                // Mostly small steps, now and then more than a revolution at once.
                let limit = Int.random(in: 0..<20, using: &random) == 0 ? 2_500 : 40
                now = now.advanced(byNanoseconds: Int64.random(in: 0..<(Self.tick * Int64(limit)), using: &random))
                let due = Set(model.filter { $0.value <= now.nanoseconds / Self.tick }.keys)
                #expect(Set(fired(&wheel, at: now)) == due)
                for id in due { model[id] = nil }
            }
            #expect(wheel.count == model.count)
            if let earliest = model.values.min() {
                // Early by whole revolutions, perhaps; never late.
                #expect(wheel.nextWake.map { $0.nanoseconds <= earliest * Self.tick } == true)
                #expect(wheel.nextWake.map { $0 > now } == true)
            } else {
                #expect(wheel.nextWake == nil)
            }
        }
    }
}
