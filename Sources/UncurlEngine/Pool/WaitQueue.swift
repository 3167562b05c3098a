/// The exchanges that wait for a connection to one host: a line for each priority in use, the highest first, and within
/// a line first come, first served. Nearly always there is one line, which is usually empty.
struct WaitQueue {
    /// A place in a line. Leaving it only sets a mark.
    struct Ticket: Hashable {
        fileprivate let priority: UInt8
        fileprivate let number: UInt64
    }

    private var lines = [WaitLine(priority: WaitQueue.usual)]
    private(set) var count = 0

    /// The priority of a waiter that names none: the middle of the range.
    static let usual: UInt8 = 128

    /// How many places the storage has, those of leavers included.
    var stored: Int { lines.reduce(0) { $0 + $1.stored } }

    /// The waiter that is served next.
    var first: ExchangeID? {
        for line in lines { if let first = line.first { return first } }
        return nil
    }

    mutating func append(_ waiter: ExchangeID, _ priority: UInt8) -> Ticket {
        count += 1
        let index = index(of: priority)
        return Ticket(priority: priority, number: lines[index].append(waiter))
    }

    mutating func leave(_ ticket: Ticket) {
        guard let index = lines.firstIndex(where: { $0.priority == ticket.priority }) else { return }
        if lines[index].leave(ticket.number) { count -= 1 }
    }

    mutating func removeFirst() -> ExchangeID? {
        for index in lines.indices {
            guard let waiter = lines[index].removeFirst() else { continue }
            count -= 1
            return waiter
        }
        return nil
    }

    private mutating func index(of priority: UInt8) -> Int {
        if let index = lines.firstIndex(where: { $0.priority <= priority }) {
            if lines[index].priority != priority { lines.insert(WaitLine(priority: priority), at: index) }
            return index
        }
        lines.append(WaitLine(priority: priority))
        return lines.count - 1
    }
}

/// One line: first come, first served.
private struct WaitLine {
    let priority: UInt8
    private var queue: [ExchangeID?] = []
    private var head = 0
    private var firstNumber: UInt64 = 0

    init(priority: UInt8) { self.priority = priority }

    var stored: Int { queue.count }
    var first: ExchangeID? { queue[head...].lazy.compactMap { $0 }.first }

    /// Adds a waiter. Returns its place's number.
    mutating func append(_ waiter: ExchangeID) -> UInt64 {
        defer { queue.append(waiter) }
        return firstNumber + UInt64(queue.count - head)
    }

    /// Leaves a place. Returns false if it had already been left.
    mutating func leave(_ number: UInt64) -> Bool {
        guard number >= firstNumber else { return false }
        let index = head + Int(number - firstNumber)
        guard index < queue.count, queue[index] != nil else { return false }
        queue[index] = nil
        // Waiters that give up in order, as timeouts do, leave nothing behind, even if none is served for long.
        while head < queue.count, queue[head] == nil { dropFirst() }
        return true
    }

    mutating func removeFirst() -> ExchangeID? {
        while head < queue.count {
            let waiter = queue[head]
            dropFirst()
            if let waiter { return waiter }
        }
        return nil
    }

    private mutating func dropFirst() {
        head += 1
        firstNumber += 1
        if head == queue.count {
            queue.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024, head * 2 > queue.count {
            queue.removeFirst(head)
            head = 0
        }
    }
}
