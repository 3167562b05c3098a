internal import Dispatch
internal import Synchronization
public import URLLoading
internal import UncurlText

/// An answer whose content is read while it comes, in pieces as the network delivers them. `lines()`, `jsonLines(_:)`
/// and `serverSentEvents()` frame it. While no task reads, the connection is not read either, so the server waits. A
/// stream has one reader. A stream that is released before its end is cancelled.
public struct ResponseStream: AsyncSequence, Sendable {
    public typealias Element = Data

    /// The validated head.
    public let response: HTTPURLResponse
    /// Controls the request.
    public var control: TransferControl { ending.control }
    let ending: StreamEnding
    private let chunks: ResponseChunks

    init(_ response: HTTPURLResponse, _ ending: StreamEnding, _ chunks: ResponseChunks) {
        self.response = response
        self.ending = ending
        self.chunks = chunks
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: chunks, ending: ending) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: ResponseChunks
        let ending: StreamEnding

        /// - Throws: ``UncurlError``.
        public mutating func next() async throws -> Data? {
            do {
                guard let chunk = try await chunks.next() else {
                    ending.tell(nil)
                    return nil
                }
                let data = Data(chunk)
                await ending.tell(of: data)
                return data
            } catch let error as URLError {
                let failure = UncurlError(error, of: chunks.task.originalRequest, refusal: nil)
                throw ending.tell(failure)
            }
        }
    }
}

extension ResponseStream: CustomStringConvertible {
    /// The status and the URL, without its query.
    public var description: String {
        described(Self.self, ["": "\(response.statusCode) \(response.url?.redacted ?? "")"])
    }
}

extension URLSessionManager {
    /// Sends a request and waits for the head of its answer. The caller reads the content from the result.
    ///
    /// Interceptors decide on retries until the head has come, as with every request. Once the content has begun, it is
    /// not requested again. The request's options and the hooks get the head, then each part of the content and its
    /// progress as it is read.
    ///
    /// - Parameters:
    ///   - request: a request with content of any kind, or without content.
    ///   - validation: which heads are acceptable. The error of a refused answer carries up to a mebibyte of its
    ///     content.
    public func stream(
        _ request: HTTPRequest,
        validation: ResponseValidation = ResponseValidation()
    ) async throws(UncurlError) -> ResponseStream {
        let run = resumed(TransferRun(self, request.options, by: .data), request)
        return try await run.opened(request, validation)
    }
}

/// Passes a stream's content to the hooks, and reports the end of its request once: when its content has ended or
/// broken off, or when the stream is released.
final class StreamEnding: Sendable {
    let control: TransferControl
    private let statusCode: Int
    private let taskEnd: StreamTaskEnd
    private let chunks: ResponseChunks
    private let isHeld: Bool
    private let isTold = Atomic(false)
    private let received = Atomic<Int64>(0)
    private struct Held {
        /// Ends the request when the owner calls ``finish()``; set at the end of the content, where `isHeld` is true.
        var finish: (@Sendable () -> Void)?
    }

    private let held = Mutex(Held())

    /// - Parameter isHeld: whether the owner ends the request with ``finish()``, after the last frame, and reports the
    ///   end of the task with ``tellTask(_:)``, after a handler.
    init(
        _ control: TransferControl,
        _ statusCode: Int,
        _ taskEnd: StreamTaskEnd,
        _ chunks: ResponseChunks,
        isHeld: Bool
    ) {
        self.control = control
        self.statusCode = statusCode
        self.taskEnd = taskEnd
        self.chunks = chunks
        self.isHeld = isHeld
    }

    deinit {
        guard !isTold.load(ordering: .relaxed) else { return }
        control.cancel()
        Task { [control, statusCode, taskEnd, chunks, isHeld] in
            let reason = control.reason(for: .cancelled)
            await taskEnd.drain(chunks)
            taskEnd.note(chunks.task, URLError(.cancelled), reason)
            if !isHeld { taskEnd.tell(chunks.task, reason) }
            control.finish(statusCode, reason, retryCount: taskEnd.retryCount)
        }
    }

    /// Passes a part of the content to the hooks, and returns when they have handled it. Slow hooks thus slow down the
    /// reader, and the reader the server.
    func tell(of data: Data) async {
        let total = received.add(Int64(data.count), ordering: .relaxed).newValue
        control.watchers.tellDetail(.streamed(data))
        let (delegate, session, task) = (taskEnd.delegate, taskEnd.session, chunks.task)
        guard !delegate.interests.isDisjoint(with: [.content, .received]) else { return }
        await withCheckedContinuation { continuation in
            session.delegateQueue.addLasting {
                delegate.take(.content(data), of: task, session)
                delegate.tellReceived(total, of: task.countOfBytesExpectedToReceive)
                continuation.resume()
            }
        }
    }

    /// Reports the end of the request. Returns the error as it was reported.
    @discardableResult
    func tell(_ error: UncurlError?) -> UncurlError {
        let reason = error.map { control.reason(for: $0) }
        guard !isTold.exchange(true, ordering: .relaxed) else { return reason ?? .cancelled }
        taskEnd.note(chunks.task, error?.urlError, reason)
        let finish: @Sendable () -> Void = { [control, statusCode, taskEnd] in
            control.finish(statusCode, reason, retryCount: taskEnd.retryCount)
        }
        if isHeld {
            held.withLock { $0.finish = finish }
        } else {
            taskEnd.tell(chunks.task, reason)
            finish()
        }
        return reason ?? .cancelled
    }

