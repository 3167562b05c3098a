internal import UncurlReactor

/// The dials that wait for a descriptor, the oldest first, and the timer of their next attempt.
struct DescriptorLine {
    private var dials: [Dial] = []
    private var timer: TimerID?

    var isEmpty: Bool { dials.isEmpty }

    mutating func append(_ dial: Dial) { dials.append(dial) }
    mutating func remove(_ dial: Dial) { dials.removeAll { $0 === dial } }

    /// Removes and returns the dial that has waited longest.
    mutating func next() -> Dial? { dials.isEmpty ? nil : dials.removeFirst() }

    /// Arms the timer if dials wait, and it is not armed.
    mutating func watch(on loop: EventLoop, after pause: Duration, _ handler: @autoclosure () -> any TimerHandler) {
        guard timer == nil, !dials.isEmpty else { return }
        timer = loop.arm(at: loop.now.advanced(by: pause), handler())
    }

    mutating func timerFired() { timer = nil }

    mutating func disarm(on loop: EventLoop) {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
