internal import Foundation

/// The task that a stream, a WebSocket or a source of an answer reports to. Loop-confined.
protocol LoadDelegate: AnyObject {
    /// The task as the program sees it: a data task may become another one.
    var task: URLSessionTask { get }
    var session: URLSession { get }

    /// Ends the task.
    func end(_ error: (any Error)?)

    /// Tells an event on the delegate queue after earlier calls, if the delegate gets it.
    func tell(_ event: TaskEvent)
    /// Runs `call` on the delegate queue, whether or not there is a delegate.
    func later(_ call: @escaping @Sendable () -> Void)
}

/// Gets what the source of a task's answer delivers. Loop-confined.
protocol SourceDelegate: LoadDelegate {
    /// Reports the head of the answer.
    func received(_ response: URLResponse)
    /// Reports decoded content; the span is the loop's buffer.
    func receive(_ bytes: Span<UInt8>)
    /// Reports that the whole answer is there.
    func finished()
}
