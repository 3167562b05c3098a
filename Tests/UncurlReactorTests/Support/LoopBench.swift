import Dispatch
import TestSupport
import Testing
import UncurlReactor

/// A loop that runs on the test's own thread: set up, ``run()``, look at what happened.
final class LoopBench {
    let loop: EventLoop
    let clock: ManualClock?
    private(set) var timedOut = false

    /// - Parameter manual: time stands still until the test moves it.
    init(manual: Bool = false) throws {
        clock = manual ? ManualClock() : nil
        loop = try EventLoop(clock: clock)
    }

    /// Runs until ``EventLoop/stop()``. A test that would hang fails after a minute instead: sanitizers are slow.
    func run() {
        let loop = loop
        let isDone = Gate()
        let watchdog = try? WatchdogThread(after: .seconds(60), unless: isDone) {
            Issue.record("the loop was not stopped")
            loop.stop()
        }
        loop.run()
        isDone.open()
        watchdog?.join()
    }

    /// Lets `count` turns pass on the loop, then calls `body` there.
    func after(turns count: Int, _ body: @escaping () -> Void) {
        let next = LoopBound(body, on: loop)
        let bench = LoopBound(self, on: loop)
        loop.post {
            if count <= 1 { next.value() } else { bench.value.after(turns: count - 1, next.value) }
        }
    }

    /// Calls `body` when `condition` holds, looking once a turn.
    func when(_ condition: @escaping () -> Bool, then body: @escaping () -> Void) {
        after(turns: 1) { [self] in
            if condition() { body() } else { when(condition, then: body) }
        }
    }
}

/// Calls a closure for each readiness, and can be asked what it saw.
final class Probe: ReadinessHandler {
    var seen: [Readiness] = []
    var onReady: (Readiness) -> Void

    init(_ onReady: @escaping (Readiness) -> Void = { _ in }) { self.onReady = onReady }

    func ready(_ readiness: Readiness) {
        seen.append(readiness)
        onReady(readiness)
    }
}

final class Alarm: TimerHandler {
    var fired: [TimerID] = []
    var onFire: (TimerID) -> Void

    init(_ onFire: @escaping (TimerID) -> Void = { _ in }) { self.onFire = onFire }

    func timerFired(_ id: TimerID) {
        fired.append(id)
        onFire(id)
    }
}
