internal import Foundation
internal import UncurlSemantics

/// Receives what a source other than the network reports.
extension RequestLoader: ProtocolLoadDelegate {
    func received(_ response: URLResponse) {
        attempt.response = response
        accept(response)
    }

    func received(_ response: URLResponse, _ policy: URLCache.StoragePolicy) {
        delivery.store(CacheEntry(ofClass: policy, delivery.isStorable ? settings.cache : nil))
        received(response)
    }

    func loadItself(_ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        load.stop()
        start()
        // The task may have been suspended while the classes were asked.
        whenRunning { [self] in loadItself() }
    }

    func classFinished(_ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        guard attempt.response != nil else {
            let reason = "the protocol class finished without a response"
            return end(.badServerResponse, attempt.request.url, reason)
        }
        finished()
        load.stop()
    }

    func classRedirected(to next: URLRequest, _ response: URLResponse, _ load: ProtocolLoad) {
        guard course.isCurrent(load) else { return }
        // The answer, unless the redirect is followed.
        attempt.response = response
        attempt.noteClassHasRead()
        guard attempt.machine.mayRedirect else { return perform(.fail(.tooManyRedirects), nil, nil) }
        if let http = response as? HTTPURLResponse { return askToFollow(next, http) }
        // A delegate's method needs an HTTP response, so it is not asked. The limit above ends a circle of redirects.
        follow(next, .source(.classLoad(load)))
    }

    func classChallenged(_ challenge: URLAuthenticationChallenge, _ load: ProtocolLoad) {
        guard course.isCurrent(load), challenge.sender != nil else { return }
        ask(.challenge, otherwise: (.performDefaultHandling, nil), UserQuestion.challenge(challenge)) {
            [self] answer, held in
            goOn(held)
            load.onClassQueue { challenge.sender?.pass(on: answer, to: challenge) }
            if answer.disposition == .cancelAuthenticationChallenge { cancel(.atOnce) }
        }
    }
}

/// Takes the responses that the attempt's machine accepts as the answer.
extension RequestLoader {
    /// Takes the response from the network as the answer, once that to a HEAD was compared with what is stored.
    func place(_ response: HTTPURLResponse, _ placement: Step.Placement, _ storage: Step.Storage) {
        if case .compare = storage, let comparison = attempt.comparison(with: response, engine),
            !comparison.compareInMemory()
        {
            return read(comparison) { [self] in place(response, placement, .none) }
        }
        delivery.store(attempt.entry(for: response, storage, engine))
        do throws(URLError) {
            if let step = try attempt.place(response, placement, engine) { return perform(step, nil, nil) }
            accept(response)
        } catch {
            awaitDescriptor(after: error) { [self] in place(response, placement, storage) }
        }
    }
}
