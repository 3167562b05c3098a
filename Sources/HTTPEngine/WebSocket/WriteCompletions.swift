/// Calls to be made when octets have left, in the order of the octets.
struct WriteCompletions {
    /// Counted from the beginning.
    private var written: UInt64 = 0
    private var sent: UInt64 = 0
    private var waiting: [(end: UInt64, call: (Bool) -> Void)] = []
    /// In front of it they have been called.
    private var first = 0

    mutating func append(_ count: Int, _ call: ((Bool) -> Void)?) {
        written += UInt64(count)
        if let call { waiting.append((written, call)) }
    }

    mutating func left(_ count: Int) { sent += UInt64(count) }

    /// All that are still here: nothing leaves any more.
    mutating func takeAll() -> [(Bool) -> Void] {
        defer { (waiting, first) = ([], 0) }
        return waiting[first...].map(\.call)
    }

    /// The next whose octets have left; it may append when it is called.
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
