public import Foundation
internal import UncurlSemantics

/// A part of a server or a proxy that asks for a credential: host, port, protocol, realm and method. Equal values are
/// the same space; the case of the host does not matter. It never changes; any thread.
open class URLProtectionSpace: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    let space: ProtectionSpaceValues

    init(_ space: ProtectionSpaceValues) {
        self.space = space
    }

    /// Makes the space of a server.
    ///
    /// - Parameters:
    ///   - host: the server's name or address.
    ///   - port: the server's port.
    ///   - protocol: a URL's scheme, or ``NSURLProtectionSpaceHTTP`` and its like.
    ///   - realm: nil where the challenge names none.
    ///   - authenticationMethod: nil for ``NSURLAuthenticationMethodDefault``.
    public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
        space = ProtectionSpaceValues(
            host: host,
            port: port,
            side: .server(`protocol`),
            realm: realm,
            method: authenticationMethod
        )
    }

    /// Makes the space of a proxy.
    ///
    /// - Parameters:
    ///   - host: the proxy's name or address.
    ///   - port: the proxy's port.
    ///   - type: ``NSURLProtectionSpaceHTTPProxy`` and its like.
    ///   - realm: nil where the challenge names none.
    ///   - authenticationMethod: nil for ``NSURLAuthenticationMethodDefault``.
    public init(proxyHost host: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
        space = ProtectionSpaceValues(
            host: host,
            port: port,
            side: .proxy(type),
            realm: realm,
            method: authenticationMethod
        )
    }

    /// The name or address of the server or proxy.
    open var host: String { space.host }

    /// The port; 0 if none was given.
    open var port: Int { space.port }

    /// The protocol; nil for a proxy.
    open var `protocol`: String? { if case .server(let name) = space.side { name } else { nil } }

    /// The kind of proxy; nil for a server.
    open var proxyType: String? { if case .proxy(let type) = space.side { type } else { nil } }

    open override func isProxy() -> Bool { space.isProxy }

    /// The name that an HTTP server gives this part of it (RFC 9110 §11.5).
    open var realm: String? { space.realm }

    /// The method by which credentials are sent: ``NSURLAuthenticationMethodHTTPBasic`` and the like.
    open var authenticationMethod: String { space.method }

    /// Whether a password is sent encrypted: over TLS. False for a proxy with which TLS is not spoken, even if it is
    /// for https URLs, and for every proxy's space that a program makes.
    open var receivesCredentialSecurely: Bool { space.isSecure }

    /// The server's certificates; nil unless the method is ``NSURLAuthenticationMethodServerTrust``.
    open var serverTrust: URLServerTrust? { space.trust }

    open override func copy() -> Any { self }
    /// Returns the same object: protection spaces never change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? URLProtectionSpace)?.space == space
    }

    open override var hash: Int { space.hashValue }

    // MARK: Archives

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// Reads an archive; nil unless it is keyed and has a host.
    public required init?(coder aDecoder: NSCoder) {
        guard aDecoder.allowsKeyedCoding, let host = aDecoder.string("host") else { return nil }
        let isProxy = aDecoder.number("isProxy")?.boolValue == true
        // A server's protocol or a proxy's kind.
        let name = aDecoder.string("side")
        var space = ProtectionSpaceValues(
            host: host,
            port: aDecoder.number("port")?.intValue ?? 0,
            side: isProxy ? .proxy(name) : .server(name),
            realm: aDecoder.string("realm"),
            method: aDecoder.string("authenticationMethod")
        )
        if aDecoder.containsValue(forKey: "distinguishedNames") {
            let names = aDecoder.decodeObject(of: [NSArray.self, NSData.self], forKey: "distinguishedNames")
            space.distinguishedNames = names as? [Data]
        }
        self.space = space
    }

    /// Writes the space without ``serverTrust``, which never leaves the process. Writes nothing to a coder without
    /// keys.
    open func encode(with aCoder: NSCoder) {
        guard aCoder.allowsKeyedCoding else { return }
        aCoder.encode(NSString(string: host), forKey: "host")
        aCoder.encode(NSNumber(value: port), forKey: "port")
        aCoder.encode(NSNumber(value: isProxy()), forKey: "isProxy")
        for (key, text) in [
            ("side", self.protocol ?? proxyType), ("realm", realm), ("authenticationMethod", authenticationMethod),
        ] {
            if let text { aCoder.encode(NSString(string: text), forKey: key) }
        }
        if let names = space.distinguishedNames {
            aCoder.encode(NSArray(array: names.map { NSData(data: $0) }), forKey: "distinguishedNames")
        }
    }

    open override var description: String {
        let kind = space.isProxy ? "Proxy:YES, Proxy-Type:\(proxyType ?? "(null)")" : "Proxy:NO, Proxy-Type:(null)"
        return "<\(type(of: self))>: Host:\(host), Server:\(self.protocol ?? "(null)"), "
            + "Auth-Scheme:\(authenticationMethod), Realm:\(realm ?? "(null)"), Port:\(port), \(kind)"
    }
}

