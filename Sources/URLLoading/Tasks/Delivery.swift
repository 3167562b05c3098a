internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlEngine
internal import UncurlReactor

/// What the program gets of a task: where the content goes, and what is reported on the delegate queue. Loop-confined.
/// It is never copied: a copy would retain ten references more for each request.
///
/// The loader counts, not the delivery: counting changes the task's progress, whose observers may cancel the task.
struct Delivery: ~Copyable {
    let session: URLSession
    /// The task as the program sees it: a data task may become a task of another kind.
    private(set) var task: URLSessionTask
    private(set) var sink = Sink.none
    /// Whether anything was put on the delegate queue; then the end is reported after it.
    private var hasTold = false
    let reception: TaskSpec.Reception
    private let engine: SessionEngine
    /// The most that is kept in memory of one answer, in bytes.
    private let limit: Int
    /// The content so far, for a delegate that wants all of it at once.
    private var gathered: Data?
    /// The answer on its way into the cache; nil where it is not stored.
    private var entry: CacheEntry?
    private var made: CallbackQueue?

    init(_ task: URLSessionTask, _ session: URLSession, _ spec: TaskSpec, _ engine: SessionEngine) {
        self.task = task
        self.session = session
        self.engine = engine
        limit = max(0, spec.request?.maximumDataLength ?? engine.settings.maximumDataLength)
        reception = spec.reception
    }

    /// The task's queue. It is made for the first report: most tasks report nothing before their end.
    var callbacks: CallbackQueue {
        mutating get {
            if let made { return made }
            let queue = CallbackQueue(on: engine.loop)
            made = queue
            return queue
        }
    }

    /// Hands the answer over to another task.
    ///
    /// - Parameter event: tells of the other task.
    mutating func replaceTask(by other: URLSessionTask, _ event: TaskEvent) {
        let old = task
        later { old.passSuspensions(to: other) }
        tell(event, afterCancel: true)
        later { [session] in old.retire(for: other, session) }
        task = other
    }

    // MARK: Telling

    /// Tells an event on the delegate queue, after earlier calls. Returns false if reading must pause, because too much
    /// waits there.
    ///
    /// - Parameter afterCancel: whether to tell it even if the program has cancelled the task.
    @discardableResult
    mutating func tell(_ event: TaskEvent, weight: Int = 0, afterCancel: Bool = false) -> Bool {
        guard hasListener(for: event.interest) else { return true }
        hasTold = true
        let (session, task) = (session, task)
        return callbacks.add(weight: weight, on: session.delegateQueue) {
            guard afterCancel || !task.isCancelled else { return }
            session.listener(of: task)?.tell(event, of: task, session)
        }
    }

    mutating func put<Value: Sendable>(_ question: TaskQuestion, _ answer: Answer<Value>) {
        hasTold = true
        let (session, task) = (session, task)
        callbacks.add(on: session.delegateQueue) {
            // The task is ending, and needs no answer.
            if task.isCancelled { return answer.withdraw() }
            // The delegate may have been removed while the question was on its way.
            guard let listener = session.listener(of: task) else { return question.decline() }
            listener.ask(question, of: task, session)
        }
    }

    /// Calls back once, when the delegate queue has taken half of what waits there.
    mutating func whenTaken(_ call: @escaping @Sendable () -> Void) { callbacks.whenRoom(call) }

    /// Runs `call` on the delegate queue after earlier calls, whether or not there is a delegate.
    mutating func later(_ call: @escaping @Sendable () -> Void) {
        callbacks.add(on: session.delegateQueue, call)
    }

    // MARK: The request

    /// - Parameter news: how many octets of the content were sent since the last call.
    mutating func tellSent(_ news: Int, _ counts: TaskCounts) {
        tell(.sent(Int64(news), total: counts.sent, of: counts.expectedToSend))
    }

    mutating func tellInformational(
        _ make: () -> HTTPURLResponse
    ) -> Bool {
        guard hasListener(for: .informational) else { return true }
        return tell(.informed(make()), weight: CallbackQueue.pieceWeight)
    }

    // MARK: The answer

    typealias FileMaker = (URLSessionTask) throws(URLError) -> DownloadFile

    /// Begins to deliver an answer.
    ///
    /// - Parameters:
    ///   - onRoom: makes the function that a channel calls when it has room again.
    ///   - makeFile: makes the file for an answer that goes to one.
    mutating func begin(
        _ response: URLResponse,
        onRoom: () -> @Sendable () -> Void,
        makeFile: FileMaker
    ) throws(URLError) {
        gathered = task.prefersIncrementalDelivery ? nil : Data()
        switch reception {
        case .data, .awaitedData: try beginMemory(response)
        case .download, .awaitedFile: try beginFile(makeFile)
        case .bytes(let channel):
            deliver(to: .bytes(channel))
            channel.received(response, onRoom: onRoom())
        case .delegate: if task is URLSessionDownloadTask { try beginFile(makeFile) } else { beginDelegate(response) }
        case .report(let keeping, _, _):
            switch keeping {
            case .memory: try beginMemory(response)
            case .file: try beginFile(makeFile)
            case .nothing: beginDelegate(response)
            }
        }
    }

