internal import Synchronization

/// One question to the program's code, which is answered once: later answers are ignored. A handler that is released
/// without a call counts as no answer; otherwise its task would wait for ever.
package final class Answer<Value: Sendable>: Sendable {
    private let tell: Mutex<(@Sendable (Value?) -> Void)?>

    /// - Parameter tell: called once, on the thread that answers; nil if there will be no answer.
    package init(_ tell: @escaping @Sendable (Value?) -> Void) { self.tell = Mutex(tell) }

    package func give(_ value: Value) { take()?(value) }

    /// Withdraws the question: nothing waits for an answer any more.
    package func withdraw() { _ = take() }

    private func take() -> (@Sendable (Value?) -> Void)? {
        tell.withLock { tell in
            defer { tell = nil }
            return tell
        }
    }

    deinit { take()?(nil) }
}
