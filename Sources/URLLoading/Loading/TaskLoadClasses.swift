internal import Foundation

/// What a `URLProtocol` class of the user's tells of the load, as far as it is not told like any other source's.
extension TaskLoad {
    /// Whether that source delivers, and nothing holds it.
    func isLoading(_ local: LocalLoad) -> Bool {
        if case .loading(.local(let current)) = phase { current === local } else { false }
    }

    private func isCurrent(_ load: ProtocolLoad) -> Bool {
        switch phase {
        case .loading(.classLoad(let current)), .asking(_, .source(.classLoad(let current))): current === load
        case .new, .starting, .loading, .asking, .draining, .ended: false
        }
    }

    /// No class takes the request: it is loaded from here.
    func loadItself(_ load: ProtocolLoad) {
        guard isCurrent(load) else { return }
        load.stop()
        phase = .starting(nil)
        loadItself()
    }

    func classFinished(_ load: ProtocolLoad) {
        guard isCurrent(load) else { return }
        guard response != nil else {
            let reason = "the protocol class finished without a response"
            return end(ErrorTranslation.urlError(.badServerResponse, request.url, reason))
        }
        finished()
        if case .asking = phase { load.stop() }
    }

    func classRedirected(to next: URLRequest, _ response: URLResponse, _ load: ProtocolLoad) {
        guard isCurrent(load) else { return }
        guard let http = response as? HTTPURLResponse else {
            // No redirect that a delegate could be told of; a class may send itself round in circles all the same.
            return goOn(with: next, after: .source(.classLoad(load)))
        }
        redirected(by: http, to: next)
    }

    func classChallenged(_ challenge: URLAuthenticationChallenge, _ load: ProtocolLoad) {
        guard isCurrent(load) else { return }
        guard let sender = challenge.sender else { return }
        ask(.challenge, otherwise: (URLSession.AuthChallengeDisposition.performDefaultHandling, URLCredential?.none)) {
            session,
            task,
            delegate,
            answer in
            delegate.urlSession(session, task: task, didReceive: challenge) { answer.give(($0, $1)) }
        } _: { [self] answer, held in
            goOn(held)
            switch answer {
            case (.useCredential, let credential?): sender.use(credential, for: challenge)
            case (.useCredential, nil): sender.continueWithoutCredential(for: challenge)
            case (.performDefaultHandling, _): sender.performDefaultHandling(for: challenge)
            case (.rejectProtectionSpace, _): sender.rejectProtectionSpaceAndContinue(with: challenge)
            case (.cancelAuthenticationChallenge, _):
                sender.cancel(challenge)
                cancel()
            }
        }
    }
}
