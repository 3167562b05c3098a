internal import UncurlReactor

/// A connection that is being opened for a caller, by ``Engine/open(_:options:then:)`` or
/// ``Engine/secure(_:as:having:options:then:)``. Loop-confined.
public final class StreamDial {
    typealias Answer = Result<UpgradedConnection, EngineError>

    private let loop: EventLoop
    private let cancelled: (StreamDial) -> Void
    private var then: ((Answer) -> Void)?
    /// Whether the call that made it has not returned: then its outcome is reported later.
    private var isStarting = true

    /// - Parameter cancelled: gives up the dial under way, if there is one.
    init(on loop: EventLoop, cancelled: @escaping (StreamDial) -> Void, then: @escaping (Answer) -> Void) {
        self.loop = loop
        self.cancelled = cancelled
        self.then = then
    }

    /// Gives the dial up. The completion is not called.
    public func cancel() {
        guard then != nil else { return }
        then = nil
        cancelled(self)
    }

    func start(_ body: () -> Void) {
        body()
        isStarting = false
    }

    func ended(_ outcome: Answer) {
        guard isStarting else { return tell(outcome) }
        let later = LoopBound((self, outcome), on: loop)
        loop.post { later.value.0.tell(later.value.1) }
    }

    private func tell(_ outcome: Answer) {
        // If it was cancelled meanwhile, the connection has no owner.
        guard let then else {
            if case .success(let connection) = outcome { connection.close() }
            return
        }
        self.then = nil
        then(outcome)
    }
}
