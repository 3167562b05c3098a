internal import Foundation
internal import Synchronization
internal import UncurlClient
internal import UncurlEngine
internal import UncurlSemantics
internal import UncurlTLS

/// A handshake's question to the program: about the server's certificate, or for a client certificate. The session's
/// delegate is asked, or else that of a task that waits for the server. Without either, default handling applies.
struct ConnectionQuestion: Sendable {
    enum Reply: Sendable {
        case given(URLSession.AuthChallengeDisposition, URLCredential?)
        /// Tasks wait, and there is no delegate to ask.
        case unasked
        /// No task waits for the server any more, so there is no delegate to ask.
        case nobody
    }

    let session: URLSession
    let origin: Origin
    /// That of the tasks for which the connection is made.
    let security: ClientSecurity
    let place: ProtectionSpaceValues
    var proposed: URLCredential?
    let reply: Answer<Reply>

    /// The questions that a session's delegates are asked.
    ///
    /// - Parameter storage: the session's credential storage, if its class is the program's.
    static func questions(
        to session: URLSession,
        _ storage: StorageSubclass<URLCredentialStorage>?
    ) -> ClientSecurity.Questions {
        (
            judge: judge(of: session),
            choice: choice(of: session, storage),
            limit: { [weak session] origin, security in
                session.flatMap { limit(of: $0, about: origin, for: security) }
            }
        )
    }

    /// How long an answer may take: the longest time limit of the tasks that wait for the server. Nil, for the engine's
    /// limit, if Uncurl has not made all of these tasks: a delegate of a plain `URLSession` may take its time.
    private static func limit(of session: URLSession, about origin: Origin, for security: ClientSecurity) -> Duration? {
        let waiting = session.hasDelegates ? tasks(of: session, waitingFor: origin, for: security) : []
        guard waiting.allSatisfy({ session.listener(of: $0)?.observer != nil }) else { return nil }
        // Thirty years are as good as no limit.
        return waiting.map { session.answerLimit(of: $0.currentRequest) ?? .seconds(1_000_000_000) }.max()
    }

    /// Asks on the delegate queue.
    func ask() {
        session.delegateQueue.addLasting {
            guard let delegate = session.delegate else { return askTask() }
            let mark = DefaultedAnswer()
            DefaultedAnswer.$current.withValue(mark) {
                delegate.urlSession(session, didReceive: challenge(for: nil)) { disposition, credential in
                    if mark.isSet { return askTask() }
                    if !(delegate is any TaskObserver) { session.noteDelegateAnswers() }
                    give(disposition, credential, for: nil)
                }
            }
        }
    }

    /// The tasks that wait for the answer.
    private var waiting: [URLSessionTask] { Self.tasks(of: session, waitingFor: origin, for: security) }

