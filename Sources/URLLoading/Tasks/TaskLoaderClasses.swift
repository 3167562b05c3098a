internal import Foundation
internal import HTTPSemantics

/// What a `URLProtocol` class of the user's tells, as far as it is not told like any other source's.
extension TaskLoader {
    /// Whether that source delivers, and nothing holds it.
    func isLoading(_ local: LocalLoad) -> Bool {
        if case .local(let current) = course.source { current === local } else { false }
    }

    /// No class takes the request: it is loaded from here.
    func loadItself(_ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        load.stop()
        course.start()
        loadItself()
    }

    func classFinished(_ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        guard attempt.response != nil else {
            let reason = "the protocol class finished without a response"
            return end(.badServerResponse, attempt.request.url, reason)
        }
        finished()
        if case .asking = course.phase { load.stop() }
    }

    func classRedirected(to next: URLRequest, _ response: URLResponse, _ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        guard attempt.machine.mayRedirect else { return fail(.tooManyRedirects) }
        if let http = response as? HTTPURLResponse { return askToFollow(next, http) }
        // No redirect that a delegate could be told of; a class may send itself round in circles all the same.
        follow(next, .source(.classLoad(load)))
    }

    func classChallenged(_ challenge: URLAuthenticationChallenge, _ load: ProtocolLoad) {
        guard course.isCurrent(load), let sender = challenge.sender else { return }
        ask(.challenge, otherwise: (.performDefaultHandling, nil), UserQuestion.challenge(challenge)) {
            [self] answer, held in
            goOn(held)
            sender.pass(on: answer, to: challenge)
            if answer.disposition == .cancelAuthenticationChallenge { cancel() }
        }
    }
}
