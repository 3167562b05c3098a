internal import Foundation
internal import UncurlEngine
internal import UncurlTLS

/// Asks the session's delegate, or that of the task that waits for the server, with a challenge about the certificate
/// of the server, or of the proxy on the way to it.
enum TrustQuestion {
    static func judge(of session: URLSession) -> SessionSecurity.Judge {
        { [weak session] trust, proxy, origin, security, answer in
            guard let session, session.hasDelegates else { return answer(.builtIn) }
            ask(session, trust, proxy, origin, security, answer)
        }
    }

    private static func ask(
        _ session: URLSession,
        _ trust: PeerTrust,
        _ proxy: Proxy?,
        _ origin: Origin,
        _ security: SessionSecurity,
        _ answer: @escaping @Sendable (TrustVerdict?) -> Void
    ) {
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
        let reply = Answer<ConnectionQuestion.Reply> { reply in
            switch reply {
            // A credential that does not concern the server's trust, or none, leaves the decision to the session's
            // rules.
            case .given(.useCredential, let credential)?: answer(credential?.value.trust == nil ? .builtIn : .accept)
            case .given(.performDefaultHandling, _)?, .given(.rejectProtectionSpace, _)?, .unasked?: answer(.builtIn)
            case .given(.cancelAuthenticationChallenge, _)?: answer(.reject(reason: "cancelled by the delegate"))
            case .nobody?: answer(nil)
            case nil: answer(.reject(reason: "the delegate released its completion handler without calling it"))
            }
        }
        ConnectionQuestion.put(place, proposing: nil, to: session, about: origin, for: security, reply)
    }
}
