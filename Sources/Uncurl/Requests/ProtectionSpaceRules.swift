internal import URLLoading
internal import UncurlSemantics

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
