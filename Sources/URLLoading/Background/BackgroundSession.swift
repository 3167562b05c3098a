internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UncurlReactor
internal import UncurlSemantics

/// The part of a session that makes it a background session. Its tasks are recorded on disk and outlive their process.
/// There is no daemon: the tasks continue when a process makes the session again.
final class BackgroundSession: Sendable {
    /// Why there is no journal: another session holds the identifier, or the folder cannot be written.
    private let refusal: URLError?
    private let journal: BackgroundJournal?
    /// The numbers of tasks with unreadable records.
    private let damaged: [Int]
    /// The tasks that an earlier process finished and whose end the delegate has not received.
    private let untold = Mutex<Set<Int>>([])
    /// The tasks that ended in this process and whose end no delegate method has received.
    private let unheard = Mutex<Set<Int>>([])
    /// The content of the answers to uploads under way.
    private let answers = Mutex<[Int: KeptAnswer]>([:])

    /// Blocks on the disk.
    init(_ identifier: String, in base: String?) {
        do throws(Errno) {
            let folder = try BackgroundFolder(for: identifier, in: base)
            let found = try folder.contents()
            journal = BackgroundJournal(folder, found.records)
            damaged = found.damaged
            refusal = nil
        } catch {
            journal = nil
            damaged = []
            let isInUse = error == BackgroundFolder.inUse
            refusal = URLError(
                isInUse ? .backgroundSessionInUseByAnotherProcess : .cannotCreateFile,
                nil,
                isInUse
                    ? "another session has the identifier “\(identifier)”, here or in another process"
                    : "the session's folder: \(error.words)"
            )
        }
    }

    var folder: BackgroundFolder? { journal?.folder }

    func record(of task: URLSessionTask) -> BackgroundRecord? { journal?.record(task.taskIdentifier) }

    // MARK: Tasks

    /// Records a task. Returns why a background session cannot load it; nil if it can.
    func adopt(_ task: URLSessionTask) -> URLError? {
        guard let spec = task.spec else { return nil }
        if let refusal { return URLError(refusal, spec.request?.url) }
        do throws(URLError) {
            // Invalid resume data makes no request: its task fails as in other sessions.
            guard let journal, let record = try Self.record(of: task, spec) else { return nil }
            do throws(Errno) {
                try journal.add(record)
            } catch {
                throw Self.refusal(.cannotWriteToFile, "the task cannot be recorded: \(error.words)")
            }
            return nil
        } catch {
            return URLError(error, spec.request?.url)
        }
    }

    private static func refusal(_ code: URLError.Code, _ reason: String) -> URLError {
        URLError(code, nil, reason)
    }

    /// Makes the record of a new task; nil for a task without a request.
    private static func record(of task: URLSessionTask, _ spec: TaskSpec) throws(URLError) -> BackgroundRecord? {
        try check(spec.reception)
        let source = try source(of: task, spec.content)
        guard let request = spec.request else { return nil }
        try check(request)
        var record = BackgroundRecord(
            number: task.taskIdentifier,
            request: request,
            priority: task.priority,
            expectsToSend: -1,
            expectsToReceive: -1
        )
        // If this process ends before the waiting function resumes the task, a later process has no code that would
        // resume it. So the record counts as running.
        if case .report(_, _, isAwaited: true) = spec.reception {
            (record.state, record.begun) = (.running, Date())
        }
        record.source = source
        record.upload = spec.upload.flatMap { BackgroundRecord.Upload($0) }
        record.part = spec.resumption.map { resumption in
            BackgroundRecord.Part(
                path: resumption.path,
                validator: resumption.validator,
                expected: resumption.expected,
                boot: BackgroundFolder.boot
            )
        }
        return record
    }

    private static func check(_ reception: TaskSpec.Reception) throws(URLError) {
        switch reception {
        // An end that the process does not report is reported to the next process's delegate.
        case .delegate, .report: break
        case .data, .download, .awaitedData, .awaitedFile, .bytes:
            let reason = "a background session reports to a delegate, not to a handler or to a waiting caller"
            throw refusal(.unknown, reason)
        }
    }

    /// Returns the file that a task uploads; nil for a download.
    private static func source(of task: URLSessionTask, _ content: ContentSource) throws(URLError) -> String? {
        switch (task, content) {
        case (is URLSessionDownloadTask, .content): throw refusal(.unknown, "a form does not outlive its process")
        case (is URLSessionDownloadTask, _): return nil
        case (is URLSessionUploadTask, .file(let file)): return file.path
        case (is URLSessionUploadTask, _): throw refusal(.unknown, "a background session uploads files only")
        default: throw refusal(.unknown, "a background session has download and upload tasks only")
        }
    }

