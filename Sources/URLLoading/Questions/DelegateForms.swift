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
