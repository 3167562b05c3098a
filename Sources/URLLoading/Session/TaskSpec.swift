internal import Foundation
package import FoundationEssentials
internal import Synchronization
package import UncurlEngine

/// What one task asks of its session: fixed when the task is made, and shared with its load.
///
/// The task holds its spec for its whole life, and a handler may hold the task, directly or through Uncurl. So the
/// receiver is taken out of the spec when the end is reported: otherwise the two would keep each other alive.
final class TaskSpec: Sendable {
    /// What gets the task's result.
    enum Receiver: Sendable {
        /// The delegates of task and session, piece by piece.
        case delegate
        case data(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
        case download(@Sendable (URL?, URLResponse?, (any Error)?) -> Void)
        /// A function such as `data(for:)` that waits: it is resumed from the loop, without the delegate queue.
        case awaitedData
        case awaitedFile
        /// An asynchronous sequence, which takes bytes as it is read.
        case bytes(ByteChannel)
        /// One closure, which gets everything at the end; the delegate gets the events of its interests.
        case report(TaskReport)
    }

    let request: URLRequest?
    let content: ContentSource
    /// The kind of receiver, without what is called at the end.
    enum Reception: Sendable {
        case delegate
        case data
        case download
        case awaitedData
        case awaitedFile
        case bytes(ByteChannel)
        case report(TaskReport.Terms)
    }

    let reception: Reception
    /// The receiver; nil once it has been taken to report the end.
    private let receiver: Mutex<Receiver?>
    /// The resume data of an earlier download, which this one continues.
    let resumption: ResumeData?
    /// The resume data of an earlier upload, which this one continues.
    let upload: UploadResumeData?
    /// The destination of a stream task, which has no request.
    let place: StreamPlace?

    init(
        _ request: URLRequest?,
        _ content: ContentSource = .request,
        _ receiver: Receiver = .delegate,
        resumption: ResumeData? = nil,
        upload: UploadResumeData? = nil
    ) {
        self.request = request
        self.content = request.flatMap { TaskSpec.given(by: $0, content) } ?? content
        reception = receiver.reception
        self.receiver = Mutex(receiver)
        self.resumption = resumption
        self.upload = upload
        place = nil
    }

    init(to place: StreamPlace) {
        (request, content, resumption, upload) = (nil, .request, nil, nil)
        reception = .delegate
        receiver = Mutex(.delegate)
        self.place = place
    }

    /// Takes the receiver of the end; nil once it has been taken.
    func takeReceiver() -> Receiver? { receiver.withLock { $0.take() } }

    /// Returns the content that Uncurl has given to a task's request. The task keeps it from the start, because each
    /// request after the first sends it again.
    private static func given(by request: URLRequest, _ content: ContentSource) -> ContentSource? {
        switch content {
        case .request, .stream: request.content.map { .content($0) }
        case .data, .file, .content: nil
        }
    }
}

extension TaskSpec.Receiver {
    fileprivate var reception: TaskSpec.Reception {
        switch self {
        case .delegate: .delegate
        case .data: .data
        case .download: .download
        case .awaitedData: .awaitedData
        case .awaitedFile: .awaitedFile
        case .bytes(let channel): .bytes(channel)
        case .report(let report): .report(report.terms)
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
        _ receiver: Receiver
    ) {
        guard let resumption = ResumeData(data) else {
            self.init(nil, .request, receiver)
            return
        }
        let hasPart = resumption.hasPart(of: session.ownConfiguration.stateDirectory)
        self.init(request ?? resumption.request, .request, receiver, resumption: hasPart ? resumption : nil)
    }

    /// Makes the spec of a resumed upload. If the data was not made by this library, the spec has no request, and the
    /// task fails.
    convenience init(uploadResumingFrom data: Data, _ receiver: Receiver) {
        guard let upload = UploadResumeData(data) else {
            self.init(nil, .request, receiver)
            return
        }
        self.init(upload.request, ContentSource(upload.content), receiver, upload: upload)
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
