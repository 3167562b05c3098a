internal import Foundation
internal import UncurlEngine
internal import UncurlSemantics

/// How the questions of a task are put to a delegate, on its queue.
enum UserQuestion {
    typealias Put<Value: Sendable> =
        @Sendable (
            URLSession, URLSessionTask, any URLSessionTaskDelegate, Answer<Value>
        ) -> Void

    static func delayed(_ request: URLRequest) -> Put<(URLSession.DelayedRequestDisposition, URLRequest?)> {
        { session, task, delegate, answer in
            delegate.urlSession(session, task: task, willBeginDelayedRequest: request) { answer.give(($0, $1)) }
        }
    }

    /// - Parameter offset: where the stream must begin, for an upload that resumes; nil for its beginning.
    static func bodyStream(from offset: Int64?) -> Put<HandedStream> {
        { session, task, delegate, answer in
            let give: @Sendable (InputStream?) -> Void = { answer.give(HandedStream(stream: $0)) }
            guard let offset else { return delegate.urlSession(session, task: task, needNewBodyStream: give) }
            delegate.urlSession(session, task: task, needNewBodyStreamFrom: offset, completionHandler: give)
        }
    }

    static func redirect(_ response: HTTPURLResponse, _ next: URLRequest) -> Put<URLRequest?> {
        { session, task, delegate, answer in
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: next) {
                answer.give($0)
            }
        }
    }

    /// - Parameter response: nil for a proxy's challenge, which has none to show.
    static func challenge(
        _ space: URLProtectionSpace,
        _ proposed: URLCredential?,
        _ failures: Int,
        _ response: URLResponse?
    ) -> Put<ChallengeSender.Reply> {
        { session, task, delegate, answer in
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space,
                proposedCredential: proposed,
                previousFailureCount: failures,
                failureResponse: response,
                error: nil,
                sender: ChallengeSender { answer.give($0) }
            )
            delegate.urlSession(session, task: task, didReceive: challenge) { answer.give(($0, $1)) }
        }
    }

    /// Passes on the challenge that a `URLProtocol` class has made.
    static func challenge(_ challenge: URLAuthenticationChallenge) -> Put<ChallengeSender.Reply> {
        { session, task, delegate, answer in
            delegate.urlSession(session, task: task, didReceive: challenge) { answer.give(($0, $1)) }
        }
    }

    static func disposition(
        of dataTask: URLSessionDataTask,
        _ response: URLResponse
    ) -> Put<URLSession.ResponseDisposition> {
        { session, _, delegate, answer in
            let recipient = session.recipient(delegate, as: (any URLSessionDataDelegate).self)
            guard let recipient else { return answer.give(.allow) }
            recipient.urlSession(session, dataTask: dataTask, didReceive: response) { answer.give($0) }
        }
    }

    /// Asks whether to accept a download, by its head. Only delegates that are `SelectiveDelegate`s are asked.
    static func acceptance(of response: URLResponse) -> Put<Bool> {
        { session, task, delegate, answer in
            guard let delegate = delegate as? any SelectiveDelegate else { return answer.give(true) }
            delegate.urlSession(session, task: task, acceptsDownloadOf: response) { answer.give($0) }
        }
    }

    static func caching(of dataTask: URLSessionDataTask, _ cached: CachedURLResponse) -> Put<CachedURLResponse?> {
        { session, _, delegate, answer in
            let recipient = session.recipient(delegate, as: (any URLSessionDataDelegate).self)
            guard let recipient else { return answer.give(cached) }
            recipient.urlSession(session, dataTask: dataTask, willCacheResponse: cached) { answer.give($0) }
        }
    }
}

extension ChallengeQuestion {
    /// Returns the delegate's answer as the rules know it, and the credential in it.
    func reply(
        _ answer: ChallengeSender.Reply,
        proposing proposed: URLCredential?
    ) -> (ChallengeReply, URLCredential?) {
        switch answer.disposition {
        case .useCredential:
            guard let credential = answer.credential else { return (.none, nil) }
            return (words(of: credential).map { .credentials($0) } ?? .next, credential)
        case .performDefaultHandling:
            guard isAnswerable, let proposed, let words = words(of: proposed) else { return (.next, nil) }
            return (.credentials(words), proposed)
        case .rejectProtectionSpace: return (.next, nil)
        case .cancelAuthenticationChallenge: return (.none, nil)
        }
    }

    /// Returns the user name and password in the form in which they are sent: in NFC if the challenge names UTF-8.
    private func words(of credential: URLCredential) -> Credentials? {
        guard let words = credential.value.words, challenge.isUTF8 else { return credential.value.words }
        return Credentials(
            user: words.user.precomposedStringWithCanonicalMapping,
            password: words.password.precomposedStringWithCanonicalMapping
        )
    }
}

extension URLAuthenticationChallengeSender {
    /// Tells a `URLProtocol` class how the delegate has answered its challenge.
    func pass(on answer: ChallengeSender.Reply, to challenge: URLAuthenticationChallenge) {
        switch (answer.disposition, answer.credential) {
        case (.useCredential, let credential?): use(credential, for: challenge)
        case (.useCredential, nil): continueWithoutCredential(for: challenge)
        case (.performDefaultHandling, _): performDefaultHandling(for: challenge)
        case (.rejectProtectionSpace, _): rejectProtectionSpaceAndContinue(with: challenge)
        case (.cancelAuthenticationChallenge, _): cancel(challenge)
        }
    }
}

extension URLError {
    /// Returns the error with the data from which a later download or upload can resume.
    func with(_ resumeData: Data, for key: String) -> URLError {
        var info = userInfo
        info[key] = resumeData
        return URLError(code, userInfo: info)
    }
}
