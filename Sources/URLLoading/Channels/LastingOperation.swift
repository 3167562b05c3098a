package import Foundation

/// An operation that cannot be cancelled. A program may cancel all operations of its session's delegate queue. What the
/// session has put there runs even so, because a caller may wait for it.
private final class LastingOperation: Operation, @unchecked Sendable {
    private let call: @Sendable () -> Void

    init(_ call: @escaping @Sendable () -> Void) { self.call = call }

    override func main() { call() }

    override func cancel() {}
}

extension OperationQueue {
    /// Adds an operation that runs even if the program cancels it.
    package func addLasting(_ call: @escaping @Sendable () -> Void) { addOperation(LastingOperation(call)) }
}
