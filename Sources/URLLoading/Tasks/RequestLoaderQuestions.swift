internal import Foundation
internal import UncurlEngine
internal import UncurlSemantics

/// The questions about a request: whether to begin and to follow, and for credentials, a stream and cookies.
extension RequestLoader {
    /// Asks the delegate for a stream: the request's stream was read already, or there never was one.
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

    /// Asks whether to follow the redirect to `next`. It is followed if there is no delegate to ask. A background
    /// session does not ask its delegate, as on Apple's platforms: the next process may have none. It asks Uncurl's
    /// hooks.
    func askToFollow(_ next: URLRequest, _ response: HTTPURLResponse) {
        let isAsked = background == nil || delivery.isReported
        ask(isAsked ? .redirect : nil, otherwise: next, UserQuestion.redirect(response, next)) { [self] answer, held in
            guard let answer else { return perform(attempt.machine.decline(), response, held) }
            follow(answer, held)
        }
    }

    func follow(_ next: URLRequest, _ held: Held) {
        let step = attempt.follow(next, spec.content)
        guard case .sendAgain = step else { return perform(step, nil, held) }
        task.currentRequest = next
        observation?.note(.redirected((attempt.response as? HTTPURLResponse)?.statusCode, to: next.url))
        leave(held) { [self] in start(next) }
    }

    /// Asks for credentials, and proposes the user and password in the URL, or else the stored ones; after a first
    /// failure none.
    func askForCredentials(_ question: ChallengeQuestion, _ failures: Int, _ response: HTTPURLResponse?) {
        attempt.beginAsking(engine)
        var values = ProtectionSpaceValues(question.space)
        values.isProxyEncrypted = values.isProxy && attempt.isProxyEncrypted(engine)
        let space = URLProtectionSpace(values)
        var proposed: URLCredential?
        if failures == 0 {
            proposed = attempt.namedCredential(for: question.space)
            if proposed == nil, let storage = settings.credentialSubclass {
                return ask(storage, for: space, task) { [self] in
                    askForCredentials(question, space, proposing: $0, failures, response)
                }
            }
            proposed = proposed ?? settings.credentials?.defaultCredential(for: space)
        }
        askForCredentials(question, space, proposing: proposed, failures, response)
    }

    private func askForCredentials(
        _ question: ChallengeQuestion,
        _ space: URLProtectionSpace,
        proposing proposed: URLCredential?,
        _ failures: Int,
        _ response: HTTPURLResponse?
    ) {
        let put = UserQuestion.challenge(space, proposed, failures, response)
        ask(.challenge, otherwise: (.performDefaultHandling, nil), put) { [self] answer, held in
            guard answer.disposition != .cancelAuthenticationChallenge else { return cancel(.atOnce) }
            guard let step = attempt.reply(answer, to: question, proposing: proposed, engine) else { return }
            perform(step, response, held)
        }
    }

    func askWhetherToBegin(_ request: URLRequest) {
        ask(.delay, otherwise: (.continueLoading, nil), UserQuestion.delayed(request)) { [self] answer, _ in
            start()
            switch answer {
            case (.continueLoading, _): startFromDisk(request)
            case (.useNewRequest, let other):
                let next = other ?? request
                // The part on disk is of the first request's URL.
                if next.url != request.url { attempt.resume(from: nil) }
                begin(with: next)
            case (.cancel, _): cancel(.atOnce)
            }
        }
    }

    /// Asks the storage for the request's cookies, and then runs `next`.
    func askForCookies(_ storage: CookieStorageSubclass, _ next: @escaping () -> Void) {
        attempt.givenCookies = nil
        guard attempt.takesCookies(settings) else { return next() }
        ask(storage, for: task) { [self] cookies in
            attempt.givenCookies = CookieJar.octets(cookies.lazy.map(\.cookie))
            next()
        }
    }
}