extension URLProtectionSpace {
    /// The authorities whose client certificates the server takes: their names in DER, as they came in the handshake.
    /// Nil unless the method is ``NSURLAuthenticationMethodClientCertificate``.
    ///
    /// Deprecated as in FoundationNetworking, where it is always nil; here it works.
    @available(*, deprecated, message: "FoundationNetworking, which this module stands in for, declares it so.")
    public var distinguishedNames: [Data]? { space.distinguishedNames }
}

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

    var isProxy: Bool { if case .proxy = side { true } else { false } }

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

// The values of ``URLProtectionSpace/authenticationMethod``: how a protection space asks for credentials.

/// Any method that the server asks for. For HTTP it is the same as Basic.
public let NSURLAuthenticationMethodDefault: String = "NSURLAuthenticationMethodDefault"
/// Basic (RFC 7617).
public let NSURLAuthenticationMethodHTTPBasic: String = "NSURLAuthenticationMethodHTTPBasic"
/// Digest (RFC 7616).
public let NSURLAuthenticationMethodHTTPDigest: String = "NSURLAuthenticationMethodHTTPDigest"
/// A form on a page. No session asks for it.
public let NSURLAuthenticationMethodHTMLForm: String = "NSURLAuthenticationMethodHTMLForm"
/// NTLM. Delegates get such challenges, but no session can answer them.
public let NSURLAuthenticationMethodNTLM: String = "NSURLAuthenticationMethodNTLM"
/// Negotiate (RFC 4559). Delegates get such challenges, but no session can answer them.
public let NSURLAuthenticationMethodNegotiate: String = "NSURLAuthenticationMethodNegotiate"
/// A client certificate in the TLS handshake: answered by ``URLCredential/init(identity:certificates:persistence:)``.
public let NSURLAuthenticationMethodClientCertificate: String = "NSURLAuthenticationMethodClientCertificate"
/// The trust in a server's certificate: answered by ``URLCredential/init(trust:)``.
public let NSURLAuthenticationMethodServerTrust: String = "NSURLAuthenticationMethodServerTrust"

// The values of ``URLProtectionSpace/protocol``; a URL's scheme means the same.

/// The protocol of a server that is reached by http.
public let NSURLProtectionSpaceHTTP: String = "NSURLProtectionSpaceHTTP"
/// The protocol of a server that is reached by https.
public let NSURLProtectionSpaceHTTPS: String = "NSURLProtectionSpaceHTTPS"
/// The protocol of an FTP server, which is not supported here.
@available(*, deprecated, message: "URLLoading does not speak FTP.")
public let NSURLProtectionSpaceFTP: String = "NSURLProtectionSpaceFTP"

// The values of ``URLProtectionSpace/proxyType``.

/// A proxy for http URLs.
public let NSURLProtectionSpaceHTTPProxy: String = "NSURLProtectionSpaceHTTPProxy"
/// A proxy for https URLs.
public let NSURLProtectionSpaceHTTPSProxy: String = "NSURLProtectionSpaceHTTPSProxy"
/// A proxy for FTP, which is not supported here.
@available(*, deprecated, message: "URLLoading does not speak FTP.")
public let NSURLProtectionSpaceFTPProxy: String = "NSURLProtectionSpaceFTPProxy"
/// A SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy: String = "NSURLProtectionSpaceSOCKSProxy"

/// An option of ``URLCredentialStorage/remove(_:for:options:)``: true also removes a credential from other devices.
/// There are none here.
public let NSURLCredentialStorageRemoveSynchronizableCredentials: String =
    "NSURLCredentialStorageRemoveSynchronizableCredentials"

extension NSNotification.Name {
    /// Posted, with the storage as its object, on the thread that changed a ``URLCredentialStorage``, after the change.
    public static let NSURLCredentialStorageChanged = NSNotification.Name(
        rawValue: "NSURLCredentialStorageChangedNotification"
    )
}

extension ProtectionSpaceValues {
    /// Makes the space that a challenge names, with Foundation's constants.
    init(_ space: ProtectionSpace) {
        let side: Side =
            switch space.side {
            case .origin: .server(space.isSecure ? "https" : "http")
            case .proxy: .proxy(space.isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy)
            }
        self.init(
            host: space.host,
            port: space.port,
            side: side,
            realm: space.realm,
            method: space.scheme.methodName
        )
    }
}

extension AuthenticationScheme {
    /// The name of the scheme: Foundation's `NSURLAuthenticationMethod…`.
    fileprivate var methodName: String {
        switch self {
        case .basic: NSURLAuthenticationMethodHTTPBasic
        case .digest: NSURLAuthenticationMethodHTTPDigest
        case .ntlm: NSURLAuthenticationMethodNTLM
        case .negotiate: NSURLAuthenticationMethodNegotiate
        }
    }
}
