internal import Dispatch
public import URLLoading

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
        let opening = StreamOpening(self, request, validation, isHeld: true)
        let queue = completionQueue ?? core.ownQueue
        let group = completionGroup ?? ManagerCore.sharedGroup
        // Before the Swift task runs: from here on the program may suspend the request, or cancel it with others.
        opening.control.resume()
        let task = Task {
            var tellEnd: (@Sendable (UncurlError?) -> Void)?
            var failure: (any Error)?
            switch await opening.begun() {
            case .failure(let error, let tell):
                failure = error
                tellEnd = { tell?($0 ?? error) }
            case .stream(let stream):
                tellEnd = stream.ending.tellTask
                do {
                    for try await frame in frames(stream) {
                        let watchers = opening.control.watchers
                        if watchers.hearsDetails { watchers.tellDetail(.streamedValue(frame)) }
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
        opening.control.carries { task.cancel() }
        return opening.control
    }
}
