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

/// The reason why a SOCKS5 handshake failed.
public enum SOCKS5Error: Error, Hashable, Sendable {
    /// A fault of the request: the host does not have 1 to 255 octets. It is not looked up instead.
    case hostLength(Int)
    /// A fault of the request: user name and password must have 1 to 255 octets each (RFC 1929 §2).
    case credentialsLength
    /// The proxy's message has another version than 5 (1 in the log-in), so it may not be SOCKS at all.
    case version(UInt8)
    /// The proxy chose a method of authentication that was not offered.
    case method(UInt8)
    /// The proxy accepts none of the offered methods: it wants credentials, and there are none.
    case noAcceptableMethod
    /// User name and password were refused (RFC 1929 §2).
    case loginRejected
    /// The proxy did not connect, for the reason of that number (RFC 1928 §6).
    case refused(reply: UInt8)
    /// The proxy's reply has an address of an unknown kind.
    case addressType(UInt8)
}

extension SOCKS5Error: CustomStringConvertible {
    public var description: String {
        switch self {
        case .hostLength(let count): "SOCKS5 carries hosts of 1 to 255 octets; this one has \(count)"
        case .credentialsLength: "SOCKS5 carries user names and passwords of 1 to 255 octets"
        case .version(let version): "the proxy does not speak SOCKS5 (its version octet is \(version))"
        case .method(let method): "the proxy chose authentication method \(method), which was not offered"
        case .noAcceptableMethod: "the proxy accepts none of the offered authentication methods"
        case .loginRejected: "the proxy rejected user name and password"
        case .refused(let reply): "the proxy did not connect: \(Self.replies[reply] ?? "unassigned reply \(reply)")"
        case .addressType(let type): "the proxy's reply has an address of unknown type \(type)"
        }
    }

    private static let replies: [UInt8: String] = [
        1: "general failure", 2: "not allowed by its rules", 3: "network unreachable", 4: "host unreachable",
        5: "connection refused", 6: "time to live expired", 7: "command not supported",
        8: "address type not supported",
    ]
}
