package import Foundation
package import FoundationEssentials
package import UncurlClient

/// What happens to a task, as its load tells it. Delegates, hooks, monitors and logs get the same value. What the
/// program is asked is a ``TaskQuestion``.
package enum TaskEvent: Sendable {
    case created
    case waitsForConnectivity
    /// The task follows a redirect of this status.
    case redirected(Int?, to: URL?)
    /// The task sends another request: the answer to a challenge, the rest of an upload, or a retry after a failure.
    case sendsAgain
    /// Content was sent: the bytes since the last call, the bytes so far, and the bytes expected (−1 if unknown).
    case sent(Int64, total: Int64, of: Int64)
    case informed(HTTPURLResponse)
    case becameDownload(URLSessionDownloadTask)
    case becameStream(URLSessionStreamTask)
    case content(Data)
    /// Decoded content of an answer that is kept in memory: the bytes so far, and the bytes expected (−1 if unknown).
    case received(Int64, of: Int64)
    /// As ``sent(_:total:of:)``, for the file of a download.
    case written(Int64, total: Int64, of: Int64)
    case resumed(at: Int64, of: Int64)
    case opened(String?)
    case closed(URLSessionWebSocketTask.CloseCode, Data?)
    case readClosed
    case writeClosed
    case captured(CapturedStreams)
    case downloaded(URL)
    case metrics(URLSessionTaskMetrics)
    case ended((any Error)?)

    /// What a listener must want to get the event.
    var interest: TaskInterests {
        switch self {
        case .created: .creation
        case .waitsForConnectivity: .connectivity
        case .redirected, .sendsAgain: .none
        case .sent: .sent
        case .informed: .informational
        case .becameDownload, .becameStream: .response
        case .content: .content
        case .received: .received
        case .written, .resumed: .written
        case .opened, .closed: .socket
        case .readClosed, .writeClosed, .captured: .stream
        case .downloaded, .ended: .all
        case .metrics: .metrics
        }
    }

    /// What a log says of the event; nil for nothing.
    var line: TaskObservation.Line? {
        switch self {
        case .waitsForConnectivity: ("waiting for connectivity", nil, nil)
        case .redirected(let status, let url): ("redirected", status, url)
        case .sendsAgain: ("trying again", nil, nil)
        default: nil
        }
    }
}

/// The events that a delegate gets. Other events are not queued for it, so they cost nothing.
package struct TaskInterests: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Use this instead of a literal: each literal makes a set from an array, by code that looks types up at run time.
    package static let none: TaskInterests = []
    package static let creation = TaskInterests(rawValue: 1 << 0)
    package static let delay = TaskInterests(rawValue: 1 << 1)
    package static let connectivity = TaskInterests(rawValue: 1 << 2)
    package static let redirect = TaskInterests(rawValue: 1 << 3)
    package static let challenge = TaskInterests(rawValue: 1 << 4)
    package static let bodyStream = TaskInterests(rawValue: 1 << 5)
    package static let sent = TaskInterests(rawValue: 1 << 6)
    package static let informational = TaskInterests(rawValue: 1 << 7)
    /// The head of the answer, and the question what to do with its content.
    package static let response = TaskInterests(rawValue: 1 << 8)
    package static let content = TaskInterests(rawValue: 1 << 9)
    package static let caching = TaskInterests(rawValue: 1 << 10)
    /// Bytes written to a file, and the offset at which a download resumes.
    package static let written = TaskInterests(rawValue: 1 << 11)
    package static let metrics = TaskInterests(rawValue: 1 << 12)
    /// The progress of content that is kept in memory.
    package static let received = TaskInterests(rawValue: 1 << 15)
    /// The events of WebSockets.
    package static let socket = TaskInterests(rawValue: 1 << 13)
    /// The events of stream tasks.
    package static let stream = TaskInterests(rawValue: 1 << 14)

    package static let all = TaskInterests(rawValue: .max)
}

