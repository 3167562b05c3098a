package import Foundation
package import FoundationEssentials
internal import Synchronization
package import UncurlEngine

/// What one task asks of its session: fixed when the task is made, and shared with its load.
///
/// The task holds its spec for its whole life, and a handler may hold the task, directly or through Uncurl. So the
/// receiver is taken out of the spec when the end is reported: otherwise the two would keep each other alive.
final class TaskSpec: Sendable {
    /// How the task's result is received.
    enum Reception: Sendable {
        /// By the delegates of task and session, piece by piece.
        case delegate
        case data
        case download
        /// By a function such as `data(for:)` that waits: it is resumed from the loop, without the delegate queue.
        case awaitedData
        case awaitedFile
        /// By an asynchronous sequence, which takes bytes as it is read.
        case bytes(ByteChannel)
        /// By one receiver, which gets everything at the end; the delegate gets the events of its interests.
        ///
        /// `isAwaited`: whether a function waits for the end. It resumes its task itself.
        case report(TaskReceiver.Keeping, collectsMetrics: Bool, isAwaited: Bool)
    }

    let request: URLRequest?
    let content: ContentSource
    let reception: Reception
    /// The receiver; nil once it has been taken to report the end.
    private let receiver: Mutex<TaskReceiver?>
    /// The resume data of an earlier download, which this one continues.
    let resumption: ResumeData?
    /// The resume data of an earlier upload, which this one continues.
    let upload: UploadResumeData?
    /// The destination of a stream task, which has no request.
    let place: StreamPlace?

    init(
        _ request: URLRequest?,
        _ content: ContentSource = .request,
        _ reception: Reception = .delegate,
        _ receiver: TaskReceiver = .ofReception,
        resumption: ResumeData? = nil,
        upload: UploadResumeData? = nil
    ) {
        self.request = request
        self.content = request.flatMap { TaskSpec.given(by: $0, content) } ?? content
        self.reception = reception
        self.receiver = Mutex(receiver)
        self.resumption = resumption
        self.upload = upload
        place = nil
    }

    init(to place: StreamPlace) {
        (request, content, resumption, upload) = (nil, .request, nil, nil)
        reception = .delegate
        receiver = Mutex(.ofReception)
        self.place = place
    }

    /// Takes the receiver of the end; nil once it has been taken.
    func takeReceiver() -> TaskReceiver? { receiver.withLock { $0.take() } }

    /// Returns the content that Uncurl has given to a task's request. The task keeps it from the start, because each
    /// request after the first sends it again.
    private static func given(by request: URLRequest, _ content: ContentSource) -> ContentSource? {
        switch content {
        case .request, .stream: request.content.map { .content($0) }
        case .data, .file, .content: nil
        }
    }
}

extension TaskSpec {
    /// Makes the spec of a resumed download. If the data is not resume data, the spec has no request, and the task
    /// fails. If it names another file than a part, the spec is that of a download from the start.
    ///
    /// - Parameter request: the request that is sent; nil for that of the resume data.
    convenience init(
        resumingFrom data: Data,
        by request: URLRequest? = nil,
        in session: URLSession,
        _ reception: Reception,
        _ receiver: TaskReceiver = .ofReception
    ) {
        guard let resumption = ResumeData(data) else {
            self.init(nil, .request, reception, receiver)
            return
        }
        let hasPart = resumption.hasPart(of: session.ownConfiguration.stateDirectory)
        self.init(
            request ?? resumption.request,
            .request,
            reception,
            receiver,
            resumption: hasPart ? resumption : nil
        )
    }

    /// Makes the spec of a resumed upload. If the data was not made by this library, the spec has no request, and the
    /// task fails.
    convenience init(uploadResumingFrom data: Data, _ reception: Reception, _ receiver: TaskReceiver = .ofReception) {
        guard let upload = UploadResumeData(data) else {
            self.init(nil, .request, reception, receiver)
            return
        }
        self.init(upload.request, ContentSource(upload.content), reception, receiver, upload: upload)
    }
}

extension ContentSource {
    fileprivate init(_ content: UploadResumeData.Content) {
        switch content {
        case .data(let data): self = .data(data)
        case .file(let path, _): self = .file(URL(fileURLWithPath: path))
        case .stream: self = .stream
        }
    }
}

extension URLRequest {
    /// Makes the request that asks for the rest; nil for data that is not resume data.
    package init?(resuming data: Data) {
        guard let resumption = ResumeData(data) else { return nil }
        self = resumption.request
    }
}

/// A function that waits for its task's end.
@safe enum TaskContinuation: Sendable {
    case data(UnsafeContinuation<(Data, URLResponse), any Error>)
    case file(UnsafeContinuation<(URL, URLResponse), any Error>)
}

/// The source of the request's content.
package enum ContentSource: Sendable {
    /// The request itself: its data, its stream, or none.
    case request
    case data(Data)
    case file(URL)
    /// The request's stream; if it has none, the delegate is asked for one (`needNewBodyStream`).
    case stream
    /// Content that Uncurl has given to the first request.
    case content(Content)
}

