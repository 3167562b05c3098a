internal import Foundation
internal import Reactor
internal import Synchronization

/// What a download that ends early leaves for a later one, and how a later one begins.
extension TaskLoad {
    /// Ends as cancelled; tells first what can be gone on from.
    func cancel(producingResumeData tell: @escaping @Sendable (Data?) -> Void) {
        let data = resumeData()?.data
        callbacks.add(on: session.delegateQueue) { tell(data) }
        cancel()
    }

    /// The failure with what can be gone on from in it.
    func withResumeData(_ failure: URLError) -> URLError {
        guard failure.code != .cancelled, let data = resumeData()?.data else { return failure }
        var info = failure.userInfo
        info[NSURLSessionDownloadTaskResumeData] = data
        return URLError(failure.code, userInfo: info)
    }

    /// Takes the file out of this load's hands. Nil where nothing of the content is on disk, or nothing tells it apart from what the
    /// server may have by then.
    private func resumeData() -> ResumeData? {
        guard case .file(let file) = sink, file.written > 0, let url = request.url else { return nil }
        guard let response = response as? HTTPURLResponse, request.httpMethod == "GET" else { return nil }
        // What was decoded is of another length than what the server counts.
        guard response.value(forHTTPHeaderField: "Content-Encoding") == nil else { return nil }
        let date = response.value(forHTTPHeaderField: "Date").flatMap { HTTPDateText.date($0) }
        let validator = ResumeRule.validator(
            entityTag: response.value(forHTTPHeaderField: "ETag"),
            lastModified: response.value(forHTTPHeaderField: "Last-Modified"),
            date: date
        )
        guard response.statusCode == 200 || response.statusCode == 206, let validator else { return nil }
        guard response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() != "none" else { return nil }
        file.keep()
        return ResumeData(
            url: url,
            fields: request.allHTTPHeaderFields ?? [:],
            validator: validator,
            path: file.url.path,
            received: file.written,
            expected: file.total
        )
    }

    /// Range and If-Range of a task that goes on; nothing once it has had to start over.
    func resumptionFields() -> [(name: String, value: String)] {
        guard let resumption = order.resumption, !hasStartedOver else { return [] }
        return [("Range", "bytes=\(resumption.received)-"), ("If-Range", resumption.validator)]
    }

    /// The answer to a task that goes on. True if it has been dealt with: another request is on its way, or all is there.
    func isResumption(_ response: HTTPURLResponse, _ source: Source) -> Bool {
        guard let resumption = order.resumption, !hasStartedOver, redirects == 0 || response.statusCode == 206 else {
            return false
        }
        let decision = ResumeRule.decide(
            status: response.statusCode,
            contentRange: response.value(forHTTPHeaderField: "Content-Range"),
            entityTag: response.value(forHTTPHeaderField: "ETag"),
            contentLength: response.expectedContentLength,
            validator: resumption.validator,
            received: resumption.received,
            expected: resumption.expected
        )
        switch decision {
        case .restart: break
        case .append(let total): return goesOn(resumption, total)
        case .complete: return goesOn(resumption, resumption.received)
        case .askAgain:
            startOver(source)
            return true
        }
        hasStartedOver = true
        WritableFile.remove(resumption.path)
        return false
    }

    private func goesOn(_ resumption: ResumeData, _ total: Int64) -> Bool {
        guard let file = try? DownloadFile(resumption, total: total, for: request.url) else { return false }
        resumed = file
        return false
    }

    /// The file on disk is of no use with this server: the whole is asked for.
    private func startOver(_ source: Source) {
        hasStartedOver = true
        if let resumption = order.resumption { WritableFile.remove(resumption.path) }
        phase = .starting(nil)
        drop(source)
        start(request)
    }

    /// Tells that the download goes on, instead of beginning.
    func tellResumption(_ file: DownloadFile) {
        let (offset, total) = (file.written, file.total)
        task.snapshot.withLock { snapshot in
            snapshot.counts.received = offset
            snapshot.counts.expectedToReceive = total
        }
        guard involvesDelegate, let task = task as? URLSessionDownloadTask else { return }
        tell(.written) { session, _, delegate in
            (delegate as? any URLSessionDownloadDelegate)?.urlSession(
                session,
                downloadTask: task,
                didResumeAtOffset: offset,
                expectedTotalBytes: total
            )
        }
    }
}
