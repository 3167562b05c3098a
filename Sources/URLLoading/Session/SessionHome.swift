internal import Foundation
internal import Reactor
internal import WebSocket

/// A session's way to what loads its tasks. The shells that Apple's API makes know their loader by the protocols of
/// this file alone. Any thread.
protocol SessionHome: AnyObject, Sendable {
    /// Nil for a session whose tasks end with their process.
    var keeper: (any TaskKeeper)? { get }
    /// Of the session's loop; nil where there is no loop.
    var executor: LoopExecutor? { get }
    /// Whether the caller runs on the session's loop.
    var isOnLoop: Bool { get }

    /// The task has been resumed or suspended: its load begins, stands still or goes on, by what the task says when the
    /// loop comes to it.
    func updateFlow(of task: URLSessionTask, in session: URLSession)

    /// - Returns: false if it is too late to cancel anything.
    @discardableResult
    func cancel(_ task: URLSessionTask, in session: URLSession, _ way: TaskCancellation) -> Bool

    /// A restored task that was taken for one that is over begins.
    func reopen(_ task: URLSessionTask, in session: URLSession)

    /// Nothing that was learnt from servers is used again.
    ///
    /// - Parameter then: called when that is so, on any thread.
    func forget(then: @escaping @Sendable () -> Void)

    /// Connections are closed; loads end as cancelled.
    func shutDown()

    /// The session is invalid: its user is asked nothing any more.
    func askNoSession()
}

/// How a task is cancelled.
enum TaskCancellation: Sendable {
    case atOnce
    /// Of a download: called on the delegate queue, before the end is told.
    case producingResumeData(@Sendable (Data?) -> Void)
    /// Of a WebSocket: when the server has answered the closing handshake, and without an error.
    case closing(CloseReason)
}

/// Keeps a background session's tasks beyond their process. Any thread.
protocol TaskKeeper: AnyObject, Sendable {
    /// Writes a new task down. Returns why it cannot be one of the session's, with which it fails when it is resumed.
    func adopt(_ task: URLSessionTask) -> URLError?

    /// The user has changed what stays with the task.
    func noteSettings(of task: URLSessionTask)

    /// The task's end was not heard: it is told again, to this process or another.
    func keep(_ task: URLSessionTask)

    /// Everything about the task has been told. True if all that an earlier process had left has been.
    func told(_ task: URLSessionTask) -> Bool

    /// The tasks that an earlier process has left go on where they were.
    func restore(into session: URLSession)

    /// The ends that have not been heard in this process are told once more.
    func tellUnheard(of session: URLSession)

    /// Another session with the same identifier has the tasks from here on. Waits for what is to be written.
    func close()
}

/// A task's load, as its task and its session's engine know it. Loop-confined.
protocol TaskLoad: AnyObject {
    /// As its user sees it: a data task may become another one.
    var task: URLSessionTask { get }
    /// Its place among the engine's loads, which the engine gives it.
    var index: Int { get }

    func move(to index: Int)

    func begin()
    func suspend()
    func resume()
    func cancel(_ way: TaskCancellation)
}
