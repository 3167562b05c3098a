internal import Foundation
internal import HTTPEngine
internal import Reactor
internal import Synchronization

/// What a task's user gets: where the content goes, what is told on the delegate queue, and whether the user is behind. Loop-confined.
struct Delivery {
    /// What became of content.
    enum Reception {
        case taken
        /// Enough waits: reading stops until it has been taken.
        case isBehind
        /// More than the task keeps in memory.
        case isTooLong
        case failed(URLError)
    }

    let session: URLSession
    /// The task as its user sees it: a data task may become another one.
    private(set) var task: URLSessionTask
    /// Where the content goes.
    private(set) var sink = Sink.none
    /// Something was put on the delegate queue: the end is told behind it.
    private(set) var hasTold = false
    /// The delegate has not taken what it was given: reading goes on when it has.
    private(set) var isBehind = false
    private let reception: TaskSpec.Reception
    /// The most that is kept in memory of an answer, in bytes.
    let limit: Int
    /// Content for a delegate that wants all of it at once.
    private var gathered: Data?

    /// - Parameter limit: the session's, in bytes.
    init(_ task: URLSessionTask, _ session: URLSession, _ spec: TaskSpec, _ limit: Int) {
        self.task = task
        self.session = session
        self.limit = max(0, spec.request?.maximumDataLength ?? limit)
        reception = spec.reception
    }

    mutating func replaceTask(by other: URLSessionTask) { task = other }

    // MARK: Listeners