    /// Ends the request, if its content has ended or broken off.
    func finish() { held.withLock { $0.finish.take() }?() }

    /// Reports the end of a task where `isHeld` is true.
    func tellTask(_ error: UncurlError?) { taskEnd.tell(chunks.task, error) }
}

/// What follows the end of a stream's task, as with every task: the hook, the monitors and the delegate's facts; then
/// the notification and the operations that wait for the end.
struct StreamTaskEnd: Sendable {
    let delegate: DataTaskDelegate
    let session: URLSession
    /// Ends when the end of the task has been passed on.
    let hold: SessionHold
    let retryCount: Int

    /// Called when the task has ended.
    ///
    /// - Parameters:
    ///   - cause: the error of the task itself; nil where an answer came, whatever its status.
    ///   - error: why the request failed.
    func note(_ task: URLSessionTask, _ cause: URLError?, _ error: UncurlError?) {
        delegate.ended(task, cause, delegate.collected, in: session)
        hold.end()
        note(task, error)
    }

    /// Called when the request has ended: for the last attempt, after the handler.
    func tell(_ task: URLSessionTask, _ error: UncurlError?) {
        note(task, error)
        delegate.core.post(.taskDidComplete, task, error.map { [ManagerCore.errorKey: $0] })
        delegate.open()
    }

    private func note(_ task: URLSessionTask, _ error: UncurlError?) {
        delegate.note(
            ResponseFacts(
                task.currentRequest ?? task.originalRequest,
                task.response as? HTTPURLResponse,
                data: delegate.collectsData ? delegate.kept : error?.responseData ?? Data(),
                error: error,
                metrics: delegate.collected,
                retryCount: retryCount
            )
        )
    }

    /// Cancels a task whose content is not needed, and returns when the task has ended.
    func drain(_ chunks: ResponseChunks) async {
        chunks.task.cancel()
        while (try? await chunks.next()) != nil {}
    }
}

/// Streams with closures, beside `for await`.
extension URLSessionManager {
    /// Sends a request and calls a closure with each part of the answer's content as it comes.
    ///
    /// ```swift
    /// manager.start(streaming: HTTPRequest(.post, "chat", body: .json(question))) { part in
    ///     print(part.count)
    /// } completion: { error in
    ///     print(error?.localizedDescription ?? "the end")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - request: a request with content of any kind, or without content.
    ///   - validation: which heads are acceptable.
    ///   - each: called with each part, in order, on the completion queue. The server waits while it runs. An error
    ///     that it throws ends the request.
    ///   - completion: called once, on the completion queue and in the ``completionGroup``, after the last part, with
    ///     the failure of the request or the error that `each` threw.
    @discardableResult
    public func start(
        streaming request: HTTPRequest,
        validation: ResponseValidation = ResponseValidation(),
        each: @escaping @Sendable (Data) throws -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void = { _ in }
    ) -> TransferControl {
        start(streaming: request, validation: validation, as: { $0 }, each: each, completion: completion)
    }

    /// Sends a request and calls a closure with each line, value or event of the answer. `frames` cuts the answer:
    /// `{ $0.lines() }`, `{ $0.jsonLines(of: Entry.self) }`, `{ $0.serverSentEvents }`.
    ///
    /// The other arguments are those of ``start(streaming:validation:each:completion:)``.
    @discardableResult
    public func start<Frames: AsyncSequence & Sendable>(
        streaming request: HTTPRequest,
        validation: ResponseValidation = ResponseValidation(),
        as frames: @escaping @Sendable (ResponseStream) -> Frames,
        each: @escaping @Sendable (Frames.Element) throws -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void = { _ in }
    ) -> TransferControl where Frames.Element: Sendable {
        // Resumed before the Swift task runs: from here on the program may suspend the request, or cancel it with
        // others.
        let run = resumed(TransferRun(self, request.options, by: .data), request)
        let queue = completionQueue ?? core.ownQueue
        let group = completionGroup ?? ManagerCore.sharedGroup
        let task = Task {
            var tellEnd: (@Sendable (UncurlError?) -> Void)?
            var failure: (any Error)?
            switch await run.begun(request, validation, isHeld: true) {
            case .failure(let failed):
                failure = failed.error
                tellEnd = { failed.tell?($0 ?? failed.error) }
            case .success(let stream):
                tellEnd = stream.ending.tellTask
                do {
                    for try await frame in frames(stream) {
                        run.control.watchers.tellDetail(.streamedValue(frame))
                        try await withCheckedThrowingContinuation { continuation in
                            queue.async { continuation.resume(with: Result { try each(frame) }) }
                        }
                    }
                } catch {
                    failure = error
                }
                stream.ending.finish()
                if failure != nil { stream.control.cancel() }
            }
            queue.async(group: group) { [tellEnd, failure] in
                completion(failure)
                tellEnd?(failure.map { $0 as? UncurlError ?? .cancelled })
            }
        }
        run.control.carries { task.cancel() }
        return run.control
    }
}
