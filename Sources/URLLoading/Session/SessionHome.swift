internal import Foundation
internal import Reactor
internal import WebSocket

/// A session's connection to what loads its tasks. The classes of Apple's API know their loader only by the protocols
/// in this file. Any thread.
protocol SessionHome: AnyObject, Sendable {
    /// Keeps the tasks of a background session; nil for a session whose tasks end with their process.
    var keeper: (any TaskKeeper)? { get }
    /// The executor of the session's loop; nil where there is no loop.
    var executor: LoopExecutor? { get }
    /// Whether the caller runs on the session's loop.
    var isOnLoop: Bool { get }

    /// Notes that the task has been resumed or suspended. Its load begins, stops or goes on, by the task's state at the
    /// time the loop comes to it.
    func updateFlow(of task: URLSessionTask, in session: URLSession)

    /// - Returns: false if it is too late to cancel anything.
    @discardableResult
    func cancel(_ task: URLSessionTask, in session: URLSession, _ way: TaskCancellation) -> Bool

    /// Begins a restored task that was taken for a completed one.
    func reopen(_ task: URLSessionTask, in session: URLSession)

    /// Forgets what was learnt from servers, so that none of it is used again.
    ///
    /// - Parameter then: called on any thread when it is done, and credentials that were to be stored have been.
    func forget(then: @escaping @Sendable () -> Void)

    /// Closes the connections, and ends the loads as cancelled.
    func shutDown()

    /// Notes that the session is invalid: its user is asked nothing any more.
    func askNoSession()
}

/// How a task is cancelled.
enum TaskCancellation: Sendable {
    case atOnce
    /// For a download. The handler is called on the delegate queue, before the end is told.
    case producingResumeData(@Sendable (Data?) -> Void)
    /// For a WebSocket: the task ends when the server has answered the closing handshake, without an error.
    case closing(CloseReason)
}

/// Keeps a background session's tasks beyond their process. Any thread.
protocol TaskKeeper: AnyObject, Sendable {
    /// Records a new task. Returns why the session cannot have it; the task fails with that when it is resumed.
    func adopt(_ task: URLSessionTask) -> URLError?

    /// Notes that the user has changed a setting that is kept with the task.
    func noteSettings(of task: URLSessionTask)

    /// Keeps the task's end, which was not heard: it is told again, to this process or another.
    func keep(_ task: URLSessionTask)

    /// Notes that everything about the task has been told. Returns true if that was the last of what an earlier process
    /// had left.
    func told(_ task: URLSessionTask) -> Bool

    /// Goes on with the tasks that an earlier process has left.
    func restore(into session: URLSession)

    /// Tells the ends that have not been heard in this process once more.
    func tellUnheard(of session: URLSession)

    /// Hands the tasks over to another session with the same identifier. Waits for what is still to be written.
    func close()
}

/// A task's load, as its task and its session's engine know it. Loop-confined.
protocol TaskLoad: AnyObject {
    /// The task as its user sees it: a data task may become another one.
    var task: URLSessionTask { get }
    /// Its place among the engine's loads, which the engine gives it.
    var index: Int { get }

    func move(to index: Int)

    func begin()
    func suspend()
    func resume()
    func cancel(_ way: TaskCancellation)
}