/// A question of a task's load to the program. If it is released without an answer, the task fails.
package enum TaskQuestion: Sendable {
    case begin(URLRequest, Answer<(URLSession.DelayedRequestDisposition, URLRequest?)>)
    /// Nil takes the redirect's own content as the answer.
    case redirect(HTTPURLResponse, URLRequest, Answer<URLRequest?>)
    case challenge(URLAuthenticationChallenge, Answer<ChallengeSender.Reply>)
    /// The stream must begin at the offset, for an upload that resumes; nil: at its beginning.
    case bodyStream(from: Int64?, Answer<HandedStream>)
    case response(URLResponse, Answer<URLSession.ResponseDisposition>)
    /// Whether a download continues after its head. Only observers are asked.
    case download(URLResponse, Answer<Bool>)
    case caching(CachedURLResponse, Answer<CachedURLResponse?>)
}

/// A delegate that takes events as values, and states which. ``interests`` is read at each event, so a hook that is set
/// late counts. Other delegates get every event.
package protocol TaskObserver: URLSessionTaskDelegate {
    /// The events that the observer gets. They are read often, on any thread.
    var interests: TaskInterests { get }

    /// Takes an event, on the delegate queue.
    func take(_ event: TaskEvent, of task: URLSessionTask, _ session: URLSession)

    /// Answers a question, on the delegate queue or later.
    func take(_ question: TaskQuestion, of task: URLSessionTask, _ session: URLSession)

    /// Hears that a task is resumed or suspended, on the thread that does it. It is called only for changes, and not
    /// after the task's end.
    func task(_ task: URLSessionTask, isRunning: Bool)

    /// What it answers about certificates holds only for tasks with the same object; nil if the delegate answers as its
    /// session does. Read for each request to an https server.
    var answerer: (any AnyObject & Sendable)? { get }

    /// Whether the delegate handles the ends of a background session's tasks. Other ends are kept, and reported again.
    var hearsEnds: Bool { get }

    /// Whether ``keep(_:of:_:)`` is called with finished downloads of a background session.
    var takesDownloads: Bool { get }

    /// Takes a finished download of a background session. The session deletes the file when this has returned true.
    ///
    /// - Returns: false to keep the file; the download is then reported again.
    func keep(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool
}

extension TaskObserver {
    package var answerer: (any AnyObject & Sendable)? { nil }
}

/// A delegate, and whether it is an observer. The cast is made once: it takes as long as parsing a small request, and
/// every event needs its result.
enum TaskListener: Sendable {
    case observer(any TaskObserver)
    case delegate(any URLSessionTaskDelegate)

    init(_ delegate: any URLSessionTaskDelegate) {
        self = (delegate as? any TaskObserver).map { .observer($0) } ?? .delegate(delegate)
    }

    var delegate: any URLSessionTaskDelegate {
        switch self {
        case .observer(let observer): observer
        case .delegate(let delegate): delegate
        }
    }

    var observer: (any TaskObserver)? { if case .observer(let observer) = self { observer } else { nil } }

    func hears(of interest: TaskInterests) -> Bool { observer?.interests.contains(interest) ?? true }

    func tell(_ event: TaskEvent, of task: URLSessionTask, _ session: URLSession) {
        switch self {
        case .observer(let observer): observer.take(event, of: task, session)
        case .delegate(let delegate):
            if !event.call(delegate, task, session) { session.passOn(event, of: task, from: delegate) }
        }
    }

    func ask(_ question: TaskQuestion, of task: URLSessionTask, _ session: URLSession) {
        switch self {
        case .observer(let observer): observer.take(question, of: task, session)
        case .delegate(let delegate):
            if question.call(delegate, task, session) { return }
            guard let other = session.other(than: delegate) else { return question.decline() }
            other.ask(question, of: task, session)
        }
    }

    /// Whether it gets the events of that protocol.
    func isOf<Kind>(_ kind: Kind.Type) -> Bool { observer != nil || delegate is Kind }

    /// This one if it gets the events of that protocol, or else the session's delegate if that gets them.
    func recipient<Kind>(as kind: Kind.Type, in session: URLSession) -> TaskListener? {
        if isOf(kind) { return self }
        return session.other(than: delegate)?.recipient(as: kind, in: session)
    }
}

extension URLSession {
    /// The session's delegate, unless it is this one.
    fileprivate func other(than delegate: any URLSessionTaskDelegate) -> TaskListener? {
        guard let listener, listener.delegate !== delegate else { return nil }
        return listener
    }

    /// Tells the session's delegate what a task's own delegate has no method for.
    func passOn(_ event: TaskEvent, of task: URLSessionTask, from delegate: any URLSessionTaskDelegate) {
        other(than: delegate)?.tell(event, of: task, self)
    }

    /// Asks the session's delegate what a task's own delegate has no method for. A question that is released ends the
    /// wait.
    func passOn<Value: Sendable>(
        _ question: (Answer<Value>) -> TaskQuestion,
        of task: URLSessionTask,
        from delegate: any URLSessionTaskDelegate,
        otherwise: Value
    ) async -> Value {
        guard let other = other(than: delegate) else { return otherwise }
        let given: Value? = await unsafe withUnsafeContinuation { continuation in
            other.ask(question(Answer { unsafe continuation.resume(returning: $0) }), of: task, self)
        }
        if let given { return given }
        DefaultedAnswer.ofOther?.set()
        return otherwise
    }
}

/// The methods of Apple's delegates. Each returns false if the delegate is not of the protocol that has the method.
extension TaskEvent {
    fileprivate func call(
        _ delegate: any URLSessionTaskDelegate,
        _ task: URLSessionTask,
        _ session: URLSession
    ) -> Bool {
        switch self {
        case .created: delegate.urlSession(session, didCreateTask: task)
        case .waitsForConnectivity: delegate.urlSession(session, taskIsWaitingForConnectivity: task)
        case .redirected, .sendsAgain, .received: break
        case .sent(let news, let total, let expected):
            delegate.urlSession(
                session,
                task: task,
                didSendBodyData: news,
                totalBytesSent: total,
                totalBytesExpectedToSend: expected
            )
        case .informed(let response):
            delegate.urlSession(session, task: task, didReceiveInformationalResponse: response)
        case .metrics(let metrics): delegate.urlSession(session, task: task, didFinishCollecting: metrics)
        case .ended(let error): delegate.urlSession(session, task: task, didCompleteWithError: error)
        case .becameDownload, .becameStream, .content:
            guard let delegate = delegate as? any URLSessionDataDelegate else { return false }
            if let task = task as? URLSessionDataTask { call(delegate, data: task, session) }
        case .written, .resumed, .downloaded:
            guard let delegate = delegate as? any URLSessionDownloadDelegate else { return false }
            if let task = task as? URLSessionDownloadTask { call(delegate, download: task, session) }
        case .opened, .closed:
            guard let delegate = delegate as? any URLSessionWebSocketDelegate else { return false }
            if let task = task as? URLSessionWebSocketTask { call(delegate, socket: task, session) }
        case .readClosed, .writeClosed, .captured:
            guard let delegate = delegate as? any URLSessionStreamDelegate else { return false }
            if let task = task as? URLSessionStreamTask { call(delegate, stream: task, session) }
        }
        return true
    }

    private func call(_ delegate: any URLSessionDataDelegate, data task: URLSessionDataTask, _ session: URLSession) {
        switch self {
        case .becameDownload(let other): delegate.urlSession(session, dataTask: task, didBecome: other)
        case .becameStream(let other): delegate.urlSession(session, dataTask: task, didBecome: other)
        case .content(let data): delegate.urlSession(session, dataTask: task, didReceive: data)
        default: break
        }
    }

    private func call(
        _ delegate: any URLSessionDownloadDelegate,
        download task: URLSessionDownloadTask,
        _ session: URLSession
    ) {
        switch self {
        case .written(let news, let total, let expected):
            delegate.urlSession(
                session,
                downloadTask: task,
                didWriteData: news,
                totalBytesWritten: total,
                totalBytesExpectedToWrite: expected
            )
        case .resumed(let offset, let expected):
            delegate.urlSession(session, downloadTask: task, didResumeAtOffset: offset, expectedTotalBytes: expected)
        case .downloaded(let file): delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: file)
        default: break
        }
    }

    private func call(
        _ delegate: any URLSessionWebSocketDelegate,
        socket task: URLSessionWebSocketTask,
        _ session: URLSession
    ) {
        switch self {
        case .opened(let choice): delegate.urlSession(session, webSocketTask: task, didOpenWithProtocol: choice)
        case .closed(let code, let reason):
            delegate.urlSession(session, webSocketTask: task, didCloseWith: code, reason: reason)
        default: break
        }
    }

    private func call(
        _ delegate: any URLSessionStreamDelegate,
        stream task: URLSessionStreamTask,
        _ session: URLSession
    ) {
        switch self {
        case .readClosed: delegate.urlSession(session, readClosedFor: task)
        case .writeClosed: delegate.urlSession(session, writeClosedFor: task)
        case .captured(let streams):
            delegate.urlSession(session, streamTask: task, didBecome: streams.input, outputStream: streams.output)
        default: break
        }
    }
}

