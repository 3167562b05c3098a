public import HTTP1
public import HTTPSemantics
public import Reactor
public import TLS

/// Why a proxy could not be used: what it said or did itself, never what an origin behind it answered.
public enum ProxyError: Error, Hashable, Sendable {
    /// No connection to the proxy.
    case unreachable(ConnectError)
    /// TLS with the proxy itself.
    case tls(TLSError)
    /// The proxy ended the connection before the tunnel stood. `nil` for a FIN.
    case closed(Errno?)
    /// CONNECT was not answered by a 2xx.
    case refused(ProxyRefusal)
    /// 407, and there are no credentials, none that fit a challenge, or the proxy rejected them.
    case authenticationRequired(ProxyRefusal)
    /// What the proxy answered to CONNECT is no HTTP/1.1 response, or breaks a limit.
    case malformedResponse(HTTP1Error)
    /// A SOCKS proxy refused, or broke its protocol.
    case socks(SOCKS5Error)
    /// The credentials cannot be written down as the proxy wants them.
    case credentials(AuthenticationError)
    /// The origin cannot be written down as CONNECT's target.
    case target(HTTP1Error)
}

/// What a proxy answered in place of opening a tunnel.
public struct ProxyRefusal: Hashable, Sendable {
    /// The status of the proxy's answer.
    public let status: Int
    /// The reason phrase of the proxy's answer; may be empty.
    public let reason: String
    /// The challenges of the proxy's Proxy-Authenticate fields.
    public let challenges: [AuthenticationChallenge]
    /// What it sent to explain itself: its first 4 KiB at most. The proxy's words, not the origin's.
    public private(set) var content: [UInt8] = []

    init(_ head: ResponseHead) {
        status = head.status
        reason = head.reason
        challenges = AuthenticationChallenge.all(in: head.fields, Authenticator.Side.proxy.challengeField)
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
        case .closed(nil): "the proxy closed the connection before the tunnel stood"
        case .closed(let error?): "the connection to the proxy was lost before the tunnel stood: \(error)"
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
    /// What an error of a connection being opened is while the peer is a proxy.
    var ofProxy: EngineError {
        switch self {
        case .closedWhileOpening(let cause) where cause?.isPeerClosure ?? true: .proxy(.closed(cause))
        case .tls(let error): .proxy(.tls(error))
        default: self
        }
    }
}
