import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlTestKit

@testable import UncurlExtras

@Suite("Activity monitor", .timeLimit(.minutes(5)))
struct ActivityMonitorTests {
    /// Its state is what the test says.
    private final class FakeTask: URLSessionTask, @unchecked Sendable {
        private let told = Mutex(URLSessionTask.State.suspended)
        private let url: URL?

        init(_ url: String? = "http://a.test/") { self.url = url.flatMap { URL(string: $0) } }

        override var originalRequest: URLRequest? { url.map { URLRequest(url: $0) } }
        override var currentRequest: URLRequest? { originalRequest }
        override var state: URLSessionTask.State { told.withLock { $0 } }

        func become(_ state: URLSessionTask.State, _ monitor: ActivityMonitor) {
            told.withLock { $0 = state }
            monitor.watch(self)
        }
    }

    private let clock = TestClock()
    private let shown = Sightings<Bool>()
    private let center = NotificationCenter()

    private func monitor(isEnabled: Bool = true) -> ActivityMonitor {
        let monitor = ActivityMonitor(clock: clock, center: center) { [shown] in shown.add($0) }
        monitor.isEnabled = isEnabled
        return monitor
    }

    @Test("activity of more than a second is shown, and hidden 0.17 s after its end", .rows("K4"))
    func usual() async {
        let monitor = monitor()
        let task = FakeTask()
        task.become(.running, monitor)
        #expect(monitor.activeCount == 1)
        #expect(await clock.runToNextDeadline() == .seconds(1))
        #expect(await shown.wait { $0 == [true] })
        task.become(.completed, monitor)
        #expect(await clock.runToNextDeadline() == .milliseconds(170))
        #expect(await shown.wait { $0 == [true, false] })
        #expect(monitor.activeCount == 0)
    }

    @Test("short bursts are never shown", .rows("K4"))
    func burst() async {
        let monitor = monitor()
        let task = FakeTask()
        task.become(.running, monitor)
        await clock.waitForSleepers()
        task.become(.completed, monitor)
        await clock.runToNextDeadline()
        #expect(await Sightings<Void>.eventually { monitor.phase == .inactive })
        let next = FakeTask()
        next.become(.running, monitor)
        await clock.waitForSleepers()
        #expect(monitor.phase == .delayingStart && shown.all.isEmpty)
        next.become(.completed, monitor)
    }

    @Test("gaps shorter than the end's delay do not flicker", .rows("K4"))
    func gap() async {
        let monitor = monitor()
        let (first, second) = (FakeTask(), FakeTask())
        first.become(.running, monitor)
        await clock.runToNextDeadline()
        #expect(await shown.wait { $0 == [true] })
        first.become(.completed, monitor)
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(169))
        second.become(.running, monitor)
        #expect(await Sightings<Void>.eventually { clock.sleeperCount == 0 })
        clock.advance(by: .seconds(10))
        second.become(.completed, monitor)
        await clock.runToNextDeadline()
        #expect(await shown.wait { $0 == [true, false] })
    }

    @Test(
        "a task that is suspended and then cancelled is subtracted once; a task that is watched twice counts once",
        .rows("D22")
    )
    func counts() {
        let monitor = monitor()
        let (one, other) = (FakeTask(), FakeTask())
        one.become(.running, monitor)
        other.become(.running, monitor)
        other.become(.running, monitor)
        #expect(monitor.activeCount == 2)
        one.become(.suspended, monitor)
        one.become(.completed, monitor)
        one.become(.completed, monitor)
        #expect(monitor.activeCount == 1)
        other.become(.suspended, monitor)
        #expect(monitor.activeCount == 0)
        other.become(.running, monitor)
        #expect(monitor.activeCount == 1)
    }

    @Test(
        "tasks without a URL do not count; it is off unless switched on, and switching it off takes back what is shown",
        .rows("K4")
    )
    func switching() async {
        let monitor = monitor(isEnabled: false)
        FakeTask(nil).become(.running, monitor)
        #expect(monitor.activeCount == 0 && !monitor.isEnabled)
        let task = FakeTask()
        task.become(.running, monitor)
        #expect(clock.sleeperCount == 0)
        monitor.isEnabled = true
        await clock.runToNextDeadline()
        #expect(await shown.wait { $0 == [true] })
        monitor.isEnabled = false
        #expect(await shown.wait { $0 == [true, false] })
        monitor.isEnabled = true
        await clock.waitForSleepers()
        monitor.isEnabled = false
        #expect(await Sightings<Void>.eventually { clock.sleeperCount == 0 })
        #expect(shown.all == [true, false])
    }

    @Test("managers' tasks are heard of by their notifications", .rows("K4"))
    func notifications() {
        let monitor = monitor()
        let task = FakeTask()
        let elsewhere = ActivityMonitor(clock: clock, center: nil) { _ in }
        task.become(.running, elsewhere)
        #expect(monitor.activeCount == 0)
        center.post(name: Notification.Name("com.alamofire.networking.task.resume"), object: task)
        #expect(monitor.activeCount == 1)
        task.become(.suspended, elsewhere)
        center.post(name: Notification.Name("com.alamofire.networking.task.suspend"), object: task)
        #expect(monitor.activeCount == 0)
        task.become(.running, elsewhere)
        center.post(name: Notification.Name("com.alamofire.networking.task.resume"), object: task)
        task.become(.completed, elsewhere)
        center.post(name: Notification.Name("com.alamofire.networking.task.complete"), object: task)
        #expect(monitor.activeCount == 0)
    }

    @Test("an activity of the program counts until it is finished, and may be finished twice")
    func activities() {
        let monitor = monitor()
        let one = monitor.begin()
        var other: ActivityMonitor.Activity? = monitor.begin()
        #expect(monitor.activeCount == 2 && other != nil)
        one.finish()
        one.finish()
        #expect(monitor.activeCount == 1)
        other = nil
        #expect(monitor.activeCount == 0)
    }

    @Test("all transitions of the machine", .rows("K4"))
    func machine() {
        var machine = ActivityMachine()
        #expect(machine.changed(isBusy: false) == [] && machine.timeIsUp(isBusy: true) == [] && machine.disable() == [])
        #expect(machine.changed(isBusy: true) == [.armStart] && machine.state == .delayingStart)
        #expect(machine.changed(isBusy: false) == [] && machine.changed(isBusy: true) == [])
        #expect(machine.timeIsUp(isBusy: false) == [] && machine.state == .inactive)
        _ = machine.changed(isBusy: true)
        #expect(machine.timeIsUp(isBusy: true) == [.show(true)] && machine.state == .active)
        #expect(machine.changed(isBusy: true) == [] && machine.changed(isBusy: false) == [.armEnd])
        #expect(machine.changed(isBusy: true) == [.disarm] && machine.state == .active)
        _ = machine.changed(isBusy: false)
        #expect(machine.timeIsUp(isBusy: false) == [.show(false)] && machine.state == .inactive)
        _ = machine.changed(isBusy: true)
        #expect(machine.disable() == [.disarm] && machine.state == .inactive)
    }

    @Test("a delay of any length is waited for, a century at most: the runtime's clocks trap on longer waits")
    func longDelay() async {
        let monitor = ActivityMonitor(startDelay: .seconds(Int64.max), clock: clock, center: center) { _ in }
        monitor.isEnabled = true
        let task = FakeTask()
        task.become(.running, monitor)
        #expect(await clock.runToNextDeadline() == .seconds(3_155_760_000))
    }
}
