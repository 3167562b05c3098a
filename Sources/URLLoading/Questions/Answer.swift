internal import Synchronization

/// One question to the user's code, answered once: later answers are ignored. A handler that is let go of without a
/// call counts as no answer, or its task would wait for ever.
final class Answer<Value: Sendable>: Sendable {
    private let tell: Mutex<(@Sendable (Value?) -> Void)?>

    /// - Parameter tell: called once, on whatever thread the answer comes from; nil: there will be none.
    init(_ tell: @escaping @Sendable (Value?) -> Void) { self.tell = Mutex(tell) }

    func give(_ value: Value) { take()?(value) }

    /// Nothing waits for an answer any more.
    func withdraw() { _ = take() }

    private func take() -> (@Sendable (Value?) -> Void)? {
        tell.withLock { tell in
            defer { tell = nil }
            return tell
        }
    }

    deinit { take()?(nil) }
}
