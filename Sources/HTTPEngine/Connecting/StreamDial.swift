internal import Reactor

/// A connection on its way to whoever asked for it: by ``Engine/open(_:options:then:)`` or
/// ``Engine/secure(_:as:having:options:then:)``. Loop-confined.
public final class StreamDial {
    typealias Outcome = Result<UpgradedConnection, EngineError>

    private let engine: Engine
    private var then: ((Outcome) -> Void)?
    /// The call that made it has not returned: its outcome is told later.
    private var isStarting = true

    init(_ engine: Engine, then: @escaping (Outcome) -> Void) {
        self.engine = engine
        self.then = then
    }

    /// Nothing is heard of it any more.
    public func cancel() {
        guard then != nil else { return }
        then = nil
        let mine = engine.dials.values.first { dial in
            if case .stream(let asker, _) = dial.purpose { asker === self } else { false }
        }
        if let mine { engine.abandon(mine) }
        engine.endIfDrained()
    }

    func start(_ body: () -> Void) {
        body()
        isStarting = false
    }

    func ended(_ outcome: Outcome) {
        guard isStarting else { return tell(outcome) }
        let later = LoopBound((self, outcome), on: engine.loop)
        engine.loop.post { later.value.0.tell(later.value.1) }
    }

    private func tell(_ outcome: Outcome) {
        // Cancelled meanwhile, nobody will hold it.
        guard let then else {
            if case .success(let connection) = outcome { connection.close() }
            return
        }
        self.then = nil
        then(outcome)
    }
}
