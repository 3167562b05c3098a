internal import Foundation
internal import HTTPEngine
internal import Reactor

/// What is told to the user, and what is asked of him: on the delegate queue, in order.
extension TaskLoad {
    /// Whether pieces on their way are told: to delegates, but not where a completion handler has been given instead. A delegate given
    /// to this task alone hears of them too where a function waits for the whole.
    var tellsPieces: Bool {
        switch order.reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes: task.delegate != nil
        case .data, .download: false
        }
    }

    /// Whether the delegate is asked about the answer and told what becomes of it: it takes part, instead of waiting for the end.
    var involvesDelegate: Bool {
        switch order.reception {
        case .delegate, .report: true
        case .awaitedData, .awaitedFile, .bytes, .data, .download: false
        }
    }

    /// Who is told now: the task's own delegate, or else the session's.
    var listener: Listener? { TaskLoad.listener(of: task, session) }

    private static func listener(of task: URLSessionTask, _ session: URLSession) -> Listener? {
        task.listener ?? session.listener
    }

    func hasListener(for event: TaskInterests) -> Bool { listener?.hears(of: event) ?? false }

    static func wantsMetrics(_ task: URLSessionTask, _ session: URLSession, _ order: TaskOrder) -> Bool {
        if case .report(let terms) = order.reception, terms.collectsMetrics { return true }
        return listener(of: task, session)?.hears(of: .metrics) ?? false
    }

    /// Runs `call` on the delegate queue, after what was told before. False: enough waits there.
    ///
    /// - Parameter afterCancel: also once the user has cancelled the task.
    @discardableResult
    func tell(
        _ event: TaskInterests,
        weight: Int = 0,
        afterCancel: Bool = false,
        _ call: @escaping @Sendable (URLSession, URLSessionTask, any URLSessionTaskDelegate) -> Void
    ) -> Bool {
        guard hasListener(for: event) else { return true }
        hasTold = true
        let (session, task) = (session, task)
        return callbacks.add(weight: weight, on: session.delegateQueue) {
            guard let delegate = task.delegate ?? session.delegates.task, afterCancel || !task.isCancelled else {
                return
            }
            call(session, task, delegate)
        }
    }

    /// Asks the user; without anybody to ask, `otherwise` is the answer, at once.
    ///
    /// - Parameters:
    ///   - event: whoever does not hear of it is not asked; nil: nobody is.
    ///   - put: on the delegate queue; gives the answer or lets go of it, which fails the task.
    ///   - act: on the loop, with what stood still meanwhile.
    func ask<Value: Sendable>(
        _ event: TaskInterests?,
        otherwise: Value,
        _ put: @escaping @Sendable (URLSession, URLSessionTask, any URLSessionTaskDelegate, Answer<Value>) -> Void,
        _ act: @escaping (Value, Held) -> Void
    ) {
        let question = ask()
        guard let event, hasListener(for: event) else { return answered(question) { act(otherwise, $0) } }
        let home = LoopBound((load: self, act: act), on: engine.loop)
        let answer = Answer<Value> { value in
            home.loop.post {
                let (load, act) = home.value
                load.answered(question) { held in
                    guard let value else { return load.unanswered() }
                    act(value, held)
                }
            }
        }
        hasTold = true
        let (session, task) = (session, task)
        callbacks.add(on: session.delegateQueue) {
            // The load's end is on its way, and wants no answer.
            if task.isCancelled { return answer.withdraw() }
            // Taken away while the question was on its way.
            guard let delegate = task.delegate ?? session.delegates.task else { return answer.give(otherwise) }
            put(session, task, delegate, answer)
        }
    }

    private func unanswered() {
        let reason = "the delegate let go of its completion handler without calling it"
        end(ErrorTranslation.urlError(.unknown, request.url, reason))
    }

    func beginDelayed() {
        guard case .starting = phase else { return }
        let request = request
        ask(.delay, otherwise: (URLSession.DelayedRequestDisposition.continueLoading, URLRequest?.none)) {
            session,
            task,
            delegate,
            answer in
            delegate.urlSession(session, task: task, willBeginDelayedRequest: request) { answer.give(($0, $1)) }
        } _: { [self] answer, _ in
            phase = .starting(nil)
            switch answer {
            case (.continueLoading, _): start(request)
            case (.useNewRequest, let other):
                task.currentRequest = other ?? request
                start(other ?? request)
            case (.cancel, _): cancel()
            }
        }
    }

    func askForDisposition(_ response: URLResponse) {
        guard let dataTask = task as? URLSessionDataTask else { return }
        ask(.response, otherwise: URLSession.ResponseDisposition.allow) { session, _, delegate, answer in
            guard let delegate = delegate as? any URLSessionDataDelegate else { return answer.give(.allow) }
            delegate.urlSession(session, dataTask: dataTask, didReceive: response) { answer.give($0) }
        } _: { [self] disposition, held in
            switch disposition {
            case .allow: goOn(held)
            case .cancel: cancel()
            case .becomeDownload: becomeDownload(dataTask, held)
            case .becomeStream: becomeStream(dataTask, held)
            }
        }
    }

    /// The request's stream has been read, or never was there: the user gives another.
    func askForStream() {
        ask(.bodyStream, otherwise: HandedStream(stream: nil)) { session, task, delegate, answer in
            delegate.urlSession(session, task: task, needNewBodyStream: { answer.give(HandedStream(stream: $0)) })
        } _: { [self] answer, _ in
            phase = .starting(nil)
            guard let stream = answer.stream else {
                let reason = "the request's content is needed, and nobody gave a stream to read it from"
                return end(ErrorTranslation.urlError(.requestBodyStreamExhausted, request.url, reason))
            }
            content = .stream(StreamContent(stream, request))
            hasReadStream = true
            transact()
        }
    }

    private func becomeDownload(_ dataTask: URLSessionDataTask, _ held: Held) {
        let download = URLSessionDownloadTask(taking: dataTask, session, order)
        session.replace(dataTask, by: download)
        tell(.response, afterCancel: true) { session, _, delegate in
            (delegate as? any URLSessionDataDelegate)?.urlSession(session, dataTask: dataTask, didBecome: download)
        }
        callbacks.add(on: session.delegateQueue) { dataTask.retire(for: download) }
        replaceTask(by: download)
        beginFile()
        // There may be no place for the file.
        if case .ended = phase { return }
        goOn(held)
    }
}

/// A stream on its way from the user to the loader: the user hands it over and leaves it alone.
struct HandedStream: @unchecked Sendable {
    let stream: InputStream?
}