    private static func check(_ request: URLRequest) throws(URLError) {
        let scheme = request.url?.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw refusal(.unsupportedURL, "a background session loads http and https only")
        }
        if case .stream = request.values.body { throw refusal(.unknown, "a stream does not outlive its process") }
        if let reason = request.fieldRefusal { throw refusal(.badURL, reason) }
        guard request.terms.isWritable else {
            throw refusal(
                .unknown,
                "an address to connect to, and exceptions from a proxy, do not outlive their process"
            )
        }
        var record = StoreRecord()
        guard (try? record.row(request.values)) != nil, record.octets.count <= BackgroundFolder.mostRequest else {
            let reason = "the request is too long for a record; send the content as a file"
            throw refusal(.dataLengthExceedsMaximum, reason)
        }
    }

    /// Records the state of a resumed or suspended task. A resumed task is on disk when this returns.
    func noteFlow(of task: URLSessionTask) {
        journal?.change(task.taskIdentifier, waits: true) { record in
            guard record.state != .finished else { return }
            // The current state: two threads may arrive here in the other order.
            record.state = task.snapshot.withLock { $0.suspensions > 0 } ? .suspended : .running
            if record.state == .running, record.begun == nil { record.begun = Date() }
        }
    }

    func noteSettings(of task: URLSessionTask) {
        let (description, priority, beginDate) = task.snapshot.withLock {
            ($0.taskDescription, $0.priority, $0.beginDate)
        }
        let (expectsToSend, expectsToReceive) = task.snapshot.withLock { ($0.expectsToSend, $0.expectsToReceive) }
        journal?.change(task.taskIdentifier, isHint: true) { record in
            record.taskDescription = description
            record.priority = priority
            record.beginDate = beginDate
            record.expectsToSend = expectsToSend
            record.expectsToReceive = expectsToReceive
        }
    }

    // MARK: A load

    func freshPart(of task: URLSessionTask) -> String? { journal?.folder.freshPart(of: task.taskIdentifier) }

    /// Records the head of an answer, and how its content is identified.
    func note(_ task: URLSessionTask, _ response: HTTPURLResponse?, part: BackgroundRecord.Part?) {
        let isAnswer = part == nil && journal != nil
        let before = answers.withLock { answers in
            let before = answers.removeValue(forKey: task.taskIdentifier)
            if isAnswer { answers[task.taskIdentifier] = KeptAnswer() }
            return before
        }
        before?.drop()
        // The old file is removed when the record refers to the new one.
        let old = journal?.record(task.taskIdentifier)?.part?.path
        let leftover = old == part?.path ? nil : old
        let forget: @Sendable () -> Void = {
            guard let leftover else { return }
            // The resume data of this task's part may be another task's too.
            WritableFile.removeUnlessContinued(leftover)
            SumLedger.remove(beside: leftover)
        }
        // After a power failure no part counts.
        journal?.change(task.taskIdentifier, isHint: true, then: forget) { record in
            record.response = response
            record.part = part
        }
    }

    /// Records where the server keeps a resumable upload.
    func note(_ task: URLSessionTask, upload: UploadResumeData) {
        journal?.change(task.taskIdentifier) { $0.upload = BackgroundRecord.Upload(upload) }
    }

    /// Keeps a part of an answer's content. If the disk refuses it, the content is not kept.
    func note(_ task: URLSessionTask, content: Data) {
        let number = task.taskIdentifier
        guard var answer = answers.withLock({ $0.removeValue(forKey: number) }), let folder = journal?.folder else {
            return
        }
        if answer.append(content, { folder.freshPart(of: number) }) { answers.withLock { $0[number] = answer } }
    }

    /// Records the end of a task, then reports it.
    func finish(_ ending: CompletionReport, by callbacks: CallbackQueue) {
        let number = ending.task.taskIdentifier
        let failure = ending.urlError
        guard let journal, journal.record(number) != nil, failure?.code != .cancelled else {
            return ending.tell(by: callbacks)
        }
        var outcome = BackgroundRecord.Outcome()
        outcome.code = failure?.code.rawValue
        outcome.reason = failure.map { ($0 as any Error as NSError).localizedDescription }
        outcome.resumeData = failure?.downloadTaskResumeData ?? failure?.uploadTaskResumeData
        outcome.path = ending.file?.url.path
        let answer = answers.withLock { $0.removeValue(forKey: number) } ?? keptAnswer(ending.data, number)
        outcome.content = answer?.data
        let kept = answer?.finish()
        outcome.contentPath = kept?.path
        outcome.sum = kept?.sum ?? ending.file?.sum
        let response = ending.response as? HTTPURLResponse
        let last = outcome
        let tell: @Sendable () -> Void = { ending.tell(by: callbacks) }
        let part = journal.record(number)?.part?.path
        let told: @Sendable () -> Void = {
            // The record now has the sum of the whole file.
            if let part { SumLedger.remove(beside: part) }
            tell()
        }
        let files = [last.path, last.contentPath].compactMap { $0 }
        journal.change(number, behind: files, then: told) { record in
            record.state = .finished
            record.outcome = last
            record.response = response ?? record.response
            record.part = nil
        }
    }

    /// The kept answer for content in memory; nil where there is none, or the disk refuses it.
    private func keptAnswer(_ content: Data, _ number: Int) -> KeptAnswer? {
        guard let folder = journal?.folder, !content.isEmpty else { return nil }
        var answer = KeptAnswer()
        return answer.append(content, { folder.freshPart(of: number) }) ? answer : nil
    }

    /// Resets a finished task whose content has changed on disk. It starts over, but keeps its original start time.
    func reopen(_ number: Int) {
        let changed = journal?.record(number)?.outcome?.path
        let forget: @Sendable () -> Void = {
            if let changed { StoreFile.remove(changed) }
        }
        journal?.change(number, then: forget) { record in
            (record.state, record.outcome, record.response, record.part) = (.running, nil, nil, nil)
        }
        untold.withLock { _ = $0.remove(number) }
    }

    func close() { journal?.close() }

    func keep(_ task: URLSessionTask) {
        let number = task.taskIdentifier
        unheard.withLock { _ = $0.insert(number) }
    }

    func refuse(_ task: URLSessionTask) { journal?.remove(task.taskIdentifier, keepsPart: true) }

    func told(_ task: URLSessionTask) -> Bool {
        let number = task.taskIdentifier
        answers.withLock { $0.removeValue(forKey: number) }?.drop()
        if damaged.contains(number) {
            journal?.later { [folder] in folder?.setAside(number) }
        } else {
            journal?.remove(number)
        }
        return untold.withLock { untold in
            guard untold.remove(number) != nil else { return false }
            return untold.isEmpty
        }
    }
}

