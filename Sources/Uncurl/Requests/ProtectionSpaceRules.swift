internal import HTTPSemantics
internal import URLLoading

extension URLProtectionSpace {
    /// Whether this is a space of the origin of the URL: scheme, host and port (RFC 9110 §4.3.1).
    func isOrigin(of url: URL?) -> Bool {
        guard let url, let scheme = url.scheme, let name = url.host, let own = self.protocol else { return false }
        let constants = [NSURLProtectionSpaceHTTP: "http", NSURLProtectionSpaceHTTPS: "https"]
        let origin = WebOrigin(scheme: scheme, host: Self.bare(name), port: url.port)
        return origin != nil && origin == WebOrigin(scheme: constants[own] ?? own, host: Self.bare(host), port: port)
    }

    /// Whether the space asks for a credential of this kind: a client certificate, or a name and a password.
    func takes(_ credential: URLCredential) -> Bool {
        (authenticationMethod == NSURLAuthenticationMethodClientCertificate) == (credential.identity != nil)
    }

    /// The name without the brackets of an IPv6 address.
    private static func bare(_ host: String) -> String { host.trimmingCharacters(in: ["[", "]"]) }
}
