import Synchronization
import TestSupport
import Testing
import UncurlTestKit

@Suite("Test clock", .timeLimit(.minutes(5)))
struct TestClockTests {
    private let clock = TestClock()

    @Test("a clock stands still until it is advanced, and wakes sleepers in the order of their deadlines")
    func order() async throws {
        let woken = Sightings<Int>()
        let gate = Sightings<Int>()
        let tasks = [30, 10, 20, 40].enumerated().map { index, seconds in
            Task { [clock] in
                gate.add(index)
                try await clock.sleep(for: .seconds(seconds))
                woken.add(seconds)
            }
        }
        await clock.waitForSleepers(4)
        #expect(clock.now.offset == .zero && clock.nextDeadline?.offset == .seconds(10) && woken.all.isEmpty)
        clock.advance(by: .seconds(9))
        #expect(clock.sleeperCount == 4)
        clock.advance(by: .seconds(1))
        try await tasks[1].value
        #expect(woken.all == [10] && clock.now.offset == .seconds(10))
        #expect(await clock.runToNextDeadline() == .seconds(10))
        try await tasks[2].value
        clock.advance(by: .seconds(100))
        try await tasks[0].value
        try await tasks[3].value
        #expect(clock.sleeperCount == 0 && clock.nextDeadline == nil && Set(woken.all) == [10, 20, 30, 40])
    }

    @Test("a deadline that has passed is no sleep; time does not go back")
    func past() async throws {
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: TestClock.Instant(offset: .seconds(5)))
        clock.advance(to: TestClock.Instant(offset: .seconds(1)))
        #expect(clock.now.offset == .seconds(5))
    }

    @Test("cancelled sleep ends at once, before it begins too")
    func cancellation() async {
        let task = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
        let early = Task { [clock] in
            while !Task.isCancelled { await Task.yield() }
            try await clock.sleep(for: .seconds(1))
        }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        let waiting = Task { [clock] in await clock.waitForSleepers(9) }
        waiting.cancel()
        await waiting.value
    }

    @Test("a cancelled task that would run to the next deadline returns at once if nothing sleeps")
    func cancelledRun() async {
        let word = Word<Duration>()
        let task = Task { [clock] in
            while !Task.isCancelled { await Task.yield() }
            word.give(await clock.runToNextDeadline())
        }
        task.cancel()
        #expect(await word.wait("the cancelled run", .seconds(60)) == .zero && clock.now.offset == .zero)
    }

    @Test("a repeating timer is run step by step")
    func repeating() async {
        let ticks = Mutex(0)
        let task = Task { [clock] in
            while true {
                try await clock.sleep(for: .seconds(2))
                ticks.withLock { $0 += 1 }
            }
        }
        for _ in 0..<5 { await clock.runToNextDeadline() }
        await clock.waitForSleepers()
        #expect(ticks.withLock { $0 } == 5 && clock.now.offset == .seconds(10))
        task.cancel()
    }
}
