internal import Foundation
internal import Synchronization
public import URLLoading
internal import UncurlClient

/// The delegate of one task. It has the task's hooks and progress, and the operations that follow its end. The task and
/// its delegate retain each other until the task's end. A delegate without a task is that of the manager's session. It
/// receives the session's events, and those of tasks that the manager did not make. It refers only to the core, so that
/// releasing the manager ends the session.
///
/// Every member may be used from any thread.
public class TaskDelegate: NSObject, TaskObserver, @unchecked Sendable {
    private struct State {
        var task: URLSessionTask?
        var hooks: Shared<TaskHooks>?
        var ownReason: UncurlError?
        /// Made on demand, because few tasks need it.
        var queue: OperationQueue?
        var isOver = false
        var facts: ResponseFacts?
        var credential: URLCredential?
        var usesCredentialStorage = true
        /// The readers of the whole transfer's progress.
        var uploadReaders: ProgressReaders?
        var downloadReaders: ProgressReaders?
        /// The content so far; nil where it is not kept.
        var kept: Data?
        /// Whether the delegate keeps the metrics, for a task whose end does not carry them.
        var collectsMetrics = false
        var collected: URLSessionTaskMetrics?
        /// Called with the download that a hook has turned the task into.
        var didBecomeDownload: (@Sendable (URLSessionTask) -> Void)?
    }

    let core: ManagerCore
    /// The options of the task's request; nil where it has none.
    private let options: Shared<RequestOptions>?
    private let newBodyStream: (@Sendable () throws -> InputStream)?
    private let takesHead: (@Sendable (HTTPURLResponse?) -> Bool)?
    private let takesContent: (@Sendable (URLSessionTask, Data) -> Void)?
    /// The monitors of the task's transfer; nil for a task that the manager did not make.
    let watchers: Watchers?
    private let hearsDetails: Bool
    /// What the plan and the monitors want to be asked and told, whatever the hooks want.
    private let lasting: TaskInterests
    private let state: Mutex<State>
    private let own: Atomic<UInt16>

    init(_ core: ManagerCore, _ plan: TaskPlan? = nil, _ watchers: Watchers? = nil) {
        self.core = core
        options = plan?.options
        (newBodyStream, takesHead, takesContent) = (plan?.newBodyStream, plan?.takesHead, plan?.takesContent)
        self.watchers = watchers
        hearsDetails = watchers?.hearsDetails ?? false
        var interests = options?.values.interests ?? .none
        if takesHead != nil { interests.insert(.response) }
        if takesContent != nil { interests.insert(.content) }
        if newBodyStream != nil { interests.insert(.bodyStream) }
        if hearsDetails { interests.formUnion(TransferDetail.interests) }
        lasting = interests
        if let hooks = options?.values.hooksBox { interests.formUnion(hooks.values.interests) }
        own = Atomic(interests.rawValue)
        state = Mutex(State(hooks: options?.values.hooksBox))
    }

    /// The task; nil before it is made.
    public var task: URLSessionTask? { state.withLock { $0.task } }

    /// Stores the task. The reference is strong, and the task releases its delegate at its end. A weak reference would
    /// move the task's reference counts into a side table, and a small request changes them a hundred times.
    func attach(_ task: URLSessionTask) { state.withLock { $0.task = task } }

    /// The task's own hooks, called after the manager's. A closure that returns an answer is called only if the manager
    /// has no such closure, except ``TaskHooks/didFinishDownloading``: it is also called if the manager's returns nil.
    public var hooks: TaskHooks {
        get { state.withLock { $0.hooks }?.values ?? TaskHooks() }
        _modify {
            let turn = Self.turns.begin()
            var hooks = state.withLock { $0.hooks }?.values ?? TaskHooks()
            defer {
                change { $0.hooks = Shared(hooks) }
                Self.turns.end(turn)
            }
            yield &hooks
        }
    }

    /// The changes of hooks. All tasks share them: few have hooks that are changed later.
    private static let turns = ChangeTurns()

