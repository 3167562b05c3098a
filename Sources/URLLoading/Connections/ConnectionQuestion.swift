internal import Foundation
internal import HTTPEngine

/// What a handshake asks of a session's user, about the server's certificate or one of ours: the session's delegate is asked, or else that
/// of a task which waits for the server. With neither, default handling counts.
enum ConnectionQuestion {
    typealias Reply = (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)

    /// Asks on the delegate queue.
    static func put(
        _ place: ProtectionSpaceValues,
        proposing credential: URLCredential?,
        to session: URLSession,
        about origin: Origin,
        _ reply: Answer<Reply>
    ) {
        let challenge = URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(place),
            proposedCredential: credential,
            previousFailureCount: 0,
            failureResponse: nil,
            error: nil,
            sender: ChallengeSender { reply.give($0.reply) }
        )
        session.delegateQueue.addOperation {
            guard let delegate = session.delegate else { return askTask(session, origin, challenge, reply) }
            let mark = DefaultedAnswer()
            DefaultedAnswer.$current.withValue(mark) {
                delegate.urlSession(session, didReceive: challenge) { disposition, credential in
                    if mark.isSet {
                        askTask(session, origin, challenge, reply)
                    } else {
                        reply.give((disposition, credential))
                    }
                }
            }
        }
    }

    /// The session has no delegate, or one without such a method: the task's is asked.
    private static func askTask(
        _ session: URLSession,
        _ origin: Origin,
        _ challenge: URLAuthenticationChallenge,
        _ reply: Answer<Reply>
    ) {
        guard let asked = session.task(waitingFor: origin) else { return reply.give((.performDefaultHandling, nil)) }
        asked.delegate.urlSession(session, task: asked.task, didReceive: challenge) { reply.give(($0, $1)) }
    }
}