    private mutating func beginMemory(_ response: URLResponse) throws(URLError) {
        guard response.expectedContentLength <= limit || isWithoutContent(response) else { throw excess }
        deliver(to: .memory(Data()))
    }

    /// Whether the answer ends with its head, although that states a length (RFC 9110 §9.3.2, §15.4.5).
    private func isWithoutContent(_ response: URLResponse) -> Bool {
        (response as? HTTPURLResponse)?.statusCode == 304 || task.currentRequest?.httpMethod == "HEAD"
    }

    private mutating func beginDelegate(_ response: URLResponse) {
        deliver(to: .delegate)
        engine.background?.note(task, response as? HTTPURLResponse, part: nil)
    }

    /// Lets a file take the answer. If the file has content already, that of an earlier download, the answer is the
    /// rest.
    mutating func beginFile(_ makeFile: FileMaker) throws(URLError) {
        let file = try makeFile(task)
        deliver(to: .file(file))
        if file.written > 0 { tellResumption(file) }
    }

    /// Sets the entry with which the complete answer is stored in the cache; nil: it is not stored.
    mutating func store(_ entry: CacheEntry?) { self.entry = entry }

    /// Takes the complete answer for the cache; nil if it is not stored.
    mutating func takeEntry() -> (CacheEntry, Data)? {
        guard let entry = entry.take(), let data = sink.content(for: entry) else { return nil }
        return (entry, data)
    }

    /// The error for an answer that is longer than what is kept in memory.
    private var excess: URLError {
        let reason =
            "the answer is longer than the \(limit) bytes that are kept in memory of one; maximumDataLength of "
            + "URLSessionConfiguration, URLRequest and RequestOptions sets the limit"
        return URLError(.dataLengthExceedsMaximum, task.currentRequest?.url, reason)
    }

    /// Whether the delegate decides what is done with the answer, before its content comes. A background session does
    /// not ask its delegate, as on Apple's platforms; it asks Uncurl's hooks.
    var asksForDisposition: Bool {
        switch reception {
        case .delegate: !(task is URLSessionDownloadTask) && engine.background == nil
        case .report: hasListener(for: .response)
        case .data, .awaitedData, .download, .awaitedFile, .bytes: false
        }
    }

    mutating func deliver(to sink: Sink) {
        // A `URLProtocol` class may send a second answer: then the content of the first is of no use.
        if case .file(let old) = self.sink { old.finish(keeping: false) }
        self.sink = sink
    }

    /// Checks the file of a complete answer. If not all of its content could be written, the file is removed: nothing
    /// tells which part of it is missing.
    mutating func checkFile() throws(URLError) {
        guard case .file(let file) = sink else { return }
        do throws(URLError) {
            try file.checkWrites()
        } catch {
            deliver(to: .none)
            throw error
        }
    }

    mutating func takeFile() -> DownloadFile? {
        guard case .file(let file) = sink else { return nil }
        sink = .none
        return file
    }

    /// Delivers decoded content; the span is the loop's buffer. A stream's content does not come here.
    ///
    /// - Parameter counts: the task's counts, this content included.
    /// - Returns: false if reading must pause: a channel is full, and calls back when it has room, or too much waits on
    ///   the delegate queue.
    mutating func receive(_ bytes: Span<UInt8>, _ counts: TaskCounts) throws(URLError) -> Bool {
        let count = bytes.count
        switch sink {
        case .none, .stream: return true
        case .memory(var data):
            // The data leave the enum first: otherwise the append would copy them.
            sink = .none
            guard data.count + count <= limit else { throw excess }
            data.append(bytes, expecting: counts.expectedToReceive)
            sink = .memory(data)
            var hasRoom = true
            if tellsPieces(to: (any URLSessionDataDelegate).self), hasListener(for: .content) {
                hasRoom = tellData(Data(bytes))
            }
            if case .report = reception {
                let event = TaskEvent.received(counts.received, of: counts.expectedToReceive)
                hasRoom = tell(event, weight: CallbackQueue.pieceWeight) && hasRoom
            }
            return hasRoom
        case .delegate:
            let data = Data(bytes)
            entry?.append(data)
            engine.background?.note(task, content: data)
            guard let held = gathered?.count else { return tellData(data) }
            guard held + count <= limit else { throw excess }
            gathered?.append(data)
            return true
        case .file(let file):
            try file.write(bytes)
            if engine.background != nil { file.note(at: engine.loop.now) }
            return tellWritten(count, counts)
        case .bytes(let channel): return channel.append(bytes)
        }
    }

    /// Gives the gathered content to a delegate that wants all of it at once.
    mutating func tellGathered() {
        if let data = gathered.take(), !data.isEmpty { _ = tellData(data) }
    }

