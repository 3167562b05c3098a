internal import Foundation
internal import HTTPEngine
internal import TLS

/// Asks the session's delegate, or that of the task that waits for the server, with a challenge when a server requests
/// a client certificate. Default handling shows the identity that the session's credential storage has for the server,
/// if it has one.
enum IdentityQuestion {
    static func choice(of session: URLSession) -> SessionSecurity.Choice {
        { [weak session] request, origin, answer in
            guard let session else { return answer(.configured) }
            guard session.hasDelegates else { return answer(show(stored(for: origin, session))) }
            ask(session, request, origin, answer)
        }
    }

    private static func ask(
        _ session: URLSession,
        _ request: IdentityRequest,
        _ origin: Origin,
        _ answer: @escaping @Sendable (IdentityAnswer?) -> Void
    ) {
        var place = space(of: origin)
        let stored = stored(for: origin, session)
        place.distinguishedNames = request.authorities.map { Data($0) }
        let reply = Answer<ConnectionQuestion.Reply> { reply in
            switch reply {
            case .given(.useCredential, let credential)?: answer(show(credential))
            case .given(.performDefaultHandling, _)?: answer(show(stored))
            case .given(.rejectProtectionSpace, _)?: answer(.configured)
            case .given(.cancelAuthenticationChallenge, _)?: answer(.refuse(reason: "cancelled by the delegate"))
            case .nobody?: answer(nil)
            case nil: answer(.refuse(reason: "the delegate released its completion handler without calling it"))
            }
        }
        ConnectionQuestion.put(place, proposing: stored, to: session, about: origin, reply)
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
