internal import Reactor
internal import Synchronization

/// An engine, as the budget that it shares sees it. Called on its loop.
protocol BudgetMember: AnyObject {
    var loop: EventLoop { get }

    /// Closes the connection that has been idle longest. False: none is idle.
    func closeEldestIdle() -> Bool
}

/// What the connections of several engines may take of a process's descriptors: half of the limit, at least eight.
///
/// Busy connections are never closed for it. Past the limit each connection that would be parked is closed instead, and
/// each one that is opened closes an idle one, of whichever engine has one. So idle connections are bounded for the
/// process, however many engines there are. Where descriptors run out all the same, an engine asks the others for their
/// idle connections (`makeRoom(within:)`). Any thread.
public final class ConnectionBudget: Sendable {
    /// The budget of engines that name no other (``EngineConfiguration/budget``).
    public static let process = ConnectionBudget()

    /// As few as these are always kept open: a process with so few descriptors would open a connection for each
    /// request.
    private static let least = 8

    private struct State {
        /// The engines with open connections, in the order in which they came to have one.
        var members: [(number: ObjectIdentifier, member: LoopBound<any BudgetMember>)] = []
        /// Whose turn it is to give up a connection.
        var next = 0
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)
    private let limit = Atomic<Int>(.max)
    private let fixedLimit: Int?

    /// - Parameter limit: connections, in place of half of the process's descriptors.
    public init(limit: Int? = nil) { fixedLimit = limit }

    /// Connections that are open now, busy or idle.
    public var open: Int { count.load(ordering: .relaxed) }

    /// More are open than the budget has room for.
    var isExceeded: Bool { open > limit.load(ordering: .relaxed) }

    /// - Parameter open: the member's open connections, this one included.
    func opened(by member: any BudgetMember, open: Int) {
        count.wrappingAdd(1, ordering: .relaxed)
        limit.store(fixedLimit ?? max(ConnectionBudget.least, DescriptorLimit.current / 2), ordering: .relaxed)
        if open == 1 {
            let (number, bound) = (ObjectIdentifier(member), LoopBound(member, on: member.loop))
            state.withLock { $0.members.append((number, bound)) }
        }
        if isExceeded { relieve { _ in } }
    }

    /// - Parameter open: the connections that the member has left.
    func closed(by member: any BudgetMember, open: Int) {
        count.wrappingSubtract(1, ordering: .relaxed)
        guard open == 0 else { return }
        let number = ObjectIdentifier(member)
        state.withLock { state in state.members.removeAll { $0.number == number } }
    }

    /// Closes one idle connection, of the first engine that has one; the engines take turns. `then` hears whether there
    /// was one, on any loop.
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
        // A caller that waits holds its own loop.
        if first.loop.isCurrent { return ask() }
        if !first.loop.post(ask) { relieve(members.dropFirst(), then) }
    }

    /// The same for a caller that can go no further without a descriptor: waits for other loops until one of them has
    /// closed a connection, for `limit` at most.
    func relieve(within limit: Duration) -> Bool {
        let answer = Monitor<Bool?>(nil)
        relieve { found in answer.update { $0 = found } }
        return answer.wait(atMost: limit, until: { $0 }) ?? false
    }
}
