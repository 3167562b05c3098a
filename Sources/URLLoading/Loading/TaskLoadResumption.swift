internal import Foundation
internal import HTTPSemantics
internal import Reactor
internal import Synchronization

/// What a download that ends early leaves for a later one, and how a later one begins.
extension TaskLoad {
    /// Ends as cancelled; tells first what can be gone on from.
    func cancelProducingResumeData() {
        let data = resumeData()?.data
        cancelledResumeData = data
        if let handler = task.snapshot.withLock({ $0.resumeDataHandler.take() }) {
            callbacks.add(on: session.delegateQueue) { handler(data) }
        }
        cancel()
    }

    /// The failure with what can be gone on from in it.
    func withResumeData(_ failure: URLError) -> URLError {
        let isCancelled = failure.code == .cancelled
        guard let data = isCancelled ? cancelledResumeData : resumeData()?.data else { return failure }
        var info = failure.userInfo
        info[NSURLSessionDownloadTaskResumeData] = data
        return URLError(failure.code, userInfo: info)
    }

    /// Takes the file out of this load's hands. Nil where nothing of the content is on disk, or nothing tells it apart from what the
    /// server may have by then.
    private func resumeData() -> ResumeData? {
        guard case .file(let file) = sink, file.written > 0, let url = request.url, let validator else { return nil }
        file.keep()
        // Behind the session's back: its records no longer count for it.
        let path = background?.folder?.keep(file.url.path) ?? file.url.path
        return ResumeData(
            url: url,
            fields: request.allHTTPHeaderFields ?? [:],
            validator: validator,
            path: path,
            received: file.written,
            expected: file.total,
            sum: file.sum.map { .known($0) } ?? .none
        )
    }

    /// Begins with what an earlier load has left on disk, once that is known to be what was written: it is read off the loop.
    func startFromDisk(_ request: URLRequest) {
        guard let resumption, resumption.isUnread(isSummed: background != nil) else { return start(request) }
        let question = ask()
        let home = LoopBound(self, on: engine.loop)
        do throws(BlockingPool.Refusal) {
            try SharedLoops.blocking.run(on: engine.loop) {
                resumption.read
            } then: { read in
                home.value.answered(question) { _ in home.value.start(request, from: read) }
            }
        } catch {
            // No thread to read on.
            start(request, from: nil)
        }
    }

    /// - Parameter resumption: nil: what is on disk is of no use, and goes.
    private func start(_ request: URLRequest, from resumption: ResumeData?) {
        if resumption == nil, let old = self.resumption { WritableFile.remove(old.path) }
        self.resumption = resumption
        phase = .starting(nil)
        start(request)
    }

    /// By what to know the content that is coming in; nil where nothing does, or where it cannot be gone on with.
    var validator: String? {
        guard let response = response as? HTTPURLResponse, request.httpMethod == "GET" else { return nil }
        // What was decoded is of another length than what the server counts.
        let coding = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased()
        guard coding == nil || coding == "identity" else { return nil }
        guard response.statusCode == 200 || response.statusCode == 206 else { return nil }
        guard response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() != "none" else { return nil }
        return ResumeRule.validator(
            entityTag: response.value(forHTTPHeaderField: "ETag"),
            lastModified: response.value(forHTTPHeaderField: "Last-Modified"),
            date: response.value(forHTTPHeaderField: "Date").flatMap { HTTPDateText.seconds($0) },
            now: Transaction.now
        )
    }

    /// Range and If-Range of a task that goes on; nothing once it has had to start over.
    func resumptionFields() -> [(name: String, value: String)] {
        guard let resumption = resumption, !hasStartedOver else { return [] }
        return [("Range", "bytes=\(resumption.received)-"), ("If-Range", resumption.validator)]
    }

    /// The answer to a task that goes on. True if it has been dealt with: another request is on its way, or all is there.
    func isResumption(_ response: HTTPURLResponse, _ source: Source) -> Bool {
        guard let resumption = resumption, !hasStartedOver,
            redirects == 0 || response.statusCode == 206 || response.statusCode == 416
        else {
            return false
        }
        let decision = ResumeRule.decide(
            status: response.statusCode,
            contentRange: response.value(forHTTPHeaderField: "Content-Range"),
            entityTag: response.value(forHTTPHeaderField: "ETag"),
            lastModified: response.value(forHTTPHeaderField: "Last-Modified"),
            contentLength: response.expectedContentLength,
            validator: resumption.validator,
            received: resumption.received,
            expected: resumption.expected
        )
        switch decision {
        case .restart: break
        case .append(let total): return goesOn(resumption, total, source)
        case .askAgain:
            startOver(source)
            return true
        }
        hasStartedOver = true
        WritableFile.remove(resumption.path)
        return false
    }

    /// False: the answer's content goes behind what is on disk.
    private func goesOn(_ resumption: ResumeData, _ total: Int64, _ source: Source) -> Bool {
        do throws(Errno) {
            let file = try DownloadFile(resumption, total: total, for: request.url)
            if background != nil { file.beginLedger(at: engine.loop.now) }
            resumed = file
            return false
        } catch {
            // It is gone, or shorter than it was: the rest alone is nothing.
            startOver(source)
            return true
        }
    }

    /// The file on disk is of no use with this server: the whole is asked for.
    private func startOver(_ source: Source) {
        hasStartedOver = true
        if let resumption = resumption { WritableFile.remove(resumption.path) }
        phase = .starting(nil)
        drop(source)
        response = nil
        start(request)
    }

    /// Tells that the download goes on, instead of beginning.
    func tellResumption(_ file: DownloadFile) {
        let (offset, total) = (file.written, file.total)
        task.snapshot.withLock { snapshot in
            snapshot.counts.received = offset
            snapshot.counts.expectedToReceive = total
        }
        guard tellsPieces, let task = task as? URLSessionDownloadTask else { return }
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
