internal import Synchronization

/// One question to the program's code, which is answered once: later answers are ignored. A handler that is released
/// without a call counts as no answer; otherwise its task would wait for ever.
package final class Answer<Value: Sendable>: Sendable {
    private struct Asker {
        let tell: @Sendable (Value?) -> Void
    }

    private let asker: Mutex<Asker?>

    /// - Parameter tell: called once, on the thread that answers; nil if there will be no answer.
    package init(_ tell: @escaping @Sendable (Value?) -> Void) { asker = Mutex(Asker(tell: tell)) }

    package func give(_ value: Value) { asker.withLock { $0.take() }?.tell(value) }

    /// Withdraws the question: nothing waits for an answer any more.
    package func withdraw() { asker.withLock { $0 = nil } }

    deinit { asker.withLock { $0.take() }?.tell(nil) }
}
