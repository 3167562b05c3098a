internal import Foundation
internal import HTTPEngine
internal import Synchronization

/// What a session is asked for by one task: fixed when the task is made, and shared with its load.
///
/// The task holds its order for ever, and a handler may hold the task, or what the room above keeps of it. So the
/// receiver is taken out of the order to be told of the end: a task that has ended holds nothing of the user's that
/// could hold the task.
final class TaskSpec: Sendable {
    /// What gets what comes back.
    enum Receiver: Sendable {
        /// Task and session delegates, piece by piece.
        case delegate
        case data(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
        case download(@Sendable (URL?, URLResponse?, (any Error)?) -> Void)
        /// `data(for:)` and its kin wait: told from the loop, past the delegate queue.
        case awaitedData
        case awaitedFile
        /// An asynchronous sequence, which takes bytes as it is read.
        case bytes(ByteChannel)
        /// One closure, told of all there is; the delegate hears of what it is interested in.
        case report(TaskReport)
    }

    let request: URLRequest?
    let content: ContentSource
    /// Without what is called at the end.
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
    /// Nil once it has been taken to be told.
    private let receiver: Mutex<Receiver?>
    /// A download that goes on behind what an earlier one has written.
    let resumption: ResumeData?
    /// Where a stream task leads, which has no request.
    let place: StreamPlace?

    init(
        _ request: URLRequest?,
        _ content: ContentSource = .request,
        _ receiver: Receiver = .delegate,
        resumption: ResumeData? = nil
    ) {
        self.request = request
        self.content = request.flatMap { TaskSpec.segments(of: $0, content) } ?? content
        reception = receiver.reception
        self.receiver = Mutex(receiver)
        self.resumption = resumption
        place = nil
    }

    init(to place: StreamPlace) {
        (request, content, resumption) = (nil, .request, nil)
        reception = .delegate
        receiver = Mutex(.delegate)
        self.place = place
    }

    /// What is to be told of the end; nil once that has been asked for.
    func takeReceiver() -> Receiver? { receiver.withLock { $0.take() } }

    /// A request's segments are the task's from the start: whatever request follows on the first, they are sent with
    /// it.
    private static func segments(of request: URLRequest, _ content: ContentSource) -> ContentSource? {
        switch content {
        case .request, .stream: request.segments.map { .segments($0) }
        case .data, .file, .segments: nil
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
    /// Of a download that goes on; without a request, and so failing, if the data is none of this library's.
    convenience init(resumingFrom data: Data, _ receiver: Receiver) {
        guard let resumption = ResumeData(data) else {
            self.init(nil, .request, receiver)
            return
        }
        self.init(URLRequest(resuming: resumption), .request, receiver, resumption: resumption)
    }
}

extension URLRequest {
    /// The request that is to be sent for the rest; nil for data that was not written here.
    package init?(resuming data: Data) {
        guard let resumption = ResumeData(data) else { return nil }
        self.init(resuming: resumption)
    }

    init(resuming resumption: ResumeData) {
        self.init(url: resumption.url)
        for (name, value) in resumption.fields { setValue(value, forHTTPHeaderField: name) }
    }
}