    /// Whether pieces on their way are told: to delegates, but not where a completion handler has been given instead. A delegate given
    /// to this task alone hears of them too where a function waits for the whole.
    private var tellsPieces: Bool {
        switch reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes: task.delegate != nil
        case .data, .download: false
        }
    }

    /// Whether the delegate is asked about the answer and told what becomes of it: it takes part, instead of waiting for the end.
    private var involvesDelegate: Bool {
        switch reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes, .data, .download: false
        }
    }

    /// Answers that go to files and streams are not stored, as on Apple's platforms: they are large, and have been kept already.
    var isStorable: Bool {
        switch reception {
        case .data, .awaitedData, .delegate: !(task is URLSessionDownloadTask)
        case .report(let terms): if case .memory = terms.keeping { true } else { false }
        case .download, .awaitedFile, .bytes: false
        }
    }

    /// The task's own delegate, or else the session's.
    var listener: Listener? { task.listener ?? session.listener }

    func hasListener(for event: TaskInterests) -> Bool { listener?.hears(of: event) ?? false }

    static func wantsMetrics(_ task: URLSessionTask, _ session: URLSession, _ spec: TaskSpec) -> Bool {
        if case .report(let terms) = spec.reception, terms.collectsMetrics { return true }
        return (task.listener ?? session.listener)?.hears(of: .metrics) ?? false
    }

    /// Whether the delegate decides what is stored of the answer.
    var isAskedAboutCaching: Bool {
        involvesDelegate && hasListener(for: .caching) && listener?.delegate is any URLSessionDataDelegate
    }

    // MARK: Telling

    typealias Call = @Sendable (URLSession, URLSessionTask, any URLSessionTaskDelegate) -> Void

    /// Runs `call` on the delegate queue, after what was told before. False: enough waits there.
    ///
    /// - Parameters:
    ///   - afterCancel: also once the user has cancelled the task.
    ///   - callbacks: the task's queue, made when something is told first: most tasks tell nothing before their end.
    @discardableResult
    mutating func tell(
        _ event: TaskInterests,
        weight: Int = 0,
        afterCancel: Bool = false,
        by callbacks: @autoclosure () -> CallbackQueue,
        _ call: @escaping Call
    ) -> Bool {
        guard hasListener(for: event) else { return true }
        hasTold = true
        let (session, task) = (session, task)
        return callbacks().add(weight: weight, on: session.delegateQueue) {
            guard let delegate = task.delegate ?? session.delegates.task, afterCancel || !task.isCancelled else {
                return
            }
            call(session, task, delegate)
        }
    }

    /// Puts a question on the delegate queue.
    ///
    /// - Parameter otherwise: the answer if the delegate was taken away while the question was on its way.
    mutating func put<Value: Sendable>(
        _ answer: Answer<Value>,
        otherwise: Value,
        by callbacks: @autoclosure () -> CallbackQueue,
        _ question: @escaping @Sendable (URLSession, URLSessionTask, any URLSessionTaskDelegate, Answer<Value>) -> Void
    ) {
        hasTold = true
        let (session, task) = (session, task)
        callbacks().add(on: session.delegateQueue) {
            // The task's end is on its way, and wants no answer.
            if task.isCancelled { return answer.withdraw() }
            guard let delegate = task.delegate ?? session.delegates.task else { return answer.give(otherwise) }
            question(session, task, delegate, answer)
        }
    }

    /// Runs `call` on the delegate queue behind what was told before, with a delegate or without.
    func later(by callbacks: @autoclosure () -> CallbackQueue, _ call: @escaping @Sendable () -> Void) {
        callbacks().add(on: session.delegateQueue, call)
    }

    // MARK: The request

    /// - Parameter news: what of the content was sent since it was told last.
    mutating func tellSent(_ news: Int, _ counts: TaskCounts, by callbacks: @autoclosure () -> CallbackQueue) -> Bool {
        guard tellsPieces else { return true }
        return tell(.sent, by: callbacks()) { session, task, delegate in
            delegate.urlSession(
                session,
                task: task,
                didSendBodyData: Int64(news),
                totalBytesSent: counts.sent,
                totalBytesExpectedToSend: counts.expectedToSend
            )
        }
    }

    mutating func tellInformational(
        _ make: () -> HTTPURLResponse,
        by callbacks: @autoclosure () -> CallbackQueue
    ) -> Bool {
        guard tellsPieces, hasListener(for: .informational) else { return true }
        let response = make()
        return tell(.informational, weight: CallbackQueue.pieceWeight, by: callbacks()) { session, task, delegate in
            delegate.urlSession(session, task: task, didReceiveInformationalResponse: response)
        }
    }

    // MARK: The answer

    /// How an answer is received.
    enum Beginning {
        case memory
        case file
        case bytes(ByteChannel)
        case delegate
    }

    /// An answer begins.
    mutating func begin() -> Beginning {
        gathered = task.prefersIncrementalDelivery ? nil : Data()
        switch reception {
        case .data, .awaitedData: return .memory
        case .download, .awaitedFile: return .file
        case .bytes(let channel): return .bytes(channel)
        case .delegate: return task is URLSessionDownloadTask ? .file : .delegate
        case .report(let terms):
            switch terms.keeping {
            case .memory: return .memory
            case .file: return .file
            case .nothing: return .delegate
            }
        }
    }

    /// Whether the delegate decides what is done with the answer, before its content comes.
    var asksForDisposition: Bool {
        switch reception {
        case .delegate: !(task is URLSessionDownloadTask)
        case .report(let terms): if case .file = terms.keeping { false } else { hasListener(for: .response) }
        case .data, .awaitedData, .download, .awaitedFile, .bytes: false
        }
    }

    mutating func deliver(to sink: Sink) {
        // A class of the user's may tell of a second answer: what came of the first is of no use.
        if case .file(let old) = self.sink { old.finish(keeping: false) }
        self.sink = sink
    }

    /// Takes the sink away: nothing more is delivered.
    mutating func takeSink() -> Sink {
        defer { sink = .none }
        return sink
    }

    /// Content, decoded; the span is the loop's. Content for a reader of its own, a channel or a stream, does not come here.
    ///
    /// - Parameters:
    ///   - counts: with this content.
    ///   - ledgerTime: the loop's time, where the file's ledger is kept.
    ///   - look: sees what goes to a delegate.
    mutating func receive(
        _ bytes: Span<UInt8>,
        _ counts: TaskCounts,
        ledgerTime: Instant?,
        by callbacks: @autoclosure () -> CallbackQueue,
        seeing look: (Data) -> Void
    ) -> Reception {
        let count = bytes.count
        switch sink {
        case .none: return .taken
        case .memory(var data):
            // Out of the enum first, or it would be copied.
            sink = .none
            guard data.count + count <= limit else { return .isTooLong }
            data.append(bytes, expecting: counts.expectedToReceive)
            sink = .memory(data)
            var hasRoom = true
            if tellsPieces, hasListener(for: .content) { hasRoom = tellData(Data(bytes), callbacks) }
            if case .report = reception { hasRoom = tellCount(counts, callbacks) && hasRoom }
            return hasRoom ? .taken : fallBehind()
        case .delegate:
            let data = Data(bytes)
            look(data)
            guard let held = gathered?.count else { return tellData(data, callbacks) ? .taken : fallBehind() }
            guard held + count <= limit else { return .isTooLong }
            gathered?.append(data)
            return .taken
        case .file(let file):
            do throws(URLError) {
                try file.write(bytes)
            } catch {
                return .failed(error)
            }
            if let ledgerTime { file.note(at: ledgerTime) }
            return tellWritten(count, counts, callbacks) ? .taken : fallBehind()
        case .bytes, .stream: return .taken
        }
    }

    /// What was gathered for a delegate that wants all of it at once.
    mutating func tellGathered(by callbacks: @autoclosure () -> CallbackQueue) {
        if let data = gathered.take(), !data.isEmpty { _ = tellData(data, callbacks) }
    }

    private mutating func tellData(_ data: Data, _ callbacks: () -> CallbackQueue) -> Bool {
        guard let task = task as? URLSessionDataTask else { return true }
        return tell(.content, weight: CallbackQueue.pieceWeight + data.count, by: callbacks()) { session, _, delegate in
            (delegate as? any URLSessionDataDelegate)?.urlSession(session, dataTask: task, didReceive: data)
        }
    }

    private mutating func tellCount(_ counts: TaskCounts, _ callbacks: () -> CallbackQueue) -> Bool {
        guard hasListener(for: .received) else { return true }
        return tell(.received, weight: CallbackQueue.pieceWeight, by: callbacks()) { session, task, delegate in
            (delegate as? any SelectiveDelegate)?.urlSession(
                session,
                task: task,
                didReceive: counts.received,
                of: counts.expectedToReceive
            )
        }
    }

    private mutating func tellWritten(_ count: Int, _ counts: TaskCounts, _ callbacks: () -> CallbackQueue) -> Bool {
        guard tellsPieces, let task = task as? URLSessionDownloadTask else { return true }
        return tell(.written, weight: CallbackQueue.pieceWeight, by: callbacks()) { session, _, delegate in
            (delegate as? any URLSessionDownloadDelegate)?.urlSession(
                session,
                downloadTask: task,
                didWriteData: Int64(count),
                totalBytesWritten: counts.received,
                totalBytesExpectedToWrite: counts.expectedToReceive
            )
        }
    }

    /// Tells that a download goes on, instead of beginning.
    mutating func tellResumption(_ file: DownloadFile, by callbacks: @autoclosure () -> CallbackQueue) {
        let (offset, total) = (file.written, file.total)
        task.snapshot.withLock { snapshot in
            snapshot.counts.received = offset
            snapshot.counts.expectedToReceive = total
        }
        guard tellsPieces, let task = task as? URLSessionDownloadTask else { return }
        tell(.written, by: callbacks()) { session, _, delegate in
            (delegate as? any URLSessionDownloadDelegate)?.urlSession(
                session,
                downloadTask: task,
                didResumeAtOffset: offset,
                expectedTotalBytes: total
            )
        }
    }

    // MARK: Back-pressure

    @discardableResult
    mutating func fallBehind() -> Reception {
        isBehind = true
        return .isBehind
    }

    /// What waited has been taken. False: nothing had.
    mutating func catchUp() -> Bool {
        defer { isBehind = false }
        return isBehind
    }
}

extension URLSessionTask {
    /// Counts content, and shows it on the task's progress: that runs observers of the user's, which may cancel the task.
    ///
    /// - Parameter response: what the task's response is from here on; nil: it stays.
    func count(with response: URLResponse? = nil, _ change: (inout TaskCounts) -> Void) -> TaskCounts {
        let (counts, shown, progress) = snapshot.withLock { snapshot in
            if let response { snapshot.response = response }
            change(&snapshot.counts)
            return (snapshot.counts, snapshot.progressCounts, snapshot.progress)
        }
        if let progress { shown.show(on: progress) }
        return counts
    }
}

extension Data {
    init(_ bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
    }

    /// - Parameter expected: the length of the whole, if it is known; believed up to a megabyte, since a server may say anything.
    mutating func append(_ bytes: Span<UInt8>, expecting expected: Int64) {
        if isEmpty {
            guard expected > bytes.count else {
                self = Data(bytes)
                return
            }
            reserveCapacity(Int(clamping: Swift.min(expected, 1 << 20)))
        }
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }
}
