internal import Foundation
internal import UncurlSemantics

/// How a task's answer reaches the program: content, the end, and the delegate's decision about what the task becomes.
extension TaskLoader {
    /// Takes a response as the answer although it asked for a redirect or for credentials.
    func deliver(_ response: URLResponse, _ held: Held) { resume(held) { accept(response) } }

    /// Takes a step, and delivers what is held back unless that step has asked a question.
    func resume(_ held: Held, _ step: () -> Void) {
        if case .source(let source) = held { load(from: source) }
        let before = course.questions
        step()
        if course.questions == before { goOn(held) }
    }

    func receive(_ bytes: Span<UInt8>) {
        let length = Int64(bytes.count)
        let counts = task.count { $0.received += length }
        if case .stream(let stream) = delivery.sink { return stream.receive(bytes) }
        switch delivery.receive(bytes, counts) {
        case .taken: break
        case .channelIsFull: fallBehind()
        case .userIsBehind: waitForUser()
        case .failed(let error): end(error)
        }
    }

    func finished() {
        if !endBehindQuestion({ [self] in complete() }) { complete() }
    }

    /// Handles the end of an answer while no question is open. The task ends now, unless a stream task still reads the
    /// answer.
    func complete() {
        if case .stream(let stream) = delivery.sink {
            load(from: .stream(stream))
            return stream.answerEnded()
        }
        delivery.tellGathered()
        conclude()
    }

    /// Continues after a question was answered: delivers what came meanwhile, and what follows it.
    func goOn(_ held: Held) {
        if case .source(let source) = held { load(from: source) }
        let ahead = takeAhead()
        if !ahead.isEmpty { receive(ahead.span) }
        guard !course.isEnded else { return }
        switch held {
        case .nothing: break
        case .ended(let then): then()
        case .source(.stream(let stream)) where stream.isUntaken: end(nil)
        case .source: updateFlow()
        }
    }

    // MARK: The delegate's decision

    func askForDisposition(_ response: URLResponse) {
        guard let dataTask = task as? URLSessionDataTask else { return askToDownload(response) }
        ask(.response, otherwise: .allow, UserQuestion.disposition(of: dataTask, response)) {
            [self] disposition, held in
            switch disposition {
            case .allow: goOn(held)
            case .cancel: cancel(.atOnce)
            // The record of a background session's upload cannot become one of a download.
            case .becomeDownload: if background == nil { becomeDownload(dataTask, held) } else { goOn(held) }
            case .becomeStream: becomeStream(dataTask, held)
            }
        }
    }

    /// Asks whether to continue a download: its delegate accepts or cancels it.
    private func askToDownload(_ response: URLResponse) {
        ask(.response, otherwise: true, UserQuestion.acceptance(of: response)) { [self] isTaken, held in
            if isTaken { goOn(held) } else { cancel(.atOnce) }
        }
    }

    private func becomeDownload(_ dataTask: URLSessionDataTask, _ held: Held) {
        let download = URLSessionDownloadTask(taking: dataTask, spec)
        becomeTask(download, dataTask) { $1.urlSession($0, dataTask: dataTask, didBecome: download) }
        resume(held) { beginFile() }
    }

    private func beginFile() {
        do throws(URLError) {
            try delivery.beginFile(makeFile(for:))
        } catch {
            awaitDescriptor(after: error) { [self] in beginFile() }
        }
    }

    private func becomeStream(_ dataTask: URLSessionDataTask, _ held: Held) {
        let streamTask = URLSessionStreamTask(taking: dataTask, spec)
        streamTask.channel.adopt(queue: session.delegateQueue)
        becomeTask(streamTask, dataTask) { $1.urlSession($0, dataTask: dataTask, didBecome: streamTask) }
        delivery.store(nil)
        if case .source(.stream(let stream)) = held {
            load(from: .stream(stream))
            stream.begin(streamTask.channel)
            return goOn(held)
        }
        let stream = StreamLoad(self, engine, of: streamTask.channel)
        delivery.deliver(to: .stream(stream))
        stream.begin()
        goOn(held)
    }

    /// Replaces the data task by another task of the same loader.
    private func becomeTask(
        _ other: URLSessionTask,
        _ old: URLSessionDataTask,
        _ call: @escaping @Sendable (URLSession, any URLSessionDataDelegate) -> Void
    ) {
        session.replace(old, by: other)
        engine.remove(self)
        old.stage = .passed(to: other)
        delivery.replaceTask(by: other, call)
        engine.add(self)
    }
}

/// Receives what the connection of a stream task reports.
extension TaskLoader: StreamLoadDelegate {
    final var callbacks: CallbackQueue { delivery.callbacks }
}
