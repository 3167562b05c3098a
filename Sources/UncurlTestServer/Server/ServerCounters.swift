internal import Synchronization

/// The counts of one loop. Only the loop's thread writes, so a write needs no locked instruction. Any thread may read.
final class ServerCounters: Sendable {
    enum Name: CaseIterable { case connections, requests, responses, bytesReceived, bytesSent }

    private let connections = Atomic<UInt64>(0)
    private let requests = Atomic<UInt64>(0)
    private let responses = Atomic<UInt64>(0)
    private let bytesReceived = Atomic<UInt64>(0)
    private let bytesSent = Atomic<UInt64>(0)

    /// Called only on the loop's thread. With one writer, a load and a store are enough.
    @inline(__always)
    func add(_ count: Int, to name: Name) {
        switch name {
        case .connections: ServerCounters.add(count, connections)
        case .requests: ServerCounters.add(count, requests)
        case .responses: ServerCounters.add(count, responses)
        case .bytesReceived: ServerCounters.add(count, bytesReceived)
        case .bytesSent: ServerCounters.add(count, bytesSent)
        }
    }

    func value(of name: Name) -> UInt64 {
        switch name {
        case .connections: connections.load(ordering: .acquiring)
        case .requests: requests.load(ordering: .acquiring)
        case .responses: responses.load(ordering: .acquiring)
        case .bytesReceived: bytesReceived.load(ordering: .acquiring)
        case .bytesSent: bytesSent.load(ordering: .acquiring)
        }
    }

    @inline(__always)
    private static func add(_ count: Int, _ counter: borrowing Atomic<UInt64>) {
        let value = counter.load(ordering: .relaxed)
        counter.store(value &+ UInt64(truncatingIfNeeded: count), ordering: .releasing)
    }
}
