/// A loop's own object on its way through other threads: any thread may hold it, and only the loop may open it.
///
/// The last reference may be released on another thread, so the `deinit` of the value must not use the loop.
public struct LoopBound<Value>: @unchecked Sendable {
    // `@unchecked`: the value can be reached only through `value`, which first checks for the loop's thread.

    /// The loop whose thread may open it.
    public let loop: EventLoop
    private let carried: Value

    /// Wraps a value. Any thread that may use `value` now; usually the loop's own.
    public init(_ value: Value, on loop: EventLoop) {
        self.loop = loop
        carried = value
    }

    /// The value. Loop thread only; on another thread this traps, since it would be a data race.
    public var value: Value {
        precondition(loop.isCurrent, "a loop's object was opened on another thread")
        return carried
    }
}
