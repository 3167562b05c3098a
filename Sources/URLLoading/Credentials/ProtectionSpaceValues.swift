internal import Foundation

/// The values of a ``URLProtectionSpace``: a part of a server or a proxy that one credential opens (RFC 9110 §11.5).
struct ProtectionSpaceValues: Sendable {
    enum Side: Hashable, Sendable {
        /// A server, with the protocol: a scheme, or one of the constants that stand for one.
        case server(String?)
        /// A proxy, with its kind.
        case proxy(String?)
    }

    let host: String
    let port: Int
    let side: Side
    let realm: String?
    let method: String
    /// The subject of a ``NSURLAuthenticationMethodServerTrust`` challenge. It is not compared.
    var trust: URLServerTrust?
    /// The names, in DER, of the authorities whose client certificates the server takes. They are not compared.
    var distinguishedNames: [Data]?
    /// Whether TLS is spoken with the proxy. It is not compared.
    var isProxyEncrypted = false

    init(host: String, port: Int, side: Side, realm: String?, method: String?) {
        self.host = host
        self.port = port
        self.side = side
        self.realm = realm
        self.method = method.flatMap { Self.methods.contains($0) ? $0 : nil } ?? NSURLAuthenticationMethodDefault
    }

    /// The known methods; any other counts as the default method.
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

    /// Whether the connection is encrypted, by TLS. A proxy's kind does not say that: it says which URLs the proxy is
    /// for.
    var isSecure: Bool {
        switch side {
        case .server(let name): ["https", "ftps"].contains(Self.canonical(name))
        case .proxy: isProxyEncrypted
        }
    }

    /// Returns one name for a scheme and its constant, which mean the same; on Darwin they are the same.
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

    /// The same space with the default method.
    var forDefaultMethod: ProtectionSpaceValues {
        ProtectionSpaceValues(host: host, port: port, side: side, realm: realm, method: nil)
    }
}

extension ProtectionSpaceValues: Hashable {
    /// Compares hosts without case (RFC 3986 §3.2.2) and realms by their octets (RFC 9110 §11.5).
    static func == (left: ProtectionSpaceValues, right: ProtectionSpaceValues) -> Bool {
        left.port == right.port && left.canonicalSide == right.canonicalSide && Self.areSame(left.realm, right.realm)
            && left.method == right.method
            && (left.host == right.host || left.host.lowercased() == right.host.lowercased())
    }

    /// Compares octets: a server chooses its realm, and texts with many combining marks take long to compare.
    private static func areSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(host.lowercased())
        hasher.combine(port)
        hasher.combine(canonicalSide)
        hasher.combine(realm.map { Array($0.utf8) })
        hasher.combine(method)
    }
}
