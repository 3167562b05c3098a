internal import Synchronization
internal import UncurlReactor

/// The number of a process's descriptors that the connections of several engines may take: half of the limit, at least
/// eight.
///
/// Busy connections are never closed for it. Above the limit, each connection that would be parked is closed instead,
/// and each one that is opened closes an idle one, of any engine that has one. So idle connections are bounded for the
/// process, however many engines there are. If descriptors run out even so, an engine asks the others for their idle
/// connections. Any thread.
public final class ConnectionBudget: Sendable {
    /// The budget of engines that name no other one (``EngineConfiguration/budget``).
    public static let process = ConnectionBudget()

    /// The least number of connections that are kept open: otherwise a process with very few descriptors would open a
    /// connection for each request.
    private static let least = 8

    /// An engine with open connections. `giveUp` is called on its loop: it closes the connection that has been idle
    /// longest, and returns false if none is idle.
    typealias Member = (number: ObjectIdentifier, loop: EventLoop, giveUp: @Sendable () -> Bool)

    /// The members in the order in which they got their first connection, and the index of the one whose turn it is to
    /// give up a connection.
    private let state = Mutex<(members: [Member], next: Int)>(([], 0))
    private let count = Atomic<Int>(0)
    private let limit = Atomic<Int>(.max)
    private let fixedLimit: Int?

    /// - Parameter limit: the most connections; nil for half of the process's descriptors.
    public init(limit: Int? = nil) { fixedLimit = limit }

    /// How many connections are open now, busy or idle.
    public var open: Int { count.load(ordering: .relaxed) }

    /// Whether more are open than the budget has room for.
    var isExceeded: Bool { open > limit.load(ordering: .relaxed) }

    /// - Parameter open: how many connections of the member are open, this one included.
    func opened(by member: @autoclosure () -> Member, open: Int) {
        count.wrappingAdd(1, ordering: .relaxed)
        limit.store(fixedLimit ?? max(ConnectionBudget.least, DescriptorLimit.current / 2), ordering: .relaxed)
        if open == 1 {
            let member = member()
            state.withLock { $0.members.append(member) }
        }
        if isExceeded { relieve { _ in } }
    }

    /// - Parameter open: how many connections of the member are still open.
    func closed(by number: ObjectIdentifier, open: Int) {
        count.wrappingSubtract(1, ordering: .relaxed)
        guard open == 0 else { return }
        state.withLock { state in state.members.removeAll { $0.number == number } }
    }

    /// Closes one idle connection, of the first engine that has one; the engines take turns. `then` is called on any
    /// loop, with whether there was one.
    func relieve(_ then: @escaping @Sendable (Bool) -> Void) {
        let turns = state.withLock { state -> [Member] in
            guard !state.members.isEmpty else { return [] }
            state.next = (state.next + 1) % state.members.count
            return Array(state.members[state.next...] + state.members[..<state.next])
        }
        ConnectionBudget.relieve(turns[...], then)
    }

    private static func relieve(
        _ members: ArraySlice<Member>,
        _ then: @escaping @Sendable (Bool) -> Void
    ) {
        guard let first = members.first else { return then(false) }
        let ask: @Sendable () -> Void = {
            if first.giveUp() { then(true) } else { relieve(members.dropFirst(), then) }
        }
        if first.loop.isCurrent { return ask() }
        if !first.loop.post(ask) { relieve(members.dropFirst(), then) }
    }
}
