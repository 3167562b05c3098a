internal import Foundation

/// What a ``URLProtectionSpace`` holds: a part of a server, or of a proxy, that one credential opens (RFC 9110 §11.5).
struct ProtectionSpaceValues: Sendable {
    enum Side: Hashable, Sendable {
        /// With the protocol: a scheme, or one of the constants that stand for one.
        case server(String?)
        /// With the kind of proxy.
        case proxy(String?)
    }

    let host: String
    let port: Int
    let side: Side
    let realm: String?
    let method: String
    /// What a ``NSURLAuthenticationMethodServerTrust`` challenge is about. Not part of what the space is.
    var trust: URLServerTrust?
    /// The authorities of which the server takes client certificates: names in DER. Not part of what the space is.
    var distinguishedNames: [Data]?

    init(host: String, port: Int, side: Side, realm: String?, method: String?) {
        self.host = host
        self.port = port
        self.side = side
        self.realm = realm
        self.method = method.flatMap { Self.methods.contains($0) ? $0 : nil } ?? NSURLAuthenticationMethodDefault
    }

    /// Any other is the default method.
    private static let methods: Set<String> = [
        NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
        NSURLAuthenticationMethodHTMLForm, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust,
    ]

    var isProxy: Bool {
        switch side {
        case .proxy: true
        case .server: false
        }
    }

    /// Over TLS, that is.
    var isSecure: Bool {
        switch side {
        case .server(let name): ["https", "ftps"].contains(Self.canonical(name))
        case .proxy(let kind): Self.canonical(kind) == "https"
        }
    }

    /// Scheme and constant mean the same; on Darwin they are the same.
    private static func canonical(_ name: String?) -> String? {
        switch name {
        case NSURLProtectionSpaceHTTP, NSURLProtectionSpaceHTTPProxy: "http"
        case NSURLProtectionSpaceHTTPS, NSURLProtectionSpaceHTTPSProxy: "https"
        case NSURLProtectionSpaceSOCKSProxy: "SOCKS"
        default: name
        }
    }

    private var canonicalSide: Side {
        switch side {
        case .server(let name): .server(Self.canonical(name))
        case .proxy(let kind): .proxy(Self.canonical(kind))
        }
    }

    /// The same space, for a caller that named no method.
    var forDefaultMethod: ProtectionSpaceValues {
        ProtectionSpaceValues(host: host, port: port, side: side, realm: realm, method: nil)
    }
}

extension ProtectionSpaceValues: Hashable {
    /// Hosts compare without case (RFC 3986 §3.2.2), realms with it (RFC 9110 §11.5).
    static func == (left: ProtectionSpaceValues, right: ProtectionSpaceValues) -> Bool {
        left.port == right.port && left.canonicalSide == right.canonicalSide && left.realm == right.realm
            && left.method == right.method
            && (left.host == right.host || left.host.lowercased() == right.host.lowercased())
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(host.lowercased())
        hasher.combine(port)
        hasher.combine(canonicalSide)
        hasher.combine(realm)
        hasher.combine(method)
    }
}
