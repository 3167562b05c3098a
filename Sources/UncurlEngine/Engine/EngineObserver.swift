/// Hears of events between exchanges and the network: for logs, meters and metrics. Called on the engine's loop, which
/// must not be blocked; it must not call the engine back.
public protocol EngineObserver: AnyObject {
    /// Reports an event that happened just now by the loop's clock.
    func engine(_ engine: Engine, didObserve event: EngineEvent)
}
