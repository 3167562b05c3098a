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

    /// Calls another delegate's form with a handler for the asynchronous one. The first call of the handler counts, and
    /// a handler that is released ends the wait.
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