/// What is called with a task's end, besides its delegates. Uncurl makes its tasks with the last two, which get
/// everything in one call: on the session's loop, or on its delegate queue if something was reported there before.
@safe package enum TaskReceiver: Sendable {
    /// Nothing besides them, or what the reception says.
    case ofReception
    case data(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
    case download(@Sendable (URL?, URLResponse?, (any Error)?) -> Void)
    case handler(@Sendable (TaskOutcome) -> Void)
    /// The function that has made the task and waits for it.
    case waiter(UnsafeContinuation<TaskOutcome, Never>)

    /// Where the answer's content is kept.
    package enum Keeping: Sendable {
        case memory
        case file
        /// The content is not kept: the delegate takes it, piece by piece. The cache may store it nevertheless.
        case nothing(isStorable: Bool)
    }
}

/// The result of a task. It is a class, because it is passed on many times.
package final class TaskOutcome: Sendable {
    /// The task that ended. It is not the one that began if the answer became a download.
    package let task: URLSessionTask
    package let response: URLResponse?
    /// The content that was kept in memory; for a failed task, the part that had come.
    package let data: Data
    /// The file, which the receiver may move or delete; nil for a task that failed.
    package let file: URL?
    package let error: URLError?
    package let metrics: URLSessionTaskMetrics?
    /// For a background session's task: the receiver calls this once, with true if it has taken the result, and with
    /// false if the result is to be reported again. Until then the session keeps the result on disk.
    package let settle: (@Sendable (_ wasTaken: Bool) -> Void)?
    /// The receiver ends it when all that follows from the task's end is on the delegate queue.
    package let hold: SessionHold?

    package init(
        task: URLSessionTask,
        response: URLResponse?,
        data: Data,
        file: URL?,
        error: URLError?,
        metrics: URLSessionTaskMetrics?,
        settle: (@Sendable (_ wasTaken: Bool) -> Void)? = nil,
        hold: SessionHold? = nil
    ) {
        self.task = task
        self.response = response
        self.data = data
        self.file = file
        self.error = error
        self.metrics = metrics
        self.settle = settle
        self.hold = hold
    }
}

/// Keeps a session from becoming invalid while the end of one of its tasks is passed on, so that what follows from that
/// end comes first. Any thread.
package final class SessionHold: Sendable {
    /// The session, until it is let go.
    private let session: Mutex<URLSession?>

    package init(_ session: URLSession) {
        self.session = Mutex(session)
        session.state.withLock { $0.holds += 1 }
    }

    /// Lets the session go: all that follows from the task's end is on the delegate queue. A hold that is released does
    /// so too.
    package func end() {
        guard let session = session.withLock({ $0.take() }) else { return }
        let isEnd = session.state.withLock { state in
            state.holds -= 1
            return state.isOver
        }
        if isEnd { session.becomeInvalid() }
    }

    deinit { end() }
}

extension URLSessionTask {
    /// Whether the session was open when the task was made. If not, the session does not have the task, which fails
    /// when it is resumed.
    package var isOfOpenSession: Bool { isTakenIn }
}

/// The functions by which Uncurl makes its tasks.
extension URLSession {
    /// The kind of a task with a report, and the source of its request's content.
    package enum ReportedKind: Sendable {
        case data
        case upload(ContentSource)
        case download(ContentSource)
        case resumedDownload(Data)

        package var content: ContentSource {
            switch self {
            case .data, .resumedDownload: .request
            case .upload(let content), .download(let content): content
            }
        }
    }

    /// Makes a suspended task.
    ///
    /// - Parameters:
    ///   - request: the request; nil takes that of the resume data.
    ///   - delegate: the task's own delegate. It is also told when the task is resumed or suspended.
    ///   - receiver: a handler or a waiter. It must be called only once.
    package func task(
        _ kind: ReportedKind,
        _ request: URLRequest?,
        delegate: any TaskObserver,
        keeping: TaskReceiver.Keeping,
        collectsMetrics: Bool,
        to receiver: TaskReceiver
    ) -> URLSessionTask {
        let isAwaited = if case .waiter = receiver { true } else { false }
        let reception = TaskSpec.Reception.report(keeping, collectsMetrics: collectsMetrics, isAwaited: isAwaited)
        let waitsOnLoop = isAwaited && home.isOnLoop
        // The session tells its delegate of a task when it takes it in: the task has its own delegate by then.
        func made<Made: URLSessionTask>(_ make: (Int) -> Made) -> Made {
            add { number in
                let task = make(number)
                task.listen(by: delegate, waitsOnLoop: waitsOnLoop)
                return task
            }
        }
        return switch kind {
        case .data: made { URLSessionDataTask(self, $0, TaskSpec(request, .request, reception, receiver)) }
        case .upload(let content):
            made { URLSessionUploadTask(self, $0, TaskSpec(request, content, reception, receiver)) }
        case .download(let content):
            made { URLSessionDownloadTask(self, $0, TaskSpec(request, content, reception, receiver)) }
        case .resumedDownload(let data):
            made {
                URLSessionDownloadTask(
                    self,
                    $0,
                    TaskSpec(resumingFrom: data, by: request, in: self, reception, receiver)
                )
            }
        }
    }
}

extension URLSessionTask {
    /// Gives a new task its delegate, which also hears when the task is resumed or suspended.
    func listen(by delegate: any TaskObserver, waitsOnLoop: Bool = false) {
        snapshot.withLock { snapshot in
            snapshot.listener = .observer(delegate)
            snapshot.watcher = delegate
            snapshot.waitsOnLoop = waitsOnLoop
        }
    }
}
