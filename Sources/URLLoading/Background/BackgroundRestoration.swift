internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UncurlReactor

/// Restores the tasks of a background session's earlier process from their records.
enum BackgroundRestoration {
    static func task(
        _ record: BackgroundRecord,
        _ session: URLSession,
        _ folder: BackgroundFolder?
    ) -> URLSessionTask {
        let request = record.request
        let task: URLSessionTask
        switch record.kind {
        case .download:
            let spec = TaskSpec(
                request,
                .request,
                .delegate,
                resumption: resumption(record, request, folder)
            )
            task = URLSessionDownloadTask(session, record.number, spec)
        case .upload:
            let source = URL(fileURLWithPath: record.source ?? "/")
            let spec = TaskSpec(request, .file(source), .delegate, upload: record.uploadResumeData)
            task = URLSessionUploadTask(session, record.number, spec)
        }
        task.snapshot.withLock { snapshot in
            // It began in an earlier process, so the session's lists contain it.
            snapshot.hasBegun = true
            snapshot.taskDescription = record.taskDescription
            snapshot.priority = URLSessionTask.priority(record.priority)
            snapshot.beginDate = record.beginDate
            snapshot.expectsToSend = record.expectsToSend
            snapshot.expectsToReceive = record.expectsToReceive
            guard record.state == .finished else { return }
            snapshot.response = record.response
        }
        return task
    }

    /// The task of an unreadable record. Its request and its kind are unknown; its error says so.
    static func damaged(_ number: Int, setAside path: String, _ session: URLSession) -> (URLSessionTask, URLError) {
        let error = ErrorTranslation.urlError(
            .cannotOpenFile,
            nil,
            "the record of task \(number) of a background session is damaged: it is kept in \(path) for a week"
        )
        var info = error.userInfo
        info[NSFilePathErrorKey] = path
        return (URLSessionTask(session, number, TaskSpec(nil)), URLError(error.code, userInfo: info))
    }

    /// The resume data of a file on disk, as far as its ledger covers the content. Without a ledger, as for the file of
    /// a cancelled download, the resume data itself identifies the content.
    private static func resumption(
        _ record: BackgroundRecord,
        _ request: URLRequest,
        _ folder: BackgroundFolder?
    ) -> ResumeData? {
        guard let part = record.part, let validator = part.validator, let folder else { return nil }
        guard part.boot == BackgroundFolder.boot, let size = StoreFile.state(part.path)?.size else { return nil }
        let sum = try? SumLedger.read(beside: part.path)
        guard sum != nil || !folder.isOwnPart(part.path, of: record.number) else { return nil }
        let received = sum?.length ?? size
        guard received > 0, received <= size, part.expected < 0 || size <= part.expected else { return nil }
        return ResumeData(
            request: request,
            validator: validator,
            path: part.path,
            received: received,
            expected: part.expected,
            sum: sum.map { .stated($0) } ?? .none
        )
    }

    /// Gives the delegate the content of an answer. Returns the task's error if the file cannot be read to its end.
    private static func tellContent(
        of outcome: BackgroundRecord.Outcome,
        _ file: OpenFile?,
        _ task: URLSessionDataTask,
        _ session: URLSession
    ) -> URLError? {
        let recipient = session.delegate(of: task).flatMap {
            session.recipient($0, as: (any URLSessionDataDelegate).self)
        }
        guard let recipient else { return nil }
        if let content = outcome.content, !content.isEmpty {
            recipient.urlSession(session, dataTask: task, didReceive: content)
        }
        guard let file else { return nil }
        do throws(Errno) {
            try KeptAnswer.read(file) { recipient.urlSession(session, dataTask: task, didReceive: $0) }
            return nil
        } catch {
            return ErrorTranslation.urlError(
                .cannotOpenFile,
                task.originalRequest?.url,
                "the upload was answered, but the answer's content cannot be read: \(error)"
            )
        }
    }

    static func tell(_ failure: URLError, of task: URLSessionTask, _ session: URLSession) {
        task.stage = .over
        CompletionReport(task: task, session: session, failure: failure, response: nil).tell(by: CallbackQueue())
    }

    /// Reports the end of a task that an earlier process has finished but not reported. Content on disk is verified
    /// first. If it has changed, a download starts over. An upload must not be sent twice, so its answer is lost.
    static func tell(_ record: BackgroundRecord, _ task: URLSessionTask, _ session: URLSession) {
        // The task has ended, so resuming it does not begin it again.
        task.stage = .over
        let outcome = record.outcome ?? BackgroundRecord.Outcome()
        // A missing download has been taken already, although its end was not reported.
        let download = outcome.path.flatMap { outcome.sum == nil || StoreFile.state($0) == nil ? nil : $0 }
        guard let path = outcome.contentPath ?? download else { return tell(outcome, nil, task, session) }
        DispatchQueue.global(qos: .utility).async {
            let unchanged: OpenFile?
            do throws(Errno) {
                unchanged = try outcome.sum?.opened(path)
            } catch {
                // For want of descriptors or memory, nothing is known of the content. That passes.
                if error.isResourceExhaustion {
                    let later = DispatchTime.now() + .seconds(1)
                    return DispatchQueue.global(qos: .utility).asyncAfter(deadline: later) {
                        tell(record, task, session)
                    }
                }
                unchanged = nil
            }
            if let unchanged {
                tell(outcome, outcome.contentPath == nil ? nil : unchanged, task, session)
            } else if task is URLSessionDownloadTask {
                session.home.reopen(task, in: session)
            } else {
                var lost = BackgroundRecord.Outcome(code: URLError.Code.cannotOpenFile.rawValue)
                lost.reason = "the upload was answered, but the answer's content has changed on disk since"
                tell(lost, nil, task, session)
            }
        }
    }

    /// - Parameter content: the file of an upload's answer.
    private static func tell(
        _ outcome: BackgroundRecord.Outcome,
        _ content: OpenFile?,
        _ task: URLSessionTask,
        _ session: URLSession
    ) {
        let callbacks = CallbackQueue()
        let failure = outcome.code.map { code -> URLError in
            let error = ErrorTranslation.urlError(
                URLError.Code(rawValue: code) ?? .unknown,
                task.originalRequest?.url,
                outcome.reason ?? "the task failed in an earlier process"
            )
            guard let data = outcome.resumeData else { return error }
            var info = error.userInfo
            let isUpload = task is URLSessionUploadTask
            info[isUpload ? NSURLSessionUploadTaskResumeData : NSURLSessionDownloadTaskResumeData] = data
            return URLError(error.code, userInfo: info)
        }
        let report: @Sendable (URLError?) -> Void = { failure in
            var ending = CompletionReport(task: task, session: session, failure: failure, response: task.response)
            ending.file = outcome.path.flatMap { StoreFile.state($0) == nil ? nil : DownloadFile(whole: $0) }
            ending.tell(by: callbacks)
        }
        guard let dataTask = task as? URLSessionDataTask else { return report(failure) }
        callbacks.add(on: session.delegateQueue) {
            let unread = tellContent(of: outcome, content, dataTask, session)
            report(failure ?? unread)
        }
    }
}