/// What a background session does when it begins, and with ends that no delegate method has received.
extension BackgroundSession: TaskKeeper {
    func restore(into session: URLSession) {
        // Without a delegate, tasks that have ended and those with unreadable records wait for another session.
        let hasDelegate = session.delegate != nil
        let records = journal?.all ?? []
        let restored = records.filter { hasDelegate || $0.state != .finished }.map { ($0, task(of: $0, session)) }
        let unread = hasDelegate ? damaged.compactMap { damagedTask($0, session) } : []
        untold.withLock { untold in
            untold.formUnion(restored.filter { $0.0.state == .finished }.map(\.0.number))
            if hasDelegate { untold.formUnion(damaged) }
        }
        session.state.withLock { state in
            for task in restored.map(\.1) + unread.map(\.0) { state.takeIn(task, as: task.taskIdentifier) }
            state.nextIdentifier = max(records.last?.number ?? 0, damaged.last ?? 0) + 1
        }
        let watcher = session.listener?.observer
        for (record, task) in restored {
            task.snapshot.withLock { $0.watcher = watcher }
            switch record.state {
            case .suspended: break
            case .running: task.resume()
            case .finished: Self.tell(record, task, session)
            }
        }
        for (task, failure) in unread { Self.tell(failure, of: task, session) }
    }

    func tellUnheard(of session: URLSession) {
        guard session.state.withLock({ $0.life }) == .open else { return }
        let numbers = unheard.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
        let ended = numbers.sorted().compactMap { journal?.record($0) }.filter { $0.state == .finished }
            .map { ($0, task(of: $0, session)) }
        session.state.withLock { state in
            for (record, task) in ended { state.takeIn(task, as: record.number) }
        }
        for (record, task) in ended { Self.tell(record, task, session) }
    }
}

