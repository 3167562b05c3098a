internal import Foundation
internal import HTTPEngine
internal import Synchronization

/// A handshake's question to the program: about the server's certificate, or for a client certificate. The session's
/// delegate is asked, or else that of a task that waits for the server. Without either, default handling applies.
enum ConnectionQuestion {
    enum Reply: Sendable {
        case given(URLSession.AuthChallengeDisposition, URLCredential?)
        /// No task waits for the server any more, so there is no delegate to ask.
        case nobody
    }

    /// The questions that a session's delegates are asked.
    ///
    /// - Parameter storage: the session's credential storage, if its class is the program's.
    static func questions(to session: URLSession, _ storage: CredentialStorageSubclass?) -> SessionSecurity.Questions {
        SessionSecurity.Questions(
            judge: TrustQuestion.judge(of: session),
            choice: IdentityQuestion.choice(of: session, storage),
            limit: { [weak session] origin in session.flatMap { limit(of: $0, about: origin) } }
        )
    }

    /// How long an answer may take: the longest time limit of the tasks that wait for the server. Nil, for the engine's
    /// limit, if Uncurl has not made all of these tasks: a delegate of a plain `URLSession` may take its time.
    private static func limit(of session: URLSession, about origin: Origin) -> Duration? {
        let waiting = session.hasDelegates ? tasks(of: session, waitingFor: origin) : []
        guard waiting.allSatisfy({ session.delegate(of: $0) is any SelectiveDelegate }) else { return nil }
        // Thirty years are as good as no limit.
        return waiting.map { session.answerLimit(of: $0.currentRequest) ?? .seconds(1_000_000_000) }.max()
    }

    /// Asks on the delegate queue.
    static func put(
        _ place: ProtectionSpaceValues,
        proposing credential: URLCredential?,
        to session: URLSession,
        about origin: Origin,
        _ reply: Answer<Reply>
    ) {
        let question = Question(place: place, proposed: credential, session: session, origin: origin, reply: reply)
        session.delegateQueue.addLasting {
            guard let delegate = session.delegate else { return askTask(question) }
            let mark = DefaultedAnswer()
            DefaultedAnswer.$current.withValue(mark) {
                delegate.urlSession(session, didReceive: question.challenge(for: nil)) { disposition, credential in
                    if mark.isSet {
                        askTask(question)
                    } else {
                        question.give(disposition, credential, for: nil)
                    }
                }
            }
        }
    }

    /// What is asked, and where the answer goes.
    private struct Question: Sendable {
        let place: ProtectionSpaceValues
        let proposed: URLCredential?
        let session: URLSession
        let origin: Origin
        let reply: Answer<Reply>

        /// - Parameter task: the one whose delegate is asked; nil if the session's is, for all tasks that wait.
        func challenge(for task: URLSessionTask?) -> URLAuthenticationChallenge {
            URLAuthenticationChallenge(
                protectionSpace: URLProtectionSpace(place),
                proposedCredential: proposed,
                previousFailureCount: 0,
                failureResponse: nil,
                error: nil,
                sender: ChallengeSender { give($0.reply.disposition, $0.reply.credential, for: task) }
            )
        }

        /// Passes the answer on. A cancel is noted in the tasks for which it was given: the connection's error may
        /// reach another one.
        func give(
            _ disposition: URLSession.AuthChallengeDisposition,
            _ credential: URLCredential?,
            for task: URLSessionTask?
        ) {
            if disposition == .cancelAuthenticationChallenge {
                let asking = task.map { [$0] } ?? tasks(of: session, waitingFor: origin)
                for task in asking { task.snapshot.withLock { $0.cancelledPeer = place.host } }
            }
            reply.give(.given(disposition, credential))
        }
    }

    /// Asks the task's delegate, since the session has none, or one without such a method.
    private static func askTask(_ question: Question) {
        let session = question.session
        let waiting = tasks(of: session, waitingFor: question.origin)
        guard let asked = delegate(of: waiting, in: session) else {
            return question.reply.give(waiting.isEmpty ? .nobody : .given(.performDefaultHandling, nil))
        }
        let challenge = question.challenge(for: asked.task)
        asked.delegate.urlSession(session, task: asked.task, didReceive: challenge) {
            question.give($0, $1, for: asked.task)
        }
    }

    /// Returns the task whose delegate is asked: the first by number that has one, preferably one that runs.
    private static func delegate(
        of waiting: [URLSessionTask],
        in session: URLSession
    ) -> (task: URLSessionTask, delegate: any URLSessionTaskDelegate)? {
        let asked = waiting.compactMap { task in session.delegate(of: task).map { (task: task, delegate: $0) } }
        return asked.first { $0.task.state == .running } ?? asked.first
    }

    static func tasks(of session: URLSession, waitingFor origin: Origin) -> [URLSessionTask] {
        session.current.filter { task in
            if let place = (task as? URLSessionStreamTask)?.place { return place.isPlace(of: origin) }
            return task.snapshot.withLock { snapshot in
                guard task is URLSessionStreamTask else { return snapshot.origin == origin && snapshot.response == nil }
                // TLS may begin on the connection that a switch of protocols has left to the stream task.
                let hasSwitched = (snapshot.response as? HTTPURLResponse)?.statusCode == 101
                return hasSwitched && snapshot.origin?.host == origin.host && snapshot.origin?.port == origin.port
            }
        }
    }
}
