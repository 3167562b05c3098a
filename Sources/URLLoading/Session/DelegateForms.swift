/// How the two forms of a delegate's method, by a handler and asynchronous, stand in for each other: each one's default is the other.
enum DelegateForms {
    /// The handler's form by the asynchronous one. Where that has asked another delegate, which let go of its handler, `handler` is let go of
    /// too: what becomes of the task is decided there.
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

    /// The asynchronous form by another delegate's handler: its first call counts, and one that is let go of is waited for no longer.
    static func ask<Value: Sendable>(
        otherwise: Value,
        _ put: (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value {
        let given: Value? = await unsafe withUnsafeContinuation { continuation in
            let answer = Answer<Value> { unsafe continuation.resume(returning: $0) }
            put { answer.give($0) }
        }
        if let given { return given }
        DefaultedAnswer.ofOther?.set()
        return otherwise
    }
}
