internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics
internal import Reactor
internal import Synchronization

/// What the engine tells of the exchange under way.
extension TaskLoad: ExchangeDelegate {
    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        guard let url = request.url else { return }
        if head.status < 200 { return informed(head, url) }
        let isDecoded =
            head.contains(.contentEncoding) && !request.decidesOnCoding
            && !engine.settings.fields.contains("Accept-Encoding")
        received(HTTPURLResponse(url: url, head: head, isDecoded: isDecoded), from: .exchange(id))
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        switch phase {
        case .draining(let drain) where drain.exchange == id:
            if !drained(bytes.count, of: drain) { engine.engine.cancel(id) }
        case .loading, .asking: receive(bytes)
        case .new, .starting, .draining, .ended: break
        }
    }

    func exchange(_ id: ExchangeID, didSend count: Int) {
        sent += Int64(count)
        // Of a request that the engine has sent twice, what had left the first time counts once.
        if content.length >= 0 { sent = min(sent, content.length) }
        let (total, expected, progress) = task.snapshot.withLock { snapshot in
            snapshot.counts.sent = sent
            return (
                snapshot.counts.sent, snapshot.counts.expectedToSend,
                snapshot.progress.map { ($0, snapshot.progressCounts) }
            )
        }
        if let (progress, counts) = progress { counts.show(on: progress) }
        guard tellsPieces else { return }
        tell(.sent) { session, task, delegate in
            delegate.urlSession(
                session,
                task: task,
                didSendBodyData: Int64(count),
                totalBytesSent: total,
                totalBytesExpectedToSend: expected
            )
        }
    }

    func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart { content.part(at: offset) }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        noteTransaction(report)
        switch phase {
        case .draining(let drain) where drain.exchange == id: drained(drain)
        case .loading(.exchange(id)), .asking(_, .source(.exchange(id))):
            switch outcome {
            case .completed: finished()
            case .failed(let error): if !isStreamAskedAgain(after: error, report) { failed(error) }
            }
        case .new, .starting, .loading, .asking, .draining, .ended: break
        }
    }

    /// True if the server had closed a kept connection meanwhile, and the user is asked for the stream once more: what the engine sends
    /// again by itself (RFC 9112 §9.3.1), but for content that only its owner has.
    private func isStreamAskedAgain(after error: EngineError, _ report: ExchangeReport) -> Bool {
        guard case .stream = content, !hasAskedAgain, report.reusedConnection, !report.retried else { return false }
        switch error {
        case .closedBeforeResponse(let cause), .uploadAborted(_, let cause):
            guard cause?.isPeerClosure ?? true, report.timings.responseStart == nil else { return false }
        default: return false
        }
        // RFC 9110 §9.2.2: the server may have acted on what had left.
        guard report.bytesSent == 0 || ["PUT", "DELETE"].contains(request.values.httpMethod) else { return false }
        hasAskedAgain = true
        phase = .starting(nil)
        askForStream()
        return true
    }

    private func failed(_ error: EngineError) {
        if case .proxy(.authenticationRequired(let refusal)) = error, isProxyChallenge(refusal) { return }
        if isCoveredByCache() || isWaiting(after: error) || isTriedAgain(after: error) { return }
        end(ErrorTranslation.error(error, request.url))
    }

    private func noteTransaction(_ report: ExchangeReport) {
        guard let clock else { return }
        let facts = TransactionFacts(report, response, clock)
        transactions.append(URLSessionTaskTransactionMetrics(request, facts))
    }

    private func informed(_ head: ResponseHead, _ url: URL) {
        if head.status == 101 {
            opening?.answer = head
            switching = head
        }
        // 100 and 101 concern the connection.
        guard head.status > 101, tellsPieces, hasListener(for: .informational) else { return }
        let response = HTTPURLResponse(url: url, head: head)
        let hasRoom = tell(.informational, weight: CallbackQueue.pieceWeight) { session, task, delegate in
            delegate.urlSession(session, task: task, didReceiveInformationalResponse: response)
        }
        if !hasRoom { fallBehind() }
    }
}

extension URLRequest {
    /// The caller has named the codings he takes, and gets them as they are.
    var decidesOnCoding: Bool {
        values.fields.map { $0.contains("Accept-Encoding") || $0.contains("Range") } ?? false
    }
}
