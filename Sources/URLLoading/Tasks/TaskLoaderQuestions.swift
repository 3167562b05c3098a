internal import Foundation
internal import HTTPEngine
internal import HTTPSemantics

/// What the user is asked, and what the answers lead to.
extension TaskLoader {
    /// Asks the user; without a user to ask, `otherwise` is the answer, at once.
    ///
    /// - Parameters:
    ///   - event: a delegate that does not hear of it is not asked; nil: no delegate is.
    ///   - put: on the delegate queue; gives the answer or lets go of it, which fails the task.
    ///   - act: on the loop, with what stood still meanwhile.
    func ask<Value: Sendable>(
        _ event: TaskInterests?,
        otherwise: Value,
        _ put: @escaping UserQuestion.Put<Value>,
        _ act: @escaping (Value, Held) -> Void
    ) {
        guard let event, delivery.hasListener(for: event) else { return pause { act(otherwise, $0) } }
        ask {
            delivery.put($0, otherwise: otherwise, put)
        } _: { [self] answer, held in
            if let answer { return act(answer, held) }
            end(.unknown, attempt.request.url, "the delegate let go of its completion handler without calling it")
        }
    }

    /// The request's stream has been read, or never was there: the user gives another.
    func askForStream() {
        ask(.bodyStream, otherwise: HandedStream(stream: nil), UserQuestion.bodyStream) { [self] answer, _ in
            start()
            guard let stream = answer.stream else {
                let reason = "the request's content is needed, and no stream was given to read it from"
                return end(.requestBodyStreamExhausted, attempt.request.url, reason)
            }
            attempt.take(stream: stream)
            transact()
        }
    }

    /// Asks whether to go on with `next`; without a user to ask, the rules' word is enough. So it is in a background
    /// session, as on Apple's platforms: the next process may have no user to ask.
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
        settle(held) { [self] in start(next) }
    }

    func askForCredentials(_ question: ChallengeQuestion, _ failures: Int, _ response: HTTPURLResponse?) {
        let proposed = attempt.proposedCredential(for: question.space, failures, settings)
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

    /// A download stays one: its delegate takes it or leaves it.
    private func askToDownload(_ response: URLResponse) {
        ask(.response, otherwise: true, UserQuestion.acceptance(of: response)) { [self] isTaken, held in
            if isTaken { goOn(held) } else { cancel(.atOnce) }
        }
    }

    /// Goes on after a question.
    func goOn(_ held: Held) {
        switch held {
        case .nothing: break
        case .complete: complete()
        case .source(let source): goOn(from: source)
        }
    }

    func askWhetherToBegin(_ request: URLRequest) {
        ask(.delay, otherwise: (.continueLoading, nil), UserQuestion.delayed(request)) { [self] answer, _ in
            start()
            switch answer {
            case (.continueLoading, _): start(request)
            case (.useNewRequest, let other):
                task.currentRequest = other ?? request
                start(other ?? request)
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

    /// The answer was told to become another task: the same loader, seen through that.
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
