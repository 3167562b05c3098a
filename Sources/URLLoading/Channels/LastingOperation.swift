package import Foundation

/// An operation that cannot be cancelled. A program may cancel all operations of its session's delegate queue; if that
/// cancelled the report of a task's end, whoever waits for the end would wait for ever.
private final class LastingOperation: Operation, @unchecked Sendable {
    private let call: @Sendable () -> Void

    init(_ call: @escaping @Sendable () -> Void) { self.call = call }

    override func main() { call() }

    override func cancel() {}
}

extension OperationQueue {
    /// Adds an operation that runs even if it is cancelled before.
    package func addLasting(_ call: @escaping @Sendable () -> Void) { addOperation(LastingOperation(call)) }
}
