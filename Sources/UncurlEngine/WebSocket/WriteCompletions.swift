/// Completions to call when octets were sent, in the order of the octets.
struct WriteCompletions {
    /// How many octets were written and sent, from the beginning.
    private var written: UInt64 = 0
    private var sent: UInt64 = 0
    private var waiting: [(end: UInt64, call: (Bool) -> Void)] = []
    /// The index of the first completion that was not called.
    private var first = 0

    mutating func append(_ count: Int, _ call: ((Bool) -> Void)?) {
        written += UInt64(count)
        if let call { waiting.append((written, call)) }
    }

    mutating func left(_ count: Int) { sent += UInt64(count) }

    /// Removes and returns all completions that are left: nothing is sent any more.
    mutating func takeAll() -> [(Bool) -> Void] {
        defer { (waiting, first) = ([], 0) }
        return waiting[first...].map(\.call)
    }

    /// Removes and returns the next completion whose octets were sent; it may append others when it is called.
    mutating func takeNext() -> ((Bool) -> Void)? {
        guard first < waiting.count, waiting[first].end <= sent else { return nil }
        let call = waiting[first].call
        first += 1
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 256, first * 2 > waiting.count {
            waiting.removeFirst(first)
            first = 0
        }
        return call
    }
}
