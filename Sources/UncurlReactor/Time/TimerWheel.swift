/// Hears that a timer has fired. Called on the loop.
public protocol TimerHandler: AnyObject {
    /// Handles the timer. `id` is already spent; compared with the stored one it tells a timer from its predecessors.
    func timerFired(_ id: TimerID)
}

/// Names an armed timer. A spent or cancelled id never names another one.
public struct TimerID: Hashable, Sendable {
    let node: UInt32
    let generation: UInt32
}

/// A hashed wheel: to cancel a timer and arm it again takes 50 ns through the loop with 10,000 armed
/// (Benchmarks/Loop), and allocates nothing once the table has grown. Bare, a wheel took 8 ns where a 4-ary
/// heap took 66.
///
/// It has 1,024 buckets of 2^23 ns (8.4 ms). A timer further ahead than one revolution (8.6 s) stays in its bucket and
/// is skipped until its tick comes. Deadlines are rounded up: never early, at most one tick late.
struct TimerWheel {
    static let tickShift: Int64 = 23
    private static let buckets = 1024
    private static let none = UInt32.max

    private struct Node {
        var tick: Int64 = 0
        var next = TimerWheel.none
        var previous = TimerWheel.none
        var generation: UInt32 = 0
        var handler: (any TimerHandler)?
    }

    private var nodes: [Node] = []
    private var free: [UInt32] = []
    private var heads = [UInt32](repeating: TimerWheel.none, count: buckets)
    /// One bit for each bucket: whether it holds timers.
    private var occupied = [UInt64](repeating: 0, count: buckets / 64)
    private var current: Int64
    private var due: [TimerID] = []

    private(set) var count = 0

    init(now: Instant) { current = now.nanoseconds >> TimerWheel.tickShift }

    mutating func arm(at deadline: Instant, _ handler: any TimerHandler) -> TimerID {
        let tick = max(TimerWheel.tick(reaching: deadline), current &+ 1)
        let index = free.popLast() ?? grow()
        let bucket = Int(tick & Int64(TimerWheel.buckets - 1))
        let head = heads[bucket]
        let generation = nodes[Int(index)].generation
        nodes[Int(index)] = Node(tick: tick, next: head, generation: generation, handler: handler)
        if head != TimerWheel.none { nodes[Int(head)].previous = index }
        heads[bucket] = index
        occupied[bucket >> 6] |= 1 << UInt64(bucket & 63)
        count += 1
        return TimerID(node: index, generation: generation)
    }

    /// When to wake at the latest; nil if nothing is armed. May be early by whole revolutions, never late.
    var nextWake: Instant? {
        guard count > 0 else { return nil }
        let start = Int((current &+ 1) & Int64(TimerWheel.buckets - 1))
        let ahead = distance(toOccupiedFrom: start)
        return Instant(nanoseconds: (current &+ 1 &+ Int64(ahead)) << TimerWheel.tickShift)
    }

    /// Advances the time. Returns how many timers have run out; ``takeDue(at:)`` takes them.
    mutating func advance(to now: Instant) -> Int {
        let target = now.nanoseconds >> TimerWheel.tickShift
        due.removeAll(keepingCapacity: true)
        guard target > current else { return 0 }
        let first = current &+ 1
        current = target
        guard count > 0 else { return 0 }
        // One revolution visits every bucket; another would find nothing new.
        let last = min(target, first &+ Int64(TimerWheel.buckets - 1))
        for tick in first...last {
            let bucket = Int(tick & Int64(TimerWheel.buckets - 1))
            guard occupied[bucket >> 6] & (1 << UInt64(bucket & 63)) != 0 else { continue }
            var index = heads[bucket]
            while index != TimerWheel.none {
                if nodes[Int(index)].tick <= target {
                    due.append(TimerID(node: index, generation: nodes[Int(index)].generation))
                }
                index = nodes[Int(index)].next
            }
        }
        return due.count
    }

    /// Takes the `index`th timer that has run out, unless the handler of an earlier one has cancelled it.
    mutating func takeDue(at index: Int) -> (TimerID, any TimerHandler)? {
        let id = due[index]
        return remove(id).map { (id, $0) }
    }

    /// Removes a timer and returns its handler; nil if the timer is spent. The caller releases the handler.
    mutating func remove(_ id: TimerID) -> (any TimerHandler)? {
        let index = Int(id.node)
        guard index < nodes.count, nodes[index].generation == id.generation,
            let handler = nodes[index].handler.take()
        else { return nil }
        nodes[index].generation &+= 1
        let (next, previous) = (nodes[index].next, nodes[index].previous)
        if next != TimerWheel.none { nodes[Int(next)].previous = previous }
        if previous != TimerWheel.none {
            nodes[Int(previous)].next = next
        } else {
            let bucket = Int(nodes[index].tick & Int64(TimerWheel.buckets - 1))
            heads[bucket] = next
            if next == TimerWheel.none { occupied[bucket >> 6] &= ~(1 << UInt64(bucket & 63)) }
        }
        free.append(id.node)
        count -= 1
        return handler
    }

    private mutating func grow() -> UInt32 {
        nodes.append(Node())
        return UInt32(nodes.count - 1)
    }

    /// Returns the number of buckets between `start` and the next occupied one, going round.
    private func distance(toOccupiedFrom start: Int) -> Int {
        let words = occupied.count
        let (word, bit) = (start >> 6, UInt64(start & 63))
        let first = occupied[word] >> bit
        if first != 0 { return first.trailingZeroBitCount }
        for step in 1...words {
            let value = occupied[(word + step) % words]
            if value != 0 { return step * 64 - Int(bit) + value.trailingZeroBitCount }
        }
        return TimerWheel.buckets
    }

    private static func tick(reaching deadline: Instant) -> Int64 {
        let tick = deadline.nanoseconds >> tickShift
        let exact = deadline.nanoseconds & ((1 << tickShift) - 1) == 0
        // The far future shares the last tick: for `Instant.never`, adding to it would overflow.
        return exact || tick == Int64.max >> tickShift ? tick : tick + 1
    }
}
