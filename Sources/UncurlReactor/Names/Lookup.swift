internal import Synchronization

/// A look-up under way. Loop thread only.
public final class Lookup {
    typealias Answer = (IPAddress.Family, Result<[IPAddress], ResolveError>) -> Void

    /// The families that have not answered yet.
    public private(set) var pending: Set<IPAddress.Family>
    private var answer: Answer?
    /// Whether it was cancelled, for the pool's threads.
    let abandoned = Flag()

    init(_ families: Set<IPAddress.Family>, _ answer: @escaping Answer) {
        pending = families
        self.answer = answer
    }

    /// Cancels the look-up: no answer comes after this. A call that is already blocked goes on, and its result is
    /// dropped.
    public func cancel() {
        answer = nil
        abandoned.set()
    }

    func deliver(_ family: IPAddress.Family, _ result: Result<[IPAddress], ResolveError>) {
        guard let answer else { return }
        pending.remove(family)
        if pending.isEmpty { self.answer = nil }
        answer(family, result)
    }
}

/// A flag that stays set once it is set.
final class Flag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set() { state.store(true, ordering: .relaxed) }
}
