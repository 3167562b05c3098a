import ScriptedPeer
import URLLoading

extension URLProtectionSpace {
    /// The space in which a credential storage keeps the client certificate for a server of a test.
    static func clientCertificates(for server: RawServer) -> URLProtectionSpace {
        URLProtectionSpace(
            host: "localhost",
            port: Int(server.port),
            protocol: "https",
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodClientCertificate
        )
    }
}
