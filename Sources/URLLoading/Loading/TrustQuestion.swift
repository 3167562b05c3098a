internal import Foundation
internal import HTTPEngine
internal import TLS

/// A server's certificate as a challenge to the session's delegate, or to the delegate of the task that waits for the server.
enum TrustQuestion {
    typealias Reply = (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)

    static func judge(of session: URLSession) -> SessionSecurity.Judge {
        { [weak session] trust, origin, answer in
            guard let session, session.delegate != nil else { return answer(.builtIn) }
            ask(session, trust, origin, answer)
        }
    }

    private static func ask(
        _ session: URLSession,
        _ trust: PeerTrust,
        _ origin: Origin,
        _ answer: @escaping @Sendable (TrustVerdict) -> Void
    ) {
        var place = ProtectionSpace(
            host: origin.host,
            port: Int(origin.port),
            side: .server(NSURLProtectionSpaceHTTPS),
            realm: nil,
            method: NSURLAuthenticationMethodServerTrust
        )
        place.trust = URLServerTrust(trust)
        let reply = Answer<Reply> { reply in
            switch reply?.disposition {
            // A credential that says nothing of the server's trust, or none, leaves the matter to the session's rules.
            case .useCredential?: answer(reply?.credential?.value.trust == nil ? .builtIn : .accept)
            case .performDefaultHandling?, .rejectProtectionSpace?: answer(.builtIn)
            case .cancelAuthenticationChallenge?: answer(.reject(reason: "cancelled by the session's delegate"))
            case nil: answer(.reject(reason: "the delegate let go of its completion handler without calling it"))
            }
        }
        put(place, proposing: nil, to: session, about: origin, reply)
    }

    /// Asks on the delegate queue: the session's delegate, or else that of a task which waits for the server.
    static func put(
        _ place: ProtectionSpace,
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
            let mark = UnansweredMark()
            UnansweredMark.$current.withValue(mark) {
                session.delegate?.urlSession(session, didReceive: challenge) { disposition, credential in
                    if mark.isSet {
                        askTask(session, origin, challenge, reply)
                    } else {
                        reply.give((disposition, credential))
                    }
                }
            }
        }
    }

    /// The session's delegate has no such method: the task's is asked.
    private static func askTask(
        _ session: URLSession,
        _ origin: Origin,
        _ challenge: URLAuthenticationChallenge,
        _ reply: Answer<Reply>
    ) {
        guard let task = session.task(waitingFor: origin), let delegate = task.delegate ?? session.delegates.task else {
            return reply.give((.performDefaultHandling, nil))
        }
        delegate.urlSession(session, task: task, didReceive: challenge) { reply.give(($0, $1)) }
    }
}
