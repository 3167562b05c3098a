internal import Foundation
internal import UncurlReactor
internal import UncurlWebSocket

/// A session's connection to what loads its tasks. The classes of Apple's API know their loader only by the protocols
/// in this file. Any thread.
protocol SessionHome: AnyObject, Sendable {
    /// Keeps the tasks of a background session; nil for a session whose tasks end with their process.
    var keeper: (any TaskKeeper)? { get }
    /// The executor of the session's loop; nil where there is no loop.
    var executor: LoopExecutor? { get }
    /// Whether the caller runs on the session's loop.
    var isOnLoop: Bool { get }

    /// Notes that the task has been resumed or suspended. Its load begins, pauses or continues, according to the task's
    /// state when the message runs on the loop.
    func updateFlow(of task: URLSessionTask, in session: URLSession)

    /// - Returns: false if it is too late to cancel anything.
    @discardableResult
    func cancel(_ task: URLSessionTask, in session: URLSession, _ way: TaskCancellation) -> Bool

    /// Begins a restored task that was taken for a completed one.
    func reopen(_ task: URLSessionTask, in session: URLSession)

    /// Forgets what was learnt from servers, so that none of it is used again.
    ///
    /// - Parameter then: called on any thread when this is done, and pending credentials have been stored.
    func forget(then: @escaping @Sendable () -> Void)

    /// Lets later tasks have new connections. Tasks under way keep theirs to their ends.
    ///
    /// - Parameter then: called on any thread when this is done.
    func renewConnections(then: @escaping @Sendable () -> Void)

    /// Closes the connections, and ends the loads as cancelled.
    func shutDown()

    /// Notes that the session is invalid: its delegate is asked nothing more.
    func askNoSession()
}

/// How a task is cancelled.
enum TaskCancellation: Sendable {
    case atOnce
    /// For a download. The handler is called on the delegate queue, before the end is reported.
    case producingResumeData(@Sendable (Data?) -> Void)
    /// For a WebSocket: the task ends when the server has answered the closing handshake, without an error.
    case closing(CloseReason)
}

/// Keeps a background session's tasks beyond their process. Any thread.
protocol TaskKeeper: AnyObject, Sendable {
    /// Records a new task. If the session cannot have it, returns the error with which the task fails when it is
    /// resumed.
    func adopt(_ task: URLSessionTask) -> URLError?

    /// Forgets a new task that its session has not taken in. The part of a download that it was to continue stays.
    func refuse(_ task: URLSessionTask)

    /// Notes that the program has changed a setting that is kept with the task.
    func noteSettings(of task: URLSessionTask)

    /// Keeps the task's end, because no delegate handled it. It is reported again, in this process or another.
    func keep(_ task: URLSessionTask)

    /// Notes that everything about the task has been reported. Returns true if it was the last task that an earlier
    /// process had left.
    func told(_ task: URLSessionTask) -> Bool

    /// Continues the tasks that an earlier process has left.
    func restore(into session: URLSession)

    /// Reports again the ends that no delegate has handled in this process.
    func tellUnheard(of session: URLSession)

    /// Releases the tasks for another session with the same identifier. Blocks until everything is written.
    func close()
}

/// A task's load, as its task and its session's engine know it. Loop-confined.
protocol TaskLoad: AnyObject {
    /// The task as the program sees it: a data task may become another one.
    var task: URLSessionTask { get }
    /// The load's place among the engine's loads. The engine sets it.
    var index: Int { get }

    func move(to index: Int)

    func begin()
    func suspend()
    func resume()
    func cancel(_ way: TaskCancellation)
}
