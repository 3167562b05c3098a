internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics

/// What the user is asked, and what the answers lead to.
extension TaskLoader {
    func beginDelayed() {
        guard course.isStarting else { return }
        let request = attempt.request
        ask(.delay, otherwise: (.continueLoading, nil), UserQuestion.delayed(request)) { [self] answer, _ in
            course.start()
            switch answer {
            case (.continueLoading, _): start(request)
            case (.useNewRequest, let other):
                task.currentRequest = other ?? request
                start(other ?? request)
            case (.cancel, _): cancel()
            }
        }
    }

    /// The request's stream has been read, or never was there: the user gives another.
    func askForStream() {
        ask(.bodyStream, otherwise: HandedStream(stream: nil), UserQuestion.bodyStream) { [self] answer, _ in
            course.start()
            guard let stream = answer.stream else {
                let reason = "the request's content is needed, and no stream was given to read it from"
                return end(.requestBodyStreamExhausted, attempt.request.url, reason)
            }
            attempt.take(stream: stream)
            transact()
        }
    }

    func propose(_ redirect: Redirect, _ response: HTTPURLResponse?) {
        guard let response else { return }
        guard let next = attempt.request(following: redirect) else {
            return perform(attempt.machine.decline(), response, nil)
        }
        askToFollow(next, response)
    }

    /// Asks whether to go on with `next`; without a user to ask, the rules' word is enough. So it is in a background session, as on
    /// Apple's platforms: the next process may have no user to ask.
    func askToFollow(_ next: URLRequest, _ response: HTTPURLResponse) {
        ask(isInBackground ? nil : .redirect, otherwise: next, UserQuestion.redirect(response, next)) {
            [self] answer, held in
            guard let answer else { return perform(attempt.machine.decline(), response, held) }
            follow(answer, held)
        }
    }

    func follow(_ next: URLRequest, _ held: Held) {
        let step = attempt.machine.follow(
            to: next.url.map { WebURL($0) },
            from: attempt.request.url.map { WebURL($0) },
            bringsContent: bringsContent(next)
        )
        guard case .sendAgain = step else { return perform(step, nil, held) }
        task.currentRequest = next
        settle(held) { [self] in start(next) }
    }

    /// Content that the user has put into the request he goes on with.
    private func bringsContent(_ request: URLRequest) -> Bool {
        guard case .request = spec.content else { return false }
        if case .none = request.values.body { return false }
        return true
    }

    func askForCredentials(_ question: ChallengeQuestion, _ failures: Int, _ response: HTTPURLResponse?) {
        let proposed = attempt.proposedCredential(for: question.space, failures, settings)
        let put = UserQuestion.challenge(question.space, proposed, failures, response)
        ask(.challenge, otherwise: (.performDefaultHandling, nil), put) { [self] answer, held in
            guard answer.disposition != .cancelAuthenticationChallenge else { return cancel() }
            guard let url = attempt.request.url else { return }
            let (reply, credential) = question.reply(answer, proposing: proposed)
            let step = attempt.machine.reply(reply, to: question, url: WebURL(url))
            if case .sendAgain = step, let credential {
                attempt.offer(credential, for: question.space)
                if question.side == .proxy, let words = credential.value.words {
                    engine.use(words, forProxyOf: url)
                }
            }
            perform(step, response, held)
        }
    }

    func askForDisposition(_ response: URLResponse) {
        guard let dataTask = task as? URLSessionDataTask else { return }
        ask(.response, otherwise: .allow, UserQuestion.disposition(of: dataTask, response)) {
            [self] disposition, held in
            switch disposition {
            case .allow: goOn(held)
            case .cancel: cancel()
            case .becomeDownload: becomeDownload(dataTask, held)
            case .becomeStream: becomeStream(dataTask, held)
            }
        }
    }

    private func becomeDownload(_ dataTask: URLSessionDataTask, _ held: Held) {
        let download = URLSessionDownloadTask(taking: dataTask, session, spec)
        replaceTask(dataTask, by: download) { session, delegate in
            delegate.urlSession(session, dataTask: dataTask, didBecome: download)
        }
        beginFile()
        // There may be no place for the file.
        if course.isEnded { return }
        goOn(held)
    }

    private func becomeStream(_ dataTask: URLSessionDataTask, _ held: Held) {
        let streamTask = URLSessionStreamTask(taking: dataTask, session, spec)
        streamTask.channel.adopt(queue: session.delegateQueue)
        replaceTask(dataTask, by: streamTask) { session, delegate in
            delegate.urlSession(session, dataTask: dataTask, didBecome: streamTask)
        }
        attempt.storing = nil
        switch held {
        case .source(.stream(let stream)):
            course.load(from: .stream(stream))
            stream.begin(streamTask.channel)
            updateFlow()
        case .source, .complete, .nothing:
            let stream = StreamLoad(self, of: streamTask.channel)
            delivery.deliver(to: .stream(stream))
            stream.begin()
            goOn(held)
        }
    }

    /// The answer was told to become another task: the same loader, seen through that.
    private func replaceTask(
        _ old: URLSessionDataTask,
        by other: URLSessionTask,
        _ call: @escaping @Sendable (URLSession, any URLSessionDataDelegate) -> Void
    ) {
        session.replace(old, by: other)
        delivery.tell(.response, afterCancel: true, by: queue) { session, _, delegate in
            if let delegate = delegate as? any URLSessionDataDelegate { call(session, delegate) }
        }
        later { old.retire(for: other) }
        engine.remove(self)
        old.stage = .passed(to: other)
        delivery.replaceTask(by: other)
        engine.add(self)
    }
}
