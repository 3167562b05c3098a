public import UncurlHTTP1
public import UncurlReactor
public import UncurlSemantics
public import UncurlTLS

/// The reason why a proxy could not be used: what it said or did itself, never what an origin behind it answered.
public enum ProxyError: Error, Hashable, Sendable {
    /// There is no connection to the proxy.
    case unreachable(ConnectError)
    /// TLS with the proxy itself has failed.
    case tls(TLSError)
    /// The proxy ended the connection before the tunnel was open. `nil` for a FIN.
    case closed(Errno?)
    /// The answer to CONNECT was no 2xx.
    case refused(ProxyRefusal)
    /// The answer was 407, and there are no credentials, none that fit a challenge, or the proxy rejected them.
    case authenticationRequired(ProxyRefusal)
    /// The proxy's answer to CONNECT is no HTTP/1.1 response, or exceeds a limit.
    case malformedResponse(HTTP1Error)
    /// A SOCKS proxy refused, or broke its protocol.
    case socks(SOCKS5Error)
    /// The credentials cannot be written as the proxy wants them.
    case credentials(AuthenticationError)
    /// The origin cannot be written as CONNECT's target.
    case target(HTTP1Error)
}

/// A proxy's answer that refused a tunnel.
public struct ProxyRefusal: Hashable, Sendable {
    /// The status of the proxy's answer.
    public let status: Int
    /// The reason phrase of the proxy's answer; may be empty.
    public let reason: String
    /// The challenges of the proxy's Proxy-Authenticate fields.
    public let challenges: [AuthenticationChallenge]
    /// The content with which the proxy explains itself: at most its first 4 KiB. It comes from the proxy, not the
    /// origin.
    public private(set) var content: [UInt8] = []
    /// Whether the credentials for the proxy answer its challenges once the request is sent again: the engine has not
    /// done so, since only the caller has the request's content.
    package internal(set) var isAnswerable = false

    init(_ head: ResponseHead) {
        status = head.status
        reason = head.reason
        challenges = AuthenticationChallenge.all(in: head.fields, ChallengeAuthenticator.Side.proxy.challengeField)
    }

    mutating func keep(_ part: Span<UInt8>, atMost limit: Int) {
        for index in 0..<min(part.count, max(0, limit - content.count)) { content.append(part[index]) }
    }
}

extension ProxyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let error): "no connection to the proxy: \(error)"
        case .tls(let error): "TLS: \(error)"
        case .closed(nil): "the proxy closed the connection before the tunnel was open"
        case .closed(let error?): "the connection to the proxy was lost before the tunnel was open: \(error)"
        case .refused(let refusal): "the proxy refused the tunnel: \(refusal)"
        case .authenticationRequired(let refusal): "the proxy wants other credentials: \(refusal)"
        case .malformedResponse(let error): "malformed response of the proxy: \(error)"
        case .socks(let error): "\(error)"
        case .credentials(let error): "credentials for the proxy: \(error)"
        case .target(let error): "the proxy cannot be asked for this origin: \(error)"
        }
    }
}

extension ProxyRefusal: CustomStringConvertible {
    public var description: String { reason.isEmpty ? "\(status)" : "\(status) \(reason)" }
}

extension EngineError {
    /// The error as it is while a connection is being opened and the peer is a proxy.
    var ofProxy: EngineError {
        switch self {
        case .closedWhileOpening(let cause) where cause?.isPeerClosure ?? true: .proxy(.closed(cause))
        case .tls(let error): .proxy(.tls(error))
        default: self
        }
    }
}
