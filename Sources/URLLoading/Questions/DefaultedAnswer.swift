internal import Synchronization

/// Tells a delegate that answers from one that left the answer to the protocol's default implementation. Swift cannot
/// ask for that, so the default leaves a mark. A session's challenge then goes to the task's delegate, as documented
/// for both.
package final class DefaultedAnswer: Sendable {
    @TaskLocal package static var current: DefaultedAnswer?
    /// For ``DelegateForms``: the delegate that was asked instead has released its handler.
    @TaskLocal static var ofOther: DefaultedAnswer?

    private let mark = Atomic(false)

    package func set() { mark.store(true, ordering: .relaxed) }

    var isSet: Bool { mark.load(ordering: .relaxed) }
}