extension TaskQuestion {
    fileprivate func call(
        _ delegate: any URLSessionTaskDelegate,
        _ task: URLSessionTask,
        _ session: URLSession
    ) -> Bool {
        switch self {
        case .begin(let request, let answer):
            delegate.urlSession(session, task: task, willBeginDelayedRequest: request) { answer.give(($0, $1)) }
        case .redirect(let response, let request, let answer):
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request) {
                answer.give($0)
            }
        case .challenge(let challenge, let answer):
            delegate.urlSession(session, task: task, didReceive: challenge) { answer.give(($0, $1)) }
        case .bodyStream(let offset, let answer):
            let give: @Sendable (InputStream?) -> Void = { answer.give(HandedStream(stream: $0)) }
            guard let offset else {
                delegate.urlSession(session, task: task, needNewBodyStream: give)
                break
            }
            delegate.urlSession(session, task: task, needNewBodyStreamFrom: offset, completionHandler: give)
        case .response(let response, let answer):
            guard let delegate = delegate as? any URLSessionDataDelegate, let task = task as? URLSessionDataTask else {
                return false
            }
            delegate.urlSession(session, dataTask: task, didReceive: response) { answer.give($0) }
        case .caching(let cached, let answer):
            guard let delegate = delegate as? any URLSessionDataDelegate, let task = task as? URLSessionDataTask else {
                return false
            }
            delegate.urlSession(session, dataTask: task, willCacheResponse: cached) { answer.give($0) }
        case .download(_, let answer): answer.give(true)
        }
        return true
    }

    /// Answers as if there were no delegate.
    package func decline() {
        switch self {
        case .begin(_, let answer): answer.give((.continueLoading, nil))
        case .redirect(_, let request, let answer): answer.give(request)
        case .challenge(_, let answer): answer.give((.performDefaultHandling, nil))
        case .bodyStream(_, let answer): answer.give(HandedStream(stream: nil))
        case .response(_, let answer): answer.give(.allow)
        case .download(_, let answer): answer.give(true)
        case .caching(let cached, let answer): answer.give(cached)
        }
    }
}

/// A stream on its way from the program to the loader. The program does not use it after it has given it away.
package struct HandedStream: @unchecked Sendable {
    package let stream: InputStream?

    package init(stream: InputStream?) { self.stream = stream }
}
