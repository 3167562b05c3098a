public import UncurlReactor

/// An engine as other threads use it: by messages to its loop.
public struct EngineHandle: Sendable {
    private let engine: LoopBound<Engine>
    /// The engine's loop.
    public let loop: EventLoop

    init(_ engine: Engine) {
        loop = engine.loop
        self.engine = LoopBound(engine, on: engine.loop)
    }

    /// Runs `body` with the engine on its loop. Returns false if the loop has ended: then `body` will not run.
    @discardableResult
    public func post(_ body: @escaping @Sendable (Engine) -> Void) -> Bool {
        let engine = engine
        return loop.post { body(engine.value) }
    }
}