    /// Called with the lock held.
    private func interests(_ state: State) -> TaskInterests {
        var interests = lasting.union(state.hooks?.values.interests ?? .none)
        if state.credential != nil || !state.usesCredentialStorage { interests.insert(.challenge) }
        if state.kept != nil { interests.insert(.content) }
        if state.collectsMetrics { interests.insert(.metrics) }
        if state.uploadReaders != nil { interests.insert(.sent) }
        if state.downloadReaders != nil { interests = interests.union(.received).union(.written) }
        return interests
    }

    private func change(_ body: (inout State) -> Void) {
        let old = state.withLock { state in
            let old = state.hooks
            body(&state)
            own.store(interests(state).rawValue, ordering: .relaxed)
            return old
        }
        // Released outside the lock: hooks hold the program's values.
        withExtendedLifetime(old) {}
    }

    // MARK: Results and settings

    /// The head of the answer; nil before it has come.
    public var response: URLResponse? { facts?.response ?? task?.response }

    /// Why the task failed; nil before its end, and where it succeeded.
    public var error: UncurlError? { facts?.error }

    /// The metrics of the task; nil before its end, and unless the manager collects metrics.
    public var metrics: URLSessionTaskMetrics? { facts?.metrics }

    /// When the first byte of the answer came; nil unless the manager collects metrics.
    public var timeOfFirstByte: Date? { metrics?.transactionMetrics.last?.responseStartDate }

    /// The resume data of a cut or cancelled download; nil before its end.
    public var resumeData: Data? { facts?.resumeData }

    /// Answers the first challenge that is not about trust, of the request's origin or of a proxy. It may be set until
    /// that challenge comes; one with a client certificate until the request is sent. Connections that were made with
    /// that certificate serve only requests whose credential has the same identity object.
    public var credential: URLCredential? {
        get { state.withLock { $0.credential } ?? options?.values.credential }
        set { change { $0.credential = newValue } }
    }

    /// Whether the session's credential storage may answer a challenge that has no other answer. By default true.
    public var usesCredentialStorage: Bool {
        get { state.withLock { $0.usesCredentialStorage } }
        set { change { $0.usesCredentialStorage = newValue } }
    }

    /// Calls the closure if a hook turns the task into a download.
    func onBecomingDownload(_ call: @escaping @Sendable (URLSessionTask) -> Void) {
        state.withLock { $0.didBecomeDownload = call }
    }

    func becomeDownload(_ task: URLSessionTask) {
        attach(task)
        state.withLock({ $0.didBecomeDownload })?(task)
    }

    func tellDetail(_ detail: @autoclosure () -> TransferDetail?) {
        if hearsDetails, let detail = detail() { watchers?.tellDetail(detail) }
    }

    func collectMetrics() { change { $0.collectsMetrics = true } }

    func collect(_ metrics: URLSessionTaskMetrics) {
        state.withLock { state in
            if state.collectsMetrics { state.collected = metrics }
        }
    }

    var collected: URLSessionTaskMetrics? { state.withLock { $0.collected } }

    var facts: ResponseFacts? { state.withLock { $0.facts } }

    /// Stores the facts of the ended task.
    func note(_ facts: ResponseFacts) { state.withLock { $0.facts = facts } }

    var keepsData: Bool {
        get { state.withLock { $0.kept != nil } }
        set { change { $0.kept = newValue ? $0.kept ?? Data() : nil } }
    }

    var kept: Data { state.withLock { $0.kept } ?? Data() }

    func keep(_ data: Data) { state.withLock { $0.kept?.append(data) } }

    // MARK: Failures and ends

    /// The task's own hook for its end. It is read for every task.
    var didComplete: (@Sendable (URLSession, URLSessionTask, (any Error)?) -> Void)? {
        state.withLock { $0.hooks }?.values.didComplete
    }

    /// The reason why this manager made the task fail. It replaces the transport's error.
    var ownReason: UncurlError? {
        get { state.withLock { $0.ownReason } }
        set { state.withLock { $0.ownReason = newValue } }
    }

