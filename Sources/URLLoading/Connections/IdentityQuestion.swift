internal import Foundation
internal import UncurlEngine
internal import UncurlTLS

/// Asks the session's delegate, or that of the task that waits for the server, with a challenge when a server requests
/// a client certificate. Default handling shows the identity that the session's credential storage has for the server,
/// if it has one.
enum IdentityQuestion {
    /// - Parameter storage: the session's credential storage, if its class is the program's. It is asked for a task
    ///   that waits for the server.
    static func choice(of session: URLSession, _ storage: CredentialStorageSubclass? = nil) -> SessionSecurity.Choice {
        { [weak session] request, origin, security, answer in
            guard let session else { return answer(.configured, false) }
            guard let storage else {
                return choose(session, request, origin, security, stored(for: origin, session), answer)
            }
            let waiting = ConnectionQuestion.tasks(of: session, waitingFor: origin, for: security)
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
        _ security: SessionSecurity,
        _ stored: URLCredential?,
        _ answer: @escaping @Sendable (IdentityAnswer?, Bool) -> Void
    ) {
        guard session.hasDelegates else { return answer(show(stored), true) }
        var place = space(of: origin)
        place.distinguishedNames = request.authorities.map { Data($0) }
        let reply = Answer<ConnectionQuestion.Reply> { reply in
            switch reply {
            case .given(.useCredential, let credential)?: answer(show(credential), false)
            case .given(.performDefaultHandling, _)?: answer(show(stored), false)
            case .given(.rejectProtectionSpace, _)?: answer(.configured, false)
            case .given(.cancelAuthenticationChallenge, _)?:
                answer(.refuse(reason: "cancelled by the delegate"), false)
            case .unasked?: answer(show(stored), true)
            case .nobody?: answer(nil, false)
            case nil: answer(.refuse(reason: "the delegate released its completion handler without calling it"), false)
            }
        }
        ConnectionQuestion.put(place, proposing: stored, to: session, about: origin, for: security, reply)
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
