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
