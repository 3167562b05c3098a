internal import Synchronization
internal import UncurlReactor

/// An engine, in its role for the budget that it shares. Called on its loop.
protocol BudgetMember: AnyObject {
    var loop: EventLoop { get }

    /// Closes the connection that has been idle longest. Returns false if none is idle.
    func closeEldestIdle() -> Bool
}

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

    private struct State {
        /// The engines with open connections, in the order in which they got their first.
        var members: [(number: ObjectIdentifier, member: LoopBound<any BudgetMember>)] = []
        /// The index of the engine whose turn it is to give up a connection.
        var next = 0
    }

    private let state = Mutex(State())
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
    func opened(by member: any BudgetMember, open: Int) {
        count.wrappingAdd(1, ordering: .relaxed)
        limit.store(fixedLimit ?? max(ConnectionBudget.least, DescriptorLimit.current / 2), ordering: .relaxed)
        if open == 1 {
            let (number, bound) = (ObjectIdentifier(member), LoopBound(member, on: member.loop))
            state.withLock { $0.members.append((number, bound)) }
        }
        if isExceeded { relieve { _ in } }
    }

    /// - Parameter open: how many connections of the member are still open.
    func closed(by member: any BudgetMember, open: Int) {
        count.wrappingSubtract(1, ordering: .relaxed)
        guard open == 0 else { return }
        let number = ObjectIdentifier(member)
        state.withLock { state in state.members.removeAll { $0.number == number } }
    }

    /// Closes one idle connection, of the first engine that has one; the engines take turns. `then` is called on any
    /// loop, with whether there was one.
    func relieve(_ then: @escaping @Sendable (Bool) -> Void) {
        let turns = state.withLock { state -> [LoopBound<any BudgetMember>] in
            guard !state.members.isEmpty else { return [] }
            state.next = (state.next + 1) % state.members.count
            return (state.members[state.next...] + state.members[..<state.next]).map(\.member)
        }
        ConnectionBudget.relieve(turns[...], then)
    }

    private static func relieve(
        _ members: ArraySlice<LoopBound<any BudgetMember>>,
        _ then: @escaping @Sendable (Bool) -> Void
    ) {
        guard let first = members.first else { return then(false) }
        let ask: @Sendable () -> Void = {
            if first.value.closeEldestIdle() { then(true) } else { relieve(members.dropFirst(), then) }
        }
        if first.loop.isCurrent { return ask() }
        if !first.loop.post(ask) { relieve(members.dropFirst(), then) }
    }
}
