import Synchronization
import URLLoading

/// Downloads a URL in a background session, or goes on with what a process before this one has left of it, until the
/// file is where it should be. For tests that kill it, or let it kill itself: with `DIES_AFTER` in the environment it does once so many
/// octets have come.
final class BackgroundDownload: NSObject, URLSessionDownloadDelegate {
    private let destination: String
    private let ended = Mutex<CheckedContinuation<Bool, Never>?>(nil)
    private let failed = Atomic(false)
    private let diesAfter = ProcessInfo.processInfo.environment["DIES_AFTER"].flatMap { Int64($0) } ?? .max

    init(to destination: String) { self.destination = destination }

    /// False: the download failed.
    static func run(_ identifier: String, _ url: URL, _ destination: String) async -> Bool {
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        configuration.connectionProxyDictionary = [:]
        let download = BackgroundDownload(to: destination)
        return await withCheckedContinuation { continuation in
            download.ended.withLock { $0 = continuation }
            let session = URLSession(configuration: configuration, delegate: download, delegateQueue: nil)
            session.getAllTasks { tasks in
                // A process that was killed before it resumed its task has left one that is suspended.
                for task in tasks { task.resume() }
                guard tasks.isEmpty else { return }
                if FileManager.default.fileExists(atPath: destination) { return download.end() }
                session.downloadTask(with: url).resume()
            }
        }
    }

    private func end() {
        let waiter = ended.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        waiter?.resume(returning: !failed.load(ordering: .relaxed))
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        if rename(location.path, destination) != 0 { failed.store(true, ordering: .relaxed) }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        if totalBytesWritten >= diesAfter { kill(getpid(), SIGKILL) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let error else { return }
        print("failed: \(error)")
        failed.store(true, ordering: .relaxed)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        // Told again for each end; what matters is that the file is there.
        let isThere = FileManager.default.fileExists(atPath: destination)
        if isThere || failed.load(ordering: .relaxed) { end() }
    }
}
