internal import URLLoading

extension URLSessionManager {
    /// Reads the events that a server sends (HTML §9.2). Whenever the stream ends or breaks, it is requested again,
    /// after the last event that came. A 204 ends the sequence. An answer that is not `text/event-stream`, such as a
    /// proxy's page, ends the sequence with ``UncurlError/validation(_:)``. ``URLSessionManager/cancelAll(tagged:)``
    /// ends it with ``UncurlError/cancelled``, also while it waits before its next request. The request's
    /// ``RequestOptions/deadline`` is that of the whole sequence.
    ///
    /// - Parameters:
    ///   - request: a request whose validation names the acceptable statuses; by default 200 and 204. The content type
    ///     is checked in any case.
    ///   - lastEventID: the last id of an earlier stream, to continue after that event.
    ///   - limit: the most bytes of one event. A longer one ends the sequence with
    ///     ``StreamFailure/eventTooLong(limit:)``.
    ///   - policy: says when and how often the stream is requested again.
    public func events(
        _ request: HTTPRequest,
        after lastEventID: String = "",
        limit: Int = ServerSentEventParser.usualLimit,
        policy: ReconnectionPolicy = ReconnectionPolicy()
    ) -> EventSource<ResponseStream> {
        var request = request
        if !request.headers.contains("Accept") { request.headers["Accept"] = "text/event-stream" }
        if request.options.cachePolicy == nil { request.options.cachePolicy = .reloadIgnoringLocalCacheData }
        var validation = request.options.validation ?? ResponseValidation(statusCodes: [200, 204])
        validation.contentTypes = ["text/event-stream"]
        request.options.validation = validation
        return EventSource(after: lastEventID, limit: limit, policy: policy) { [request] in
            let transfer = EventTransfer(self, request)
            return (wait: { try await transfer.wait(for: $0) }, open: { try await transfer.open($0) })
        }
    }
}

/// All requests of one sequence of events, and the waits between them, as one of the manager's transfers. Cancelling it
/// ends the sequence, also between the end of one request and the wait before the next.
private final class EventTransfer: Sendable {
    private let manager: URLSessionManager
    private let request: HTTPRequest
    private let control: TransferControl

    init(_ manager: URLSessionManager, _ request: HTTPRequest) {
        self.manager = manager
        self.request = request
        control = TransferControl([], in: manager.core.transfers, tag: request.options.tag)
        control.resume()
        control.limit(by: request.options.deadline, on: manager.clock)
    }

    deinit { control.finish(nil, control.isCancelled ? control.reason(for: .cancelled) : nil, retryCount: 0) }

    func wait(for delay: Duration) async throws {
        await withTaskCancellationHandler {
            await control.wait(for: delay, on: manager.core.settings.values.clock)
        } onCancel: {
            control.cancel()
        }
        if control.isCancelled { throw control.reason(for: .cancelled) }
    }

    /// - Returns: nil for an answer of status 204, which ends the sequence.
    func open(_ lastEventID: String?) async throws -> ResponseStream? {
        var request = request
        if let lastEventID { request.headers["Last-Event-ID"] = lastEventID }
        // The deadline is that of the whole sequence.
        request.options.deadline = nil
        let run = TransferRun(manager, request.options, by: .data)
        run.control.tellFirst(.began(request))
        control.lead(run.control)
        let stream = try await run.opened(request)
        guard stream.response.statusCode == 204 else { return stream }
        // The answer has no content, so this reads its end.
        var rest = stream.makeAsyncIterator()
        while try await rest.next() != nil {}
        return nil
    }
}
