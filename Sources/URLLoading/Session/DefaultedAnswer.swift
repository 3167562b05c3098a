internal import Synchronization

/// A mark that shows whether a delegate has answered, or the protocol's default implementation in its place. Swift
/// cannot tell the two apart, so the default sets the mark. A session's challenge then goes to the task's delegate, as
/// documented for both.
package final class DefaultedAnswer: Sendable {
    @TaskLocal package static var current: DefaultedAnswer?
    /// The mark that is set when the delegate that was asked instead has released its handler.
    @TaskLocal static var ofOther: DefaultedAnswer?

    private let mark = Atomic(false)

    /// The delegate whose method for a task's challenges, the form with a handler, is the protocol's default: it calls
    /// the other form.
    @TaskLocal static var ofHandler: ObjectIdentifier?
    /// The types of delegates of which both forms of that method are the default: they leave each such question to the
    /// session.
    private static let only = Mutex<Set<ObjectIdentifier>>([])

    /// Whether the default is known to answer for this delegate.
    static func isOnly(by delegate: AnyObject) -> Bool {
        only.withLock { $0.contains(ObjectIdentifier(type(of: delegate))) }
    }

    /// Notes that the default of the asynchronous form runs for this delegate.
    static func noteOther(by delegate: AnyObject) {
        guard ofHandler == ObjectIdentifier(delegate) else { return }
        only.withLock { _ = $0.insert(ObjectIdentifier(type(of: delegate))) }
    }

    package func set() { mark.store(true, ordering: .relaxed) }

    var isSet: Bool { mark.load(ordering: .relaxed) }
}

/// The two forms of a delegate's method: with a handler, and asynchronous. The default of each form calls the other.
extension DefaultedAnswer {
    /// Calls the asynchronous form for the one with a handler. If that has asked another delegate, and that delegate
    /// released its handler, this releases `handler` too.
    static func give<Value: Sendable>(
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
