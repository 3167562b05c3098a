internal import CUncurlLinux

/// Hears that the loop's alarm has fired. Called on the loop; the call may set it again.
public protocol AlarmHandler: AnyObject {
    /// Handles the alarm: the deadline has come. Called once for each time it was set.
    func alarmRang()
}

/// A loop's one precise timer: the wheel's ticks of 8.4 ms are too coarse for a schedule of requests.
struct Alarm {
    private var deadline = Instant.never
    private var spin: Int64 = 0
    private var handler: (any AlarmHandler)?
    private var isSharp = false

    @inline(__always) var isSet: Bool { deadline != .never }

    @inline(__always)
    func isDue(_ now: Instant) -> Bool { now >= deadline && isSet }

    /// Returns how long to sleep; zero or less once polling is to begin.
    func nanoseconds(from now: Instant) -> Int64 { deadline.nanoseconds(since: now) &- spin }

    mutating func set(_ deadline: Instant, _ spin: Int64, _ handler: any AlarmHandler) {
        if !isSharp {
            // Otherwise the kernel may add 50 µs to each sleep, to wake less often.
            _ = uncurl_sharpen_timers()
            isSharp = true
        }
        self.deadline = deadline
        self.spin = spin
        if self.handler !== handler { self.handler = handler }
    }

    /// Takes the handler, which may set the alarm again.
    mutating func take() -> (any AlarmHandler)? {
        deadline = .never
        return handler
    }

    mutating func clear() { self = Alarm() }
}

/// Elements by the time when they are due: a binary heap, with the earliest on top.
package struct DeadlineHeap<Element> {
    private var entries: [(time: Instant, element: Element)] = []

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }
    package var earliest: Instant { entries.first?.time ?? .never }

    package mutating func push(_ element: Element, at time: Instant) {
        entries.append((time, element))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].time < entries[parent].time else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the earliest element, if it is due by `now`.
    package mutating func pop(by now: Instant) -> Element? {
        guard let first = entries.first, first.time <= now else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            let children = (2 * parent + 1..<2 * parent + 3).filter { $0 < entries.count }
            guard let least = children.min(by: { entries[$0].time < entries[$1].time }),
                entries[least].time < entries[parent].time
            else { return first.element }
            entries.swapAt(least, parent)
            parent = least
        }
    }
}