    /// - Parameter task: its delegate is asked. If there is none, the session's is asked for all tasks that wait.
    private func challenge(for task: URLSessionTask?) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(place),
            proposedCredential: proposed,
            previousFailureCount: 0,
            failureResponse: nil,
            error: nil,
            sender: ChallengeSender { give($0.disposition, $0.credential, for: task) }
        )
    }

    /// Passes the answer on. A cancel is noted in the tasks for which it was given: the connection's error may reach
    /// another one.
    private func give(
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?,
        for task: URLSessionTask?
    ) {
        if disposition == .cancelAuthenticationChallenge {
            let asking = task.map { [$0] } ?? waiting
            for task in asking { task.snapshot.withLock { $0.cancelledPeer = place.host } }
        }
        reply.give(.given(disposition, credential))
    }

    /// Asks the task's delegate, since the session has none, or one without such a method: that of the first task by
    /// number that has one, preferably of one that runs.
    private func askTask() {
        let waiting = waiting
        // A delegate that does not hear of challenges has its policy asked about servers all the same.
        let isAboutServer = place.method == NSURLAuthenticationMethodServerTrust
        let asked = waiting.compactMap { task in session.listener(of: task).map { (task: task, listener: $0) } }
            .filter { isAboutServer || $0.listener.hears(of: .challenge) }
        guard let (task, listener) = asked.first(where: { $0.task.state == .running }) ?? asked.first else {
            return reply.give(waiting.isEmpty ? .nobody : .unasked)
        }
        let answer = Answer<ChallengeSender.Reply> { reply in
            if let reply { give(reply.disposition, reply.credential, for: task) }
        }
        listener.ask(.challenge(challenge(for: task), answer), of: task, session)
    }

    /// Returns the tasks that wait for a connection to the origin that is made under the answers of this security's
    /// owner.
    static func tasks(
        of session: URLSession,
        waitingFor origin: Origin,
        for security: ClientSecurity
    ) -> [URLSessionTask] {
        session.current.filter { task in
            guard session.isUnder(security, task.listener) else { return false }
            if let place = (task as? URLSessionStreamTask)?.place {
                return (try? Origin(place)).map { $0.host == origin.host && $0.port == origin.port } ?? false
            }
            return task.snapshot.withLock { snapshot in
                guard task is URLSessionStreamTask else { return snapshot.origin == origin && snapshot.response == nil }
                // TLS may begin on the connection that a switch of protocols has left to the stream task.
                let hasSwitched = (snapshot.response as? HTTPURLResponse)?.statusCode == 101
                return hasSwitched && snapshot.origin?.host == origin.host && snapshot.origin?.port == origin.port
            }
        }
    }
}

extension URLSession {
    /// Returns the object whose answers about servers and certificates hold for a task alone; nil if the session's do.
    ///
    /// - Parameter listener: the task's own.
    func owner(_ listener: TaskListener?) -> ClientSecurity.Owner? {
        guard let listener, let owner = listener.answerer else { return nil }
        guard case .delegate(let delegate) = listener else { return owner }
        // The session's delegate answers for all tasks, if it answers at all.
        return delegateAnswers || delegate === self.delegate || DefaultedAnswer.isOnly(by: delegate) ? nil : owner
    }

    /// Whether a task with this listener of its own takes what was made under the answers of that owner.
    fileprivate func isUnder(_ security: ClientSecurity, _ listener: TaskListener?) -> Bool {
        guard security.isOwned else { return owner(listener) == nil }
        guard let owner = security.owner else { return false }
        return listener?.answerer === owner
    }
}

extension TaskListener {
    /// The object that answers for its task alone, as far as the delegate itself says.
    fileprivate var answerer: ClientSecurity.Owner? {
        switch self {
        case .observer(let observer): observer.answerer
        case .delegate(let delegate): delegate
        }
    }
}

/// The question about the certificate of a server, or of the proxy on the way to it.
extension ConnectionQuestion {
    static func judge(of session: URLSession) -> ClientSecurity.Judge {
        { [weak session] trust, proxy, origin, security, answer in
            guard let session, session.hasDelegates else { return answer(.builtIn) }
            let peer = proxy.map { Origin(scheme: .https, host: $0.host, port: $0.port) } ?? origin
            var place = ProtectionSpaceValues(
                host: peer.host,
                port: Int(peer.port),
                side: proxy == nil ? .server(NSURLProtectionSpaceHTTPS) : .proxy(NSURLProtectionSpaceHTTPSProxy),
                realm: nil,
                method: NSURLAuthenticationMethodServerTrust
            )
            place.trust = URLServerTrust(trust)
            place.isProxyEncrypted = proxy != nil
            let reply = Answer<Reply> { reply in
                switch reply {
                // A credential that does not concern the server's trust, or none, leaves the decision to the session's
                // rules.
                case .given(.useCredential, let credential)?:
                    answer(credential?.value.trust == nil ? .builtIn : .accept)
                case .given(.cancelAuthenticationChallenge, _)?: answer(.reject(reason: "cancelled by the delegate"))
                case .given(.performDefaultHandling, _)?, .given(.rejectProtectionSpace, _)?, .unasked?:
                    answer(.builtIn)
                case .nobody?: answer(nil)
                case nil: answer(.reject(reason: released))
                }
            }
            ConnectionQuestion(session: session, origin: origin, security: security, place: place, reply: reply).ask()
        }
    }

