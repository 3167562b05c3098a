public import Foundation

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
    open var `protocol`: String? {
        switch space.side {
        case .server(let name): name
        case .proxy: nil
        }
    }

    /// The kind of proxy; nil for a server.
    open var proxyType: String? {
        switch space.side {
        case .server: nil
        case .proxy(let type): type
        }
    }

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
        guard aDecoder.allowsKeyedCoding, let host = aDecoder.string(Key.host) else { return nil }
        let isProxy = aDecoder.number(Key.isProxy)?.boolValue == true
        let name = aDecoder.string(Key.side)
        var space = ProtectionSpaceValues(
            host: host,
            port: aDecoder.number(Key.port)?.intValue ?? 0,
            side: isProxy ? .proxy(name) : .server(name),
            realm: aDecoder.string(Key.realm),
            method: aDecoder.string(Key.method)
        )
        if aDecoder.containsValue(forKey: Key.names) {
            let names = aDecoder.decodeObject(of: [NSArray.self, NSData.self], forKey: Key.names)
            space.distinguishedNames = names as? [Data]
        }
        self.space = space
    }

    /// Writes the space without ``serverTrust``, which never leaves the process. Writes nothing to a coder without
    /// keys.
    open func encode(with aCoder: NSCoder) {
        guard aCoder.allowsKeyedCoding else { return }
        aCoder.encode(NSString(string: host), forKey: Key.host)
        aCoder.encode(NSNumber(value: port), forKey: Key.port)
        aCoder.encode(NSNumber(value: isProxy()), forKey: Key.isProxy)
        for (key, text) in [
            (Key.side, self.protocol ?? proxyType), (Key.realm, realm), (Key.method, authenticationMethod),
        ] {
            if let text { aCoder.encode(NSString(string: text), forKey: key) }
        }
        if let names = space.distinguishedNames {
            aCoder.encode(NSArray(array: names.map { NSData(data: $0) }), forKey: Key.names)
        }
    }

    private enum Key {
        static let host = "host"
        static let port = "port"
        static let isProxy = "isProxy"
        /// A server's protocol or a proxy's kind.
        static let side = "side"
        static let realm = "realm"
        static let method = "authenticationMethod"
        static let names = "distinguishedNames"
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