    /// The failure of a task that ended with this error; nil where it succeeded.
    func reason(for error: URLError?, of task: URLSessionTask) -> UncurlError? {
        error.map { error in
            let url = (task.currentRequest ?? task.originalRequest)?.url
            let refusal = core.refusal(behind: error, of: url?.host)
            let reason = ownReason ?? UncurlError(error, of: task.originalRequest, refusal: refusal)
            guard case .trust(var failure) = reason else { return reason }
            failure.url = url
            return .trust(failure)
        }
    }

    /// A queue whose operations begin, in order, when the task has ended. Operations that are added later begin at
    /// once.
    public var queue: OperationQueue {
        state.withLock { state in
            if let queue = state.queue { return queue }
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.isSuspended = !state.isOver
            state.queue = queue
            return queue
        }
    }

    /// Starts the queue. Called after the task has ended and its handlers have returned.
    func open() {
        let queue = state.withLock { state in
            state.isOver = true
            return state.queue
        }
        queue?.isSuspended = false
    }

    /// Whether the task's end has been reported, so that ``error`` is known. The end of a task that an earlier process
    /// has left is not reported to its delegate: it counts as reported.
    package var isTold: Bool { type(of: self) == TaskDelegate.self || state.withLock { $0.isOver } }

    /// The progress of the request's content.
    public var uploadProgress: TransferProgress { TransferProgress(sentBy: task) }

    /// The progress of the response's content.
    public var downloadProgress: TransferProgress { TransferProgress(receivedBy: task) }

    // MARK: Events that the session reports

    package var interests: TaskInterests {
        TaskInterests(rawValue: own.load(ordering: .relaxed)).union(core.interests)
    }

    package var answerer: (any AnyObject & Sendable)? {
        guard TaskInterests(rawValue: own.load(ordering: .relaxed)).contains(.challenge) else { return nil }
        let (hooks, usesStorage) = state.withLock { ($0.hooks, $0.usesCredentialStorage) }
        // The manager's hook is called in place of the task's own.
        let ownHook = core.hooks.didReceiveChallenge == nil && hooks?.values.didReceiveChallenge != nil ? hooks : nil
        switch (ownHook, credential?.identity, usesStorage) {
        case (nil, nil, true): return nil
        case (let hooks?, nil, true): return hooks
        case (nil, let identity?, true): return identity
        case (nil, nil, false): return Self.withoutStorage
        case (_?, _?, _), (_?, nil, false), (nil, _?, false): return self
        }
    }

    /// Stands for all tasks that differ from others only in that no stored credential answers for them.
    private static let withoutStorage = Shared(TaskHooks())

    package func task(_ task: URLSessionTask, isRunning: Bool) {
        core.post(isRunning ? .taskDidResume : .taskDidSuspend, task)
    }

    // MARK: Progress

    func tell(uploadTo readers: ProgressReaders) { change { $0.uploadReaders = readers } }

    func tell(downloadTo readers: ProgressReaders) { change { $0.downloadReaders = readers } }

    func tellSent(_ sent: Int64, of expected: Int64) {
        let progress = TransferProgress(sent, of: expected)
        tellDetail(.sent(progress))
        state.withLock({ $0.uploadReaders })?.tell(progress)
        options?.values.uploadProgress?(progress)
    }

    func tellReceived(_ received: Int64, of expected: Int64) {
        let progress = TransferProgress(received, of: expected)
        tellDetail(.received(progress))
        state.withLock({ $0.downloadReaders })?.tell(progress)
        options?.values.downloadProgress?(progress)
    }
}

/// A stream without its first octets: the rest of an upload that resumes. The first octets are read when the stream is
/// opened, which happens on the thread that reads it.
final class RestOfStream: InputStream {
    private let whole: InputStream
    private let offset: Int64
    private var isTooShort = false

    init(_ whole: InputStream, from offset: Int64) {
        (self.whole, self.offset) = (whole, offset)
        super.init(data: Data())
    }

