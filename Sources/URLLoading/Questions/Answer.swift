internal import Synchronization

/// One question to the program's code, which is answered once: later answers are ignored. A handler that is released
/// without a call counts as no answer; otherwise its task would wait for ever.
package final class Answer<Value: Sendable>: Sendable {
    private let tell: Mutex<(@Sendable (Value?) -> Void)?>

    /// - Parameter tell: called once, on the thread that answers; nil if there will be no answer.
    package init(_ tell: @escaping @Sendable (Value?) -> Void) { self.tell = Mutex(tell) }

    package func give(_ value: Value) { take()?(value) }

    /// Withdraws the question: nothing waits for an answer any more.
    func withdraw() { _ = take() }

    private func take() -> (@Sendable (Value?) -> Void)? {
        tell.withLock { tell in
            defer { tell = nil }
            return tell
        }
    }

    deinit { take()?(nil) }
}

/// The two forms of a delegate's method: with a handler, and asynchronous. The default of each form calls the other.
enum DelegateForms {
    /// Calls the asynchronous form for the one with a handler. If that has asked another delegate, and that delegate
    /// released its handler, this releases `handler` too.
    static func answer<Value: Sendable>(
        _ handler: @escaping @Sendable (Value) -> Void,
        by form: @escaping @Sendable () async -> Value
    ) {
        Task.immediate {
            let mark = DefaultedAnswer()
            let value = await DefaultedAnswer.$ofOther.withValue(mark) { await form() }
            if !mark.isSet { handler(value) }
        }
    }
}
