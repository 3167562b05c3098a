internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics

/// Asks the user questions, and acts on the answers.
extension TaskLoader {
    /// Asks the user. If there is no user to ask, `otherwise` is the answer, at once.
    ///
    /// - Parameters:
    ///   - event: a delegate that does not hear of this event is not asked; nil: no delegate is asked.
    ///   - put: runs on the delegate queue; gives the answer. If it releases the question without an answer, the task
    ///     fails.
    ///   - act: runs on the loop, with what was held back meanwhile.
    func ask<Value: Sendable>(
        _ event: TaskInterests?,
        otherwise: Value,
        _ put: @escaping UserQuestion.Put<Value>,
        _ act: @escaping (Value, Held) -> Void
    ) {
        guard let event, delivery.hasListener(for: event) else { return pause { act(otherwise, $0) } }
        let limit = delivery.isReported ? attempt.request.values.explicitTimeout ?? settings.requestTimeout : 0
        ask(within: RequestBuilder.nanoseconds(limit)) {
            delivery.put($0, otherwise: otherwise, put)
        } _: { [self] answer, held in
            if let answer { return act(answer, held) }
            end(.unknown, attempt.request.url, "the delegate released its completion handler without calling it")
        } late: { [self] in
            end(.timedOut, attempt.request.url, "a hook has not answered within the request's limit")
        }
    }

    /// Asks the user for another stream: the request's was read already, or there never was one.
    func askForStream() {
        let put = UserQuestion.bodyStream(from: attempt.streamOffset)
        ask(.bodyStream, otherwise: HandedStream(stream: nil), put) { [self] answer, _ in
            start()
            guard let stream = answer.stream else {
                let reason = "the request's content is needed, and no stream was given to read it from"
                return end(.requestBodyStreamExhausted, attempt.request.url, reason)
            }
            attempt.take(stream: stream)
            transact()
        }
    }

    /// Asks whether to follow the redirect to `next`. It is followed if there is no user to ask, and always in a
    /// background session, as on Apple's platforms: the next process may have no user to ask.
    func askToFollow(_ next: URLRequest, _ response: HTTPURLResponse) {
        ask(background == nil ? .redirect : nil, otherwise: next, UserQuestion.redirect(response, next)) {
            [self] answer, held in
            guard let answer else { return perform(attempt.machine.decline(), response, held) }
            follow(answer, held)
        }
    }

    func follow(_ next: URLRequest, _ held: Held) {
        let step = attempt.follow(next, spec.content)
        guard case .sendAgain = step else { return perform(step, nil, held) }
        task.currentRequest = next
        observation?.note(.redirected((attempt.response as? HTTPURLResponse)?.statusCode, to: next.url))
        settle(held) { [self] in start(next) }
    }

    /// Asks for credentials, and proposes the user and password in the URL, or else the stored ones; after a first
    /// failure none.
    func askForCredentials(_ question: ChallengeQuestion, _ failures: Int, _ response: HTTPURLResponse?) {
        guard failures == 0 else { return askForCredentials(question, proposing: nil, failures, response) }
        if let named = attempt.namedCredential(for: question.space) {
            return askForCredentials(question, proposing: named, failures, response)
        }
        let space = URLProtectionSpace(ProtectionSpaceValues(question.space))
        guard let storage = settings.credentialSubclass else {
            let stored = settings.credentials?.defaultCredential(for: space)
            return askForCredentials(question, proposing: stored, failures, response)
        }
        askForCredential(storage, space) { [self] in askForCredentials(question, proposing: $0, failures, response) }
    }

    private func askForCredentials(
        _ question: ChallengeQuestion,
        proposing proposed: URLCredential?,
        _ failures: Int,
        _ response: HTTPURLResponse?
    ) {
        let put = UserQuestion.challenge(question.space, proposed, failures, response)
        ask(.challenge, otherwise: (.performDefaultHandling, nil), put) { [self] answer, held in
            guard answer.disposition != .cancelAuthenticationChallenge else { return cancel(.atOnce) }
            guard let step = attempt.reply(answer, to: question, proposing: proposed, engine) else { return }
            perform(step, response, held)
        }
    }

    func askForDisposition(_ response: URLResponse) {
        guard let dataTask = task as? URLSessionDataTask else { return askToDownload(response) }
        ask(.response, otherwise: .allow, UserQuestion.disposition(of: dataTask, response)) {
            [self] disposition, held in
            switch disposition {
            case .allow: goOn(held)
            case .cancel: cancel(.atOnce)
            case .becomeDownload: becomeDownload(dataTask, held)
            case .becomeStream: becomeStream(dataTask, held)
            }
        }
    }

    /// Asks whether to go on with a download: its delegate accepts it or cancels it.
    private func askToDownload(_ response: URLResponse) {
        ask(.response, otherwise: true, UserQuestion.acceptance(of: response)) { [self] isTaken, held in
            if isTaken { goOn(held) } else { cancel(.atOnce) }
        }
    }

    /// Goes on after a question was answered.
    func goOn(_ held: Held) {
        switch held {
        case .nothing: break
        case .complete: complete()
        case .source(.stream(let stream)) where stream.isUntaken: end(nil)
        case .source(let source): goOn(from: source)
        }
    }

    func askWhetherToBegin(_ request: URLRequest) {
        ask(.delay, otherwise: (.continueLoading, nil), UserQuestion.delayed(request)) { [self] answer, _ in
            start()
            switch answer {
            case (.continueLoading, _): startFromDisk(request)
            case (.useNewRequest, let other):
                let next = other ?? request
                task.currentRequest = next
                // The part on disk is of the first request's URL.
                if next.url != request.url { attempt.resume(from: nil) }
                startFromDisk(next)
            case (.cancel, _): cancel(.atOnce)
            }
        }
    }

    // MARK: Another kind of task

    func becomeDownload(_ dataTask: URLSessionDataTask, _ held: Held) {
        let download = URLSessionDownloadTask(taking: dataTask, spec)
        becomeTask(download, dataTask) { $1.urlSession($0, dataTask: dataTask, didBecome: download) }
        do throws(URLError) {
            try delivery.beginFile(attempt)
            goOn(held)
        } catch {
            end(error)
        }
    }

    func becomeStream(_ dataTask: URLSessionDataTask, _ held: Held) {
        let streamTask = URLSessionStreamTask(taking: dataTask, spec)
        streamTask.channel.adopt(queue: session.delegateQueue)
        becomeTask(streamTask, dataTask) { $1.urlSession($0, dataTask: dataTask, didBecome: streamTask) }
        attempt.storing = nil
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
