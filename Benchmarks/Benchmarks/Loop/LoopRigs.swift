import Dispatch
import UncurlReactor

/// Posts from the measuring thread to a loop.
struct Crossing {
    private let loop: EventLoop
    private let done = DispatchSemaphore(value: 0)

    init(to loop: EventLoop) { self.loop = loop }

    func postAndWait(_ count: Int) {
        for _ in 1..<max(2, count) { loop.post {} }
        loop.post { [done] in done.signal() }
        done.wait()
    }
}

/// Two loops that post to each other by turns: each post wakes a sleeping thread.
struct Rally {
    private let sides: (EventLoop, EventLoop)
    private let done = DispatchSemaphore(value: 0)

    init(_ first: EventLoop, _ second: EventLoop) { sides = (first, second) }

    /// `count` strokes there and back.
    func play(_ count: Int) {
        Rally.stroke(count * 2, sides.0, sides.1, done)
        done.wait()
    }

    private static func stroke(_ left: Int, _ here: EventLoop, _ there: EventLoop, _ done: DispatchSemaphore) {
        guard left > 0 else {
            done.signal()
            return
        }
        here.post { stroke(left - 1, there, here, done) }
    }
}

/// A letter that posts the next: as many turns as letters.
final class SelfPost: @unchecked Sendable {
    // `@unchecked`: only the loop's thread touches `left`.
    private let loop: EventLoop
    private var left: Int

    init(_ loop: EventLoop, count: Int) {
        self.loop = loop
        left = count
    }

    func next() {
        left -= 1
        if left > 0 { loop.post { self.next() } } else { loop.stop() }
    }
}

final class Nobody: TimerHandler {
    func timerFired(_ id: TimerID) {}
}

enum Deadlines {
    /// Up to a minute ahead, as request timeouts lie.
    static func spread(_ now: Instant, _ index: Int) -> Instant {
        now.advanced(byNanoseconds: 1_000_000_000 + Int64(index &* 104_729 % 59_000) * 1_000_000)
    }
}

enum Answers {
    /// A continuation that the loop resumes.
    static func one(from loop: EventLoop) async {
        await withUnsafeContinuation { continuation in loop.post { continuation.resume() } }
    }
}
