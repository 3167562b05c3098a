internal import Dispatch
internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics

/// Challenges: a server or a proxy asks who asks, and the user, the store or nobody knows.
extension TaskLoad {
    // MARK: Before

    /// What goes along unasked: the task's own answer to a challenge, or one that this server took before. A caller's own field
    /// goes before both.
    func authorization(_ url: URL, _ place: HTTPURL) throws(URLError) -> SentAuthorization? {
        if let own = request.values.fields, own.contains(.authorization) { return nil }
        if var authorizer = challenges.authorizer, authorizer.side == .origin {
            defer { challenges.authorizer = authorizer }
            do throws(AuthenticationError) {
                let value = try authorizer.value(
                    method: request.values.httpMethod,
                    target: place.target,
                    content: content.octets
                )
                return SentAuthorization(value: value, by: authorizer)
            } catch {
                throw ErrorTranslation.urlError(.userAuthenticationRequired, url, error)
            }
        }
        guard !engine.authorizations.isEmpty else { return nil }
        return engine.authorizations.authorization(
            for: WebURL(url),
            method: request.values.httpMethod,
            target: place.target,
            content: content.octets
        )
    }

    /// By whose name and password a request would go out.
    func credentials(for url: URL) -> Credentials? {
        if let own = request.values.fields, own.contains(.authorization) { return nil }
        if let authorizer = challenges.authorizer, authorizer.side == .origin { return authorizer.credentials }
        guard !engine.authorizations.isEmpty else { return nil }
        return engine.authorizations.credentials(for: WebURL(url))
    }

    // MARK: After

    /// Takes note of an answer that is no challenge: what went along was right.
    func noteAuthorization(_ response: HTTPURLResponse) {
        guard let transaction, let space = transaction.authorized?.space, response.statusCode != 401 else { return }
        if let authorizer = challenges.authorizer, authorizer.side == .origin {
            engine.authorizations.remember(authorizer, for: WebURL(transaction.url))
            challenges.authorizer = nil
        }
        engine.authorizations.note(response.fields.list, for: WebURL(transaction.url))
        store(for: space)
    }

    private func store(for space: ProtectionSpace) {
        guard let credential = challenges.credential else { return }
        challenges.credential = nil
        guard let storage = engine.settings.credentials else { return }
        guard credential.persistence == .permanent else {
            return storage.set(credential, for: URLProtectionSpace(ProtectionSpaceValues(space)))
        }
        TaskLoad.keeping.async { storage.set(credential, for: URLProtectionSpace(ProtectionSpaceValues(space))) }
    }

    /// Where the disk is waited for, which a loop does not.
    private static let keeping = DispatchQueue(label: "URLLoading.URLCredentialStorage", qos: .utility)

    /// True if the answer is a challenge that is being dealt with.
    func isChallenge(_ response: HTTPURLResponse) -> Bool {
        guard response.statusCode == 401, let url = request.url else { return false }
        if let own = request.values.fields, own.contains(.authorization) { return false }
        let questions = ChallengeRule.questions(status: 401, fields: response.fields.list, url: WebURL(url))
        guard !questions.isEmpty else { return false }
        if let refused = transaction?.authorized?.space {
            var used = challenges.authorizer ?? engine.authorizations.authorizer(for: WebURL(url), refused)
            if let question = questions.first(where: { $0.space == refused }), used?.renew(question) == true,
                challenges.mayAnswer()
            {
                challenges.authorizer = used
                let held = ask()
                answered(held) { [self] in follow(request, after: $0) }
                return true
            }
            engine.authorizations.forget(refused, for: WebURL(url))
            // What was sent unasked may be an old answer; only what this task was given counts as refused.
            if challenges.authorizer != nil { challenges.failures[refused, default: 0] += 1 }
            challenges.authorizer = nil
            challenges.credential = nil
        }
        challenges.questions = questions
        askNext(response)
        return true
    }

    /// Puts the next question, or takes the answer for what it is.
    private func askNext(_ response: URLResponse?) {
        guard !challenges.questions.isEmpty else {
            let question = ask()
            return answered(question) { [self] held in
                guard let response else { return refusedByProxy() }
                deliver(response, held)
            }
        }
        let question = challenges.questions.removeFirst()
        let failures = challenges.failures[question.space, default: 0]
        guard failures < ChallengeRule.attemptLimit else {
            // Nor is a weaker scheme tried: whoever was refused so often would send in the clear what Digest keeps.
            challenges.questions = []
            return askNext(response)
        }
        let proposed = proposedCredential(question.space, failures)
        typealias Reply = (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)
        ask(.challenge, otherwise: Reply(.performDefaultHandling, nil)) { session, task, delegate, answer in
            let challenge = URLAuthenticationChallenge(
                protectionSpace: URLProtectionSpace(ProtectionSpaceValues(question.space)),
                proposedCredential: proposed,
                previousFailureCount: failures,
                failureResponse: response,
                error: nil,
                sender: ChallengeSender { answer.give($0.reply) }
            )
            delegate.urlSession(session, task: task, didReceive: challenge) { answer.give(Reply($0, $1)) }
        } _: { [self] reply, held in
            switch reply.disposition {
            case .useCredential:
                guard let credential = reply.credential else {
                    challenges.questions = []
                    return askNext(response)
                }
                use(credential, question, response, held)
            case .performDefaultHandling:
                guard question.isAnswerable, let proposed else { return askNext(response) }
                use(proposed, question, response, held)
            case .rejectProtectionSpace: askNext(response)
            case .cancelAuthenticationChallenge: cancel()
            }
        }
    }

    /// The URL's own user and password, or what is stored; once.
    private func proposedCredential(_ space: ProtectionSpace, _ failures: Int) -> URLCredential? {
        guard failures == 0 else { return nil }
        if space.side == .origin, let user = request.url?.user(percentEncoded: false) {
            let password = request.url?.password(percentEncoded: false) ?? ""
            return URLCredential(user: user, password: password, persistence: .none)
        }
        return engine.settings.credentials?.defaultCredential(for: URLProtectionSpace(ProtectionSpaceValues(space)))
    }

    private func use(_ credential: URLCredential, _ question: ChallengeQuestion, _ response: URLResponse?, _ held: Held)
    {
        guard let words = credential.value.words, let url = request.url,
            let authorizer = Authorizer(question, words, url: WebURL(url))
        else { return askNext(response) }
        guard challenges.mayAnswer() else {
            challenges.questions = []
            return askNext(response)
        }
        challenges.credential = credential
        if question.side == .proxy {
            engine.use(words, forProxyOf: url)
            challenges.failures[question.space, default: 0] += 1
        } else {
            challenges.authorizer = authorizer
        }
        follow(request, after: held)
    }

    // MARK: Proxies

    /// True if a proxy's refusal is a challenge that is being dealt with.
    func isProxyChallenge(_ refusal: ProxyRefusal) -> Bool {
        guard let place = transaction?.place, let proxy = engine.proxies.proxy(for: place.origin) else { return false }
        challenges.questions = ChallengeRule.questions(
            ofProxy: refusal.challenges,
            host: "\(proxy.host)",
            port: Int(proxy.port),
            isSecure: place.scheme == .https
        )
        guard !challenges.questions.isEmpty else { return false }
        phase = .starting(nil)
        askNext(nil)
        return true
    }

    private func refusedByProxy() {
        let reason = "the proxy asks for credentials, and there are none that it takes"
        end(ErrorTranslation.urlError(.userAuthenticationRequired, request.url, reason))
    }
}