    override func open() {
        whole.open()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var left = offset
        while left > 0 {
            let room = Int(min(left, Int64(buffer.count)))
            let count = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
                unsafe buffer.baseAddress.map { unsafe whole.read($0, maxLength: room) } ?? 0
            }
            isTooShort = count == 0
            guard count > 0 else { return }
            left -= Int64(count)
        }
    }

    override func close() { whole.close() }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        unsafe whole.read(buffer, maxLength: len)
    }

    override var hasBytesAvailable: Bool { whole.hasBytesAvailable }

    override var streamStatus: Stream.Status { isTooShort ? .error : whole.streamStatus }

    override var streamError: (any Error)? {
        guard isTooShort else { return whole.failure }
        let words = "The new stream of the request's content ends before octet \(offset), which the server has."
        return URLError(.requestBodyStreamExhausted, words: words)
    }
}

/// The events of the session.
extension TaskDelegate: URLSessionDelegate {
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        core.sessionHooks.didBecomeInvalid?(session, error)
        core.post(.sessionDidInvalidate, session)
    }

    /// Calls the session hook.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        core.sessionHooks.didFinishBackgroundEvents?(session)
    }

    public func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        let answer = await core.sessionHooks.didReceiveChallenge?(session, challenge) ?? .performDefaultHandling
        switch answer.about(space) {
        case .performDefaultHandling:
            // No answer here: the delegate of the task that waits for this server answers.
            DefaultedAnswer.current?.set()
            return (.performDefaultHandling, nil)
        case .useCredential(let credential):
            core.note(nil, of: space)
            return (.useCredential, credential)
        case .rejectProtectionSpace: return (.rejectProtectionSpace, nil)
        case .cancel, .fail:
            core.note(answer.refusal, of: space)
            return (.cancelAuthenticationChallenge, nil)
        }
    }
}

/// The events of every task. The manager's hook is called first, then the task's own, then the request's option. Where
/// an answer is needed, only the first of them that is set is called.
extension TaskDelegate {
    /// Takes a new task's callbacks, and tells of its creation. A closed session does not know the task: one that the
    /// program does not resume would never end and never release its delegate.
    func begin(_ task: URLSessionTask, in session: URLSession) {
        guard task.isOfOpenSession else {
            ownReason = .sessionInvalidated
            return
        }
        attach(task)
        // The session itself tells only its own delegate.
        guard let didCreate = hooks.didCreate else { return }
        session.delegateQueue.addLasting { didCreate(session, task) }
    }

    package func take(_ event: TaskEvent, of task: URLSessionTask, _ session: URLSession) {
        tellDetail(TransferDetail(event))
        switch event {
        case .becameDownload(let download): becomeDownload(download)
        case .metrics(let metrics): collect(metrics)
        default: break
        }
        // Each hook is read when it is called.
        core.hooks.tell(event, of: task, session)
        hooks.tell(event, of: task, session)
        switch event {
        case .sent(_, let total, let expected): tellSent(total, of: expected)
        case .received(let total, let expected), .written(_, let total, let expected),
            .resumed(let total, let expected):
            tellReceived(total, of: expected)
        case .content(let data):
            keep(data)
            takesContent?(task, data)
        // Told of tasks that the manager did not make. `DownloadMove` places the files of the manager's own.
        case .downloaded(let file):
            if let download = task as? URLSessionDownloadTask { _ = keep(file, of: download, session) }
        case .ended(let error):
            core.postEnd(of: task, reason(for: error as? URLError, of: task), core.takePlace(of: task))
            if self.task === task { open() }
        default: break
        }
    }