/// Restores the tasks of a background session's earlier process from their records.
extension BackgroundSession {
    private func task(of record: BackgroundRecord, _ session: URLSession) -> URLSessionTask {
        let task: URLSessionTask
        if let source = record.source {
            let file = URL(fileURLWithPath: source)
            let spec = TaskSpec(record.request, .file(file), .delegate, upload: record.uploadResumeData)
            task = URLSessionUploadTask(session, record.number, spec)
        } else {
            let spec = TaskSpec(record.request, .request, .delegate, resumption: resumption(record))
            task = URLSessionDownloadTask(session, record.number, spec)
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
    private func damagedTask(_ number: Int, _ session: URLSession) -> (URLSessionTask, URLError)? {
        guard let path = folder?.asidePath(of: number) else { return nil }
        let error = URLError(
            .cannotOpenFile,
            nil,
            "the record of task \(number) of a background session is damaged: it is kept in \(path) for a week"
        )
        return (URLSessionTask(session, number, TaskSpec(nil)), error.with(path, for: NSFilePathErrorKey))
    }

    /// The resume data of a file on disk, as far as its ledger covers the content. Without a ledger, as for the file of
    /// a cancelled download, the resume data itself identifies the content.
    private func resumption(_ record: BackgroundRecord) -> ResumeData? {
        guard let part = record.part, let validator = part.validator, let folder else { return nil }
        guard part.boot == BackgroundFolder.boot, let size = StoreFile.state(part.path)?.size else { return nil }
        let sum = try? SumLedger.read(beside: part.path)
        guard sum != nil || !folder.isOwnPart(part.path, of: record.number) else { return nil }
        let received = sum?.length ?? size
        guard received > 0, received <= size, part.expected < 0 || size <= part.expected else { return nil }
        return ResumeData(
            request: record.request,
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
        let listener = session.listener(of: task)
        guard let listener = listener?.recipient(as: (any URLSessionDataDelegate).self, in: session) else { return nil }
        if let content = outcome.content, !content.isEmpty { listener.tell(.content(content), of: task, session) }
        guard let file else { return nil }
        do throws(Errno) {
            try KeptAnswer.read(file) { listener.tell(.content($0), of: task, session) }
            return nil
        } catch {
            return URLError(
                .cannotOpenFile,
                task.originalRequest?.url,
                "the upload was answered, but the answer's content cannot be read: \(error)"
            )
        }
    }

    private static func tell(_ failure: URLError, of task: URLSessionTask, _ session: URLSession) {
        task.stage = .over
        CompletionReport(task: task, session: session, failure: failure, response: nil).tell(by: CallbackQueue())
    }

    /// Reports the end of a task that an earlier process has finished but not reported. Content on disk is verified
    /// first. If it has changed, a download starts over. An upload must not be sent twice, so its answer is lost.
    private static func tell(_ record: BackgroundRecord, _ task: URLSessionTask, _ session: URLSession) {
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
            let error = URLError(
                URLError.Code(rawValue: code) ?? .unknown,
                task.originalRequest?.url,
                outcome.reason ?? "the task failed in an earlier process"
            )
            guard let data = outcome.resumeData else { return error }
            let isUpload = task is URLSessionUploadTask
            return error.with(
                data,
                for: isUpload ? NSURLSessionUploadTaskResumeData : NSURLSessionDownloadTaskResumeData
            )
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

/// The content of an upload's answer, kept for a delegate in another process: in memory while it is short, otherwise in
/// a file.
struct KeptAnswer: Sendable {
    /// The most octets in memory; a record holds them besides its request.
    static let mostInMemory = 1 << 20

    private(set) var data: Data? = Data()
    private var file: DownloadFile?

    /// Adds content. Returns false if the disk refuses it; then the whole answer is dropped.
    ///
    /// - Parameter path: returns the path of the file, once one is needed.
    mutating func append(_ more: Data, _ path: () -> String) -> Bool {
        if let count = data?.count, count + more.count <= KeptAnswer.mostInMemory {
            data?.append(more)
            return true
        }
        do throws(URLError) {
            let file: DownloadFile
            if let open = self.file { file = open } else { file = try DownloadFile(for: nil, at: path()) }
            self.file = file
            if let short = data.take() { try file.write(Array(short).span) }
            try file.write(Array(more).span)
            return true
        } catch {
            drop()
            return false
        }
    }

    /// Ends the complete answer. Returns its file, if it has one that the disk has not refused.
    func finish() -> (path: String, sum: ContentSum?)? {
        guard let file, (try? file.checkWrites()) != nil else {
            drop()
            return nil
        }
        file.finish(keeping: true)
        return (file.url.path, file.sum)
    }

    /// Drops the answer, which is no longer needed.
    func drop() { file?.finish(keeping: false) }

    /// Passes on a file's octets in pieces. Blocks on the disk.
    static func read(_ file: OpenFile, _ give: (Data) -> Void) throws(Errno) {
        var offset: UInt64 = 0
        while true {
            let piece = try file.read(at: offset, atMost: 256 << 10)
            if piece.isEmpty { return }
            offset += UInt64(piece.count)
            give(Data(piece))
        }
    }
}