    private mutating func tellData(_ data: Data) -> Bool {
        guard task is URLSessionDataTask else { return true }
        return tell(.content(data), weight: CallbackQueue.pieceWeight + data.count)
    }

    /// Whether a delegate hears of what is written to the file.
    private var tellsFile: Bool {
        task is URLSessionDownloadTask && tellsPieces(to: (any URLSessionDownloadDelegate).self)
    }

    private mutating func tellWritten(_ count: Int, _ counts: TaskCounts) -> Bool {
        guard tellsFile else { return true }
        let event = TaskEvent.written(Int64(count), total: counts.received, of: counts.expectedToReceive)
        return tell(event, weight: CallbackQueue.pieceWeight)
    }

    /// Tells the delegate that a download resumes instead of beginning.
    private mutating func tellResumption(_ file: DownloadFile) {
        let (offset, total) = (file.written, file.total)
        task.snapshot.withLock { snapshot in
            snapshot.counts.received = offset
            snapshot.counts.expectedToReceive = total
        }
        if tellsFile { tell(.resumed(at: offset, of: total)) }
    }

    // MARK: The end

    /// Ends the delivery: reports the metrics, and returns the task's end, which the caller reports.
    ///
    /// - Parameter streams: the connection, if the program has taken it over; then nothing else is reported.
    mutating func end(
        _ failure: (any Error)?,
        _ answer: URLResponse?,
        _ metrics: URLSessionTaskMetrics?,
        _ streams: CapturedStreams?
    ) -> CompletionReport {
        made?.forgetRoom()
        if let metrics, streams == nil { tell(.metrics(metrics), afterCancel: true) }
        let response = task.response ?? answer
        var (data, kept): (Data, DownloadFile?) = (Data(), nil)
        switch sink {
        case .memory(let received): data = received
        case .file(let file):
            file.finish(keeping: failure == nil)
            if failure == nil { kept = file }
        // The end of the answer does not end the stream task: the reads and writes that wait in it are returned, and
        // fail.
        case .stream(let stream): stream.stop()
        case .none, .delegate, .bytes: break
        }
        sink = .none
        return CompletionReport(
            task: task,
            session: session,
            failure: failure,
            response: response,
            data: data,
            file: kept,
            streams: streams,
            metrics: metrics,
            isOrdered: hasTold
        )
    }
}

extension Delivery {
    /// Whether a delegate with the methods of this protocol gets the answer in pieces. It does not if the task has a
    /// completion handler. If a function waits for the whole answer, only a delegate of the task's own gets the pieces.
    func tellsPieces<Kind>(to kind: Kind.Type) -> Bool {
        switch reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes: task.listener?.isOf(kind) ?? false
        case .data, .download: false
        }
    }

    /// Whether the delegate decides about the answer, and gets the events that follow from its decision.
    var involvesDelegate: Bool {
        switch reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes, .data, .download: false
        }
    }

    /// Whether Uncurl made the task. Its hooks must answer within the request's time limit; a delegate of a plain
    /// `URLSession` may take its time.
    var isReported: Bool {
        switch reception {
        case .report, .bytes: listener?.observer != nil
        case .delegate, .data, .download, .awaitedData, .awaitedFile: false
        }
    }

    /// Whether the answer may be stored in the cache. Answers that go to files and streams are not, as on Apple's
    /// platforms: they are large, and already kept.
    var isStorable: Bool {
        switch reception {
        case .data, .awaitedData, .delegate: !(task is URLSessionDownloadTask)
        case .report(let keeping, _, _):
            switch keeping {
            case .memory: true
            case .file: false
            case .nothing(let isStorable): isStorable
            }
        case .download, .awaitedFile, .bytes: false
        }
    }

    var listener: TaskListener? { task.listener ?? session.listener }

    func hasListener(for interest: TaskInterests) -> Bool { listener?.hears(of: interest) ?? false }

    var wantsMetrics: Bool {
        if case .report(_, collectsMetrics: true, _) = reception { return true }
        return hasListener(for: .metrics)
    }

    /// Whether the delegate decides what is stored of the answer.
    var isAskedAboutCaching: Bool {
        guard involvesDelegate, hasListener(for: .caching) else { return false }
        return listener?.recipient(as: (any URLSessionDataDelegate).self, in: session) != nil
    }
}

/// Where a task's content goes.
enum Sink {
    /// There is no answer yet.
    case none
    case memory(Data)
    /// The delegate gets the content, piece by piece.
    case delegate
    case file(DownloadFile)
    case bytes(ByteChannel)
    /// The stream task that the data task has become gets it.
    case stream(StreamLoad)
}

extension Sink {
    /// Returns the whole content for the cache; nil if it is too large, or is not kept in memory.
    func content(for entry: CacheEntry) -> Data? {
        switch self {
        case .memory(let data): data.count <= entry.limit ? data : nil
        case .delegate: entry.copy
        case .none, .file, .bytes, .stream: nil
        }
    }
}