    package func take(_ question: TaskQuestion, of task: URLSessionTask, _ session: URLSession) {
        tellDetail(TransferDetail(question))
        switch question {
        case .challenge(let challenge, let answer):
            answer.give { [self] in await self.answer(challenge, of: task, session) }
        case .bodyStream(let offset, let answer):
            let stream = newBodyStream(session, task)
            let rest = offset.flatMap { offset in stream.map { RestOfStream($0, from: offset) } }
            answer.give(HandedStream(stream: rest ?? stream))
        case .response(let response, let answer):
            guard let task = task as? URLSessionDataTask else { return question.decline() }
            answer.give { [self] in await disposition(of: task, response, session) }
        // The option may end the download.
        case .download(let response, let answer):
            tellDetail(.receivedHead(response))
            guard let ask = options?.values.onResponse, let response = response as? HTTPURLResponse else {
                return question.decline()
            }
            answer.give { await ask(response) != .cancel }
        default:
            let options = (own: options?.values, usual: core.options)
            if !question.answer(by: (core.hooks, hooks), options, for: task, session) { question.decline() }
        }
    }

    private func answer(
        _ challenge: URLAuthenticationChallenge,
        of task: URLSessionTask,
        _ session: URLSession
    ) async -> ChallengeSender.Reply {
        let space = challenge.protectionSpace
        if let hook = core.hooks.didReceiveChallenge ?? hooks.didReceiveChallenge {
            let answer = await hook(session, task, challenge)
            switch answer.about(space) {
            case .performDefaultHandling: break
            case .useCredential(let credential):
                if space.serverTrust != nil { core.note(nil, of: space) }
                return (.useCredential, credential)
            case .rejectProtectionSpace: return (.rejectProtectionSpace, nil)
            case .cancel, .fail: return refused(answer.refusal, space)
            }
        }
        if let trust = space.serverTrust {
            // The policy and its pins judge servers, not proxies.
            guard !space.isProxy() else { return (.performDefaultHandling, nil) }
            if let refusal = core.judge(trust, space.host) { return refused(refusal, space) }
            core.note(nil, of: space)
            return (.useCredential, URLCredential(trust: trust))
        }
        // A credential that the server has refused is not offered again.
        guard let credential, space.takes(credential), space.isProxy() || isFirstOrigin(space, of: task) else {
            return usesCredentialStorage ? (.performDefaultHandling, nil) : (.useCredential, nil)
        }
        return challenge.previousFailureCount == 0 ? (.useCredential, credential) : (.rejectProtectionSpace, nil)
    }

    /// Whether the credential is for this space. It is for the origin of the request, and not for another one that a
    /// redirect leads to, or has led to before the task resumed it.
    private func isFirstOrigin(_ space: URLProtectionSpace, of task: URLSessionTask) -> Bool {
        guard let request = task.originalRequest, !request.hasLeftOrigin else { return false }
        return space.isOrigin(of: request.url)
    }

    /// Stores the refusal by host, because other tasks may wait for the same connection.
    private func refused(_ refusal: UncurlError?, _ space: URLProtectionSpace) -> ChallengeSender.Reply {
        ownReason = refusal
        if space.serverTrust != nil { core.note(refusal, of: space) }
        return (.cancelAuthenticationChallenge, nil)
    }

    private func newBodyStream(_ session: URLSession, _ task: URLSessionTask) -> InputStream? {
        if let hook = core.hooks.needNewBodyStream ?? hooks.needNewBodyStream { return hook(session, task) }
        do {
            return try newBodyStream?()
        } catch {
            let facts: [String: Any] = [
                NSLocalizedDescriptionKey: "The stream of the request's content could not be made: \(error)",
                NSUnderlyingErrorKey: error as NSError,
            ]
            ownReason = .transport(URLError(.requestBodyStreamExhausted, userInfo: facts))
            return nil
        }
    }