    private static let released = "the delegate released its completion handler without calling it"
}

/// The question for a client certificate, which a server requests. Default handling shows the identity that the
/// session's credential storage has for the server, if it has one.
extension ConnectionQuestion {
    /// - Parameter storage: the session's credential storage, if its class is the program's. It is asked for a task
    ///   that waits for the server.
    static func choice(
        of session: URLSession,
        _ storage: StorageSubclass<URLCredentialStorage>? = nil
    ) -> ClientSecurity.Choice {
        { [weak session] request, origin, security, answer in
            guard let session else { return answer(.configured, false) }
            guard let storage else {
                return choose(session, request, origin, security, stored(for: origin, session), answer)
            }
            let waiting = tasks(of: session, waitingFor: origin, for: security)
            guard let task = waiting.first else { return answer(nil, false) }
            let stored = Answer<URLCredential?> {
                // What such a storage would answer another time is not known without asking it.
                choose(session, request, origin, security, $0 ?? nil) { chosen, _ in answer(chosen, false) }
            }
            storage.getDefault(for: URLProtectionSpace(space(of: origin)), task, stored.give)
        }
    }

    private static func choose(
        _ session: URLSession,
        _ request: IdentityRequest,
        _ origin: Origin,
        _ security: ClientSecurity,
        _ stored: URLCredential?,
        _ answer: @escaping @Sendable (IdentityAnswer?, Bool) -> Void
    ) {
        guard session.hasDelegates else { return answer(show(stored), true) }
        var place = space(of: origin)
        place.distinguishedNames = request.authorities.map { Data($0) }
        let reply = Answer<Reply> { reply in
            switch reply {
            case .given(.useCredential, let credential)?: answer(show(credential), false)
            case .given(.performDefaultHandling, _)?: answer(show(stored), false)
            case .given(.rejectProtectionSpace, _)?: answer(.configured, false)
            case .given(.cancelAuthenticationChallenge, _)?:
                answer(.refuse(reason: "cancelled by the delegate"), false)
            case .unasked?: answer(show(stored), true)
            case .nobody?: answer(nil, false)
            case nil: answer(.refuse(reason: released), false)
            }
        }
        let question = ConnectionQuestion(
            session: session,
            origin: origin,
            security: security,
            place: place,
            proposed: stored,
            reply: reply
        )
        question.ask()
    }

    private static func space(of origin: Origin) -> ProtectionSpaceValues {
        ProtectionSpaceValues(
            host: origin.host,
            port: Int(origin.port),
            side: .server(NSURLProtectionSpaceHTTPS),
            realm: nil,
            method: NSURLAuthenticationMethodClientCertificate
        )
    }

    private static func stored(for origin: Origin, _ session: URLSession) -> URLCredential? {
        session.ownConfiguration.urlCredentialStorage?.defaultCredential(for: URLProtectionSpace(space(of: origin)))
    }

    /// Returns the digest of the identity that the session's storage has for a server; nil for none.
    static func storedDigest(for origin: Origin, _ session: URLSession) -> [UInt8]? {
        (try? stored(for: origin, session)?.value.tlsIdentity())?.digest
    }

    /// Returns the answer that shows an identity. Without a credential no identity is shown, and the server decides
    /// whether it continues.
    private static func show(_ credential: URLCredential?) -> IdentityAnswer {
        do throws(URLClientIdentity.Unusable) {
            return try credential?.value.tlsIdentity().map { .show($0) } ?? .configured
        } catch {
            return .refuse(reason: error.description)
        }
    }
}
