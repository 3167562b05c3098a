/// A loop's own object on its way through other threads: anyone may carry it, only the loop may open it.
///
/// The last reference may end on another thread, so the `deinit` of what it carries must not touch the loop.
public struct LoopBound<Value>: @unchecked Sendable {
    // `@unchecked`: the value is reachable through `value` alone, which asks for the loop's thread first.

    /// The loop whose thread may open it.
    public let loop: EventLoop
    private let carried: Value

    /// Any thread that may use `value` now; usually the loop's own.
    public init(_ value: Value, on loop: EventLoop) {
        self.loop = loop
        carried = value
    }

    /// Loop thread only; anywhere else this traps, for it would be a data race.
    public var value: Value {
        precondition(loop.isCurrent, "a loop's object was opened on another thread")
        return carried
    }
}