    /// What becomes of the content, by the hooks and the request's option.
    func disposition(
        of task: URLSessionDataTask,
        _ response: URLResponse,
        _ session: URLSession
    ) async -> URLSession.ResponseDisposition {
        tellDetail(.receivedHead(response))
        if let takesHead, !takesHead(response as? HTTPURLResponse) { return .cancel }
        let disposition: URLSession.ResponseDisposition
        if let hook = core.hooks.didReceiveResponse ?? hooks.didReceiveResponse {
            disposition = await hook(session, task, response)
        } else if let ask = options?.values.onResponse, let response = response as? HTTPURLResponse {
            disposition = await ask(response)
        } else {
            return .allow
        }
        switch disposition {
        case .cancel, .allow: return disposition
        // An operation keeps its content itself.
        case .becomeDownload: return takesContent == nil ? disposition : .allow
        // Nothing of a manager reads a stream task, which would never end.
        case .becomeStream: return .allow
        }
    }

    package var hearsEnds: Bool {
        core.hooks.didComplete != nil || didComplete != nil || takesDownloads
    }

    package var takesDownloads: Bool { core.hooks.didFinishDownloading != nil || hooks.didFinishDownloading != nil }

    package func keep(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool {
        let (first, own) = (core.hooks.didFinishDownloading, hooks.didFinishDownloading)
        guard first != nil || own != nil else { return false }
        // A hook that returns no place has handled the file itself.
        guard let place = first?(session, task, file) ?? own?(session, task, file) else { return true }
        guard case .placed = move(file, of: task, to: place, []) else { return false }
        core.note(place, of: task)
        return true
    }
}

/// The delegate of a data task.
public class DataTaskDelegate: TaskDelegate, @unchecked Sendable {
    /// All of the content when the task has ended; before that, the part that has come since ``collectsData`` was set.
    public var data: Data { facts?.data ?? kept }

    /// Whether ``data`` grows while the content comes. By default false: copying each part costs time and memory.
    public var collectsData: Bool {
        get { keepsData }
        set { keepsData = newValue }
    }
}

/// The delegate of an upload task.
public final class UploadTaskDelegate: DataTaskDelegate, @unchecked Sendable {}

/// The delegate of a download task.
public final class DownloadTaskDelegate: TaskDelegate, @unchecked Sendable {
    private let place = Mutex<DownloadDestination?>(nil)

    /// Where the file goes. It replaces the destination of the call that made the task, until the download has ended.
    public var destination: DownloadDestination? {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }

    /// The file's URL; nil before the task's end, and for a failed task.
    public var fileURL: URL? { facts?.fileURL }
}

/// What is needed to create one task and its delegate.
struct TaskPlan: Sendable {
    var kind: URLSession.ReportedKind
    /// The request; nil where resume data that Uncurl did not write is resumed.
    var request: URLRequest?
    /// Its readers of progress are ``TransferProgress/rising(_:)``, even where content is sent again.
    var options: Shared<RequestOptions>?
    /// Makes the stream of a request whose content is a stream.
    var newBodyStream: (@Sendable () throws -> InputStream)?
    /// Used by code that keeps the content in place of the task. `takesHead` decides before all hooks whether the task
    /// continues; `takesContent` gets the content after them.
    var takesHead: (@Sendable (HTTPURLResponse?) -> Bool)?
    var takesContent: (@Sendable (URLSessionTask, Data) -> Void)?
    /// Where the content goes, unless the task downloads it to a file.
    var content = TaskReceiver.Keeping.memory

    /// Takes the request that the interceptors have returned, with the content that they have set.
    mutating func take(_ adapted: URLRequest) {
        defer { request = adapted }
        let content: ContentSource
        switch kind.content {
        case .request: return
        case .data where adapted.httpBodyStream == nil: content = .data(adapted.httpBody ?? Data())
        case .file, .stream, .content:
            let isSame =
                adapted.httpBody == request?.httpBody && adapted.httpBodyStream === request?.httpBodyStream
                && (adapted.content == nil) == (request?.content == nil)
            if isSame { return }
            content = .request
        case .data: content = .request
        }
        switch kind {
        case .upload: kind = .upload(content)
        case .download: kind = .download(content)
        case .data, .resumedDownload: break
        }
    }

    var keeping: TaskReceiver.Keeping {
        switch kind {
        case .download, .resumedDownload: .file
        default: content
        }
    }
}
