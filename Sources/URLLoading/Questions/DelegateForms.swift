/// The two forms of a delegate's method: with a handler, and asynchronous. The default of each form calls the other.
enum DelegateForms {
    /// The handler's form by the asynchronous one. If that has asked another delegate, and that delegate let go of its
    /// handler, this lets go of `handler` too.
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

    /// The asynchronous form by another delegate's handler: the first call of the handler counts, and a handler that is
    /// let go of ends the wait.
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
