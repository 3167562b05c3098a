internal import HTTPSemantics
internal import URLLoading

extension URLProtectionSpace {
    /// Whether this is a space of the origin of the URL: scheme, host and port (RFC 9110 §4.3.1).
    func isOrigin(of url: URL?) -> Bool {
        guard let url, let own = self.protocol, let origin = WebOrigin(of: url) else { return false }
        let constants = [NSURLProtectionSpaceHTTP: "http", NSURLProtectionSpaceHTTPS: "https"]
        return origin == WebOrigin(scheme: constants[own] ?? own, host: WebOrigin.bare(host), port: port)
    }

    /// Whether the space asks for a credential of this kind: a client certificate, or a name and a password.
    func takes(_ credential: URLCredential) -> Bool {
        (authenticationMethod == NSURLAuthenticationMethodClientCertificate) == (credential.identity != nil)
    }
}

extension WebOrigin {
    /// Nil for a URL of another scheme than http, https, ws and wss, and for one without a host.
    init?(of url: URL) {
        guard let scheme = url.scheme, let host = url.host else { return nil }
        self.init(scheme: scheme, host: Self.bare(host), port: url.port)
    }

    /// The name without the brackets of an IPv6 address.
    fileprivate static func bare(_ host: String) -> String { host.trimmingCharacters(in: ["[", "]"]) }
}
