internal import Synchronization

/// A mark that shows whether a delegate has answered, or the protocol's default implementation in its place. Swift
/// cannot tell the two apart, so the default sets the mark. A session's challenge then goes to the task's delegate, as
/// documented for both.
package final class DefaultedAnswer: Sendable {
    @TaskLocal package static var current: DefaultedAnswer?
    /// The mark that ``DelegateForms`` sets when the delegate that was asked instead has released its handler.
    @TaskLocal static var ofOther: DefaultedAnswer?

    private let mark = Atomic(false)

    package func set() { mark.store(true, ordering: .relaxed) }

    var isSet: Bool { mark.load(ordering: .relaxed) }
}
