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
        do throws(BackgroundFolder.Refusal) {
            let folder = try BackgroundFolder(for: identifier, in: base)
            let found = try folder.contents()
            journal = BackgroundJournal(folder, found.records)
            damaged = found.damaged
            refusal = nil
        } catch {
            journal = nil
            damaged = []
            switch error {
            case .inUse:
                let reason = "another session has the identifier “\(identifier)”, here or in another process"
                refusal = ErrorTranslation.urlError(.backgroundSessionInUseByAnotherProcess, nil, reason)
            case .unusable(let fault):
                refusal = ErrorTranslation.urlError(.cannotCreateFile, nil, "the session's folder: \(fault)")
            }
        }
    }

    var folder: BackgroundFolder? { journal?.folder }

    func record(of task: URLSessionTask) -> BackgroundRecord? { journal?.record(task.taskIdentifier) }

    // MARK: Tasks

    /// Records a task. Returns why a background session cannot load it; nil if it can.
    func adopt(_ task: URLSessionTask) -> URLError? {
        guard let spec = task.spec else { return nil }
        if let refusal { return ErrorTranslation.error(refusal, spec.request?.url) }
        do throws(Refusal) {
            // Invalid resume data makes no request: its task fails as in other sessions.
            guard let journal, let record = try Self.record(of: task, spec) else { return nil }
            do throws(StoreFile.Fault) {
                try journal.add(record)
            } catch {
                throw Refusal(.cannotWriteToFile, "the task cannot be recorded: \(error)")
            }
            return nil
        } catch {
            return ErrorTranslation.urlError(error.code, spec.request?.url, error.reason)
        }
    }

    /// Why a background session does not load a task.
    private struct Refusal: Error {
        let code: URLError.Code
        let reason: String

        init(_ code: URLError.Code, _ reason: String) { (self.code, self.reason) = (code, reason) }
    }

    /// Makes the record of a new task; nil for a task without a request.
    private static func record(of task: URLSessionTask, _ spec: TaskSpec) throws(Refusal) -> BackgroundRecord? {
        try check(spec.reception)
        let (kind, source) = try content(of: task, spec.content)
        guard let request = spec.request else { return nil }
        try check(request)
        var record = BackgroundRecord(
            number: task.taskIdentifier,
            kind: kind,
            request: request,
            priority: task.priority,
            expectsToSend: -1,
            expectsToReceive: -1
        )
        // If this process ends before the waiting function resumes the task, a later process has no code that would
        // resume it. So the record counts as running.
        if case .report(let terms) = spec.reception, terms.isAwaited {
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

    private static func check(_ reception: TaskSpec.Reception) throws(Refusal) {
        switch reception {
        // An end that the process does not report is reported to the next process's delegate.
        case .delegate, .report: break
        case .data, .download, .awaitedData, .awaitedFile, .bytes:
            let reason = "a background session reports to a delegate, not to a handler or to a waiting caller"
            throw Refusal(.unknown, reason)
        }
    }

    /// Returns the kind of a task, and the file that it uploads.
    private static func content(
        of task: URLSessionTask,
        _ content: ContentSource
    ) throws(Refusal) -> (BackgroundRecord.Kind, source: String?) {
        switch (task, content) {
        case (is URLSessionDownloadTask, .parts): throw Refusal(.unknown, "a form does not outlive its process")
        case (is URLSessionDownloadTask, _): return (.download, nil)
        case (is URLSessionUploadTask, .file(let file)): return (.upload, file.path)
        case (is URLSessionUploadTask, _): throw Refusal(.unknown, "a background session uploads files only")
        default: throw Refusal(.unknown, "a background session has download and upload tasks only")
        }
    }

    private static func check(_ request: URLRequest) throws(Refusal) {
        let scheme = request.url?.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw Refusal(.unsupportedURL, "a background session loads http and https only")
        }
        if case .stream = request.values.body { throw Refusal(.unknown, "a stream does not outlive its process") }
        if let refusal = request.fieldRefusal { throw Refusal(.badURL, refusal) }
        guard request.terms.isWritable else {
            throw Refusal(
                .unknown,
                "an address to connect to, and exceptions from a proxy, do not outlive their process"
            )
        }
        var octets = OctetWriter()
        octets.put(request.values)
        octets.put(extras: request.values)
        guard octets.bytes.count <= BackgroundFolder.mostRequest else {
            let reason = "the request is too long for a record; send the content as a file"
            throw Refusal(.dataLengthExceedsMaximum, reason)
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

    /// The restored tasks of earlier processes. The caller resumes those that were running, and reports the end of
    /// those that had ended. Without a delegate, ended tasks wait for another session.
    func tasks(for session: URLSession) -> [(task: URLSessionTask, record: BackgroundRecord)] {
        guard let journal else { return [] }
        let restored = journal.all.compactMap { record -> (URLSessionTask, BackgroundRecord)? in
            if record.state == .finished, session.delegate == nil { return nil }
            return (BackgroundRestoration.task(record, session, folder), record)
        }
        untold.withLock { $0.formUnion(restored.filter { $0.1.state == .finished }.map(\.1.number)) }
        return restored
    }

    /// The tasks of earlier processes with unreadable records, each with the error to report. Without a delegate they
    /// wait for another session.
    func damagedTasks(for session: URLSession) -> [(task: URLSessionTask, failure: URLError)] {
        guard let folder, session.delegate != nil else { return [] }
        untold.withLock { $0.formUnion(damaged) }
        return damaged.map { number in
            BackgroundRestoration.damaged(number, setAside: folder.asidePath(of: number), session)
        }
    }

    /// The highest number of a task with a file.
    var lastNumber: Int { max(journal?.all.last?.number ?? 0, damaged.last ?? 0) }

    // MARK: A load

    /// A path for the content of a download.
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

    /// The tasks that have ended but whose end was not received, so that it is reported again.
    func unheardTasks(for session: URLSession) -> [(task: URLSessionTask, record: BackgroundRecord)] {
        let numbers = unheard.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
        return numbers.sorted().compactMap { number in
            guard let record = journal?.record(number), record.state == .finished else { return nil }
            return (BackgroundRestoration.task(record, session, folder), record)
        }
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
        let restored = tasks(for: session)
        let damaged = damagedTasks(for: session)
        session.state.withLock { state in
            for (task, record) in restored { state.takeIn(task, as: record.number) }
            for (task, _) in damaged { state.takeIn(task, as: task.taskIdentifier) }
            state.nextIdentifier = lastNumber + 1
        }
        let watcher = session.delegate as? any TaskWatcher
        for (task, record) in restored {
            task.snapshot.withLock { $0.watcher = watcher }
            switch record.state {
            case .suspended: break
            case .running: task.resume()
            case .finished: BackgroundRestoration.tell(record, task, session)
            }
        }
        for (task, failure) in damaged { BackgroundRestoration.tell(failure, of: task, session) }
    }

    func tellUnheard(of session: URLSession) {
        guard session.state.withLock({ $0.life }) == .open else { return }
        let tasks = unheardTasks(for: session)
        session.state.withLock { state in
            for (task, record) in tasks { state.takeIn(task, as: record.number) }
        }
        for (task, record) in tasks { BackgroundRestoration.tell(record, task, session) }
    }
}
