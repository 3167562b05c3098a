import Synchronization
import URLLoading

/// Uploads a file with the draft for resumable uploads until its answer is there, which is printed: in a background
/// session, where it goes on with what a process before this one has left of it, or in another. For tests that kill it,
/// or let it kill itself: with `DIES_AFTER` in the environment it does once so many octets have left.
final class FileUpload: NSObject, URLSessionDataDelegate {
    private struct State {
        var waiter: CheckedContinuation<Bool, Never>?
        var answer = Data()
        var hasFailed = false
        var isOver = false
        /// The server has said where the upload can be gone on with.
        var isResumable = false
        /// In octets: all that the kernel has taken in this process.
        var sent: Int64 = 0
    }

    private let state = Mutex(State())
    private let diesAfter = ProcessInfo.processInfo.environment["DIES_AFTER"].flatMap { Int64($0) } ?? .max

    /// False: the upload failed.
    ///
    /// - Parameter identifier: of the background session; nil for a session of this process alone.
    static func run(_ identifier: String?, _ url: URL, _ file: String) async -> Bool {
        let configuration = identifier.map { URLSessionConfiguration.background(withIdentifier: $0) } ?? .ephemeral
        configuration.connectionProxyDictionary = [:]
        let version = ProcessInfo.processInfo.environment["UPLOAD_VERSION"].flatMap { Int($0) } ?? 6
        configuration.resumableUploads = URLSessionConfiguration.ResumableUploadVersion(rawValue: version)
        let upload = FileUpload()
        return await withCheckedContinuation { continuation in
            upload.state.withLock { $0.waiter = continuation }
            let session = URLSession(configuration: configuration, delegate: upload, delegateQueue: nil)
            session.getAllTasks { tasks in
                // A process that was killed before it resumed its task has left one that is suspended.
                for task in tasks { task.resume() }
                guard tasks.isEmpty, upload.state.withLock({ !$0.isOver }) else { return }
                var request = URLRequest(url: url)
                request.httpMethod = "POST"
                session.uploadTask(with: request, fromFile: URL(fileURLWithPath: file)).resume()
            }
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let isResumable = state.withLock { state in
            state.sent += bytesSent
            // What goes on has been told of in another process.
            return state.isResumable || state.sent < totalBytesSent
        }
        if isResumable, totalBytesSent >= diesAfter { kill(getpid(), SIGKILL) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) { state.withLock { $0.isResumable = $0.isResumable || response.statusCode == 104 } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.answer.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
        let (waiter, answer, sent) = state.withLock { state in
            state.isOver = true
            state.hasFailed = error != nil || status >= 300
            defer { state.waiter = nil }
            return (state.waiter, state.answer, state.sent)
        }
        if let error { print("failed: \(error)") }
        print("sent \(sent)")
        print(status, String(decoding: answer, as: UTF8.self))
        waiter?.resume(returning: state.withLock { !$0.hasFailed })
    }
}
