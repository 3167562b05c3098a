import Testing
import UncurlSemantics

@testable import URLLoading

@Suite("Protection spaces of challenges")
struct ProtectionSpaceBridgingTests {
    private func space(
        _ side: ChallengeAuthenticator.Side,
        isSecure: Bool,
        _ scheme: AuthenticationScheme
    ) -> URLProtectionSpace {
        URLProtectionSpace(
            ProtectionSpaceValues(
                ProtectionSpace(host: "H", port: 8080, side: side, isSecure: isSecure, realm: "r", scheme: scheme)
            )
        )
    }

    @Test(
        "each scheme has Foundation's name",
        arguments: [
            (.basic, NSURLAuthenticationMethodHTTPBasic), (.digest, NSURLAuthenticationMethodHTTPDigest),
            (.ntlm, NSURLAuthenticationMethodNTLM), (.negotiate, NSURLAuthenticationMethodNegotiate),
        ] as [(AuthenticationScheme, String)]
    )
    func methods(scheme: AuthenticationScheme, name: String) {
        #expect(space(.origin, isSecure: true, scheme).authenticationMethod == name)
    }

    @Test("a server's space equals one that a user makes for its protocol; a proxy's one for its kind")
    func sides() {
        let made = URLProtectionSpace(
            host: "h",
            port: 8080,
            protocol: NSURLProtectionSpaceHTTPS,
            realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        #expect(space(.origin, isSecure: true, .basic) == made)
        #expect(space(.origin, isSecure: false, .basic) != made)
        let proxy = space(.proxy, isSecure: false, .digest)
        #expect(proxy.isProxy() && proxy.proxyType == NSURLProtectionSpaceHTTPProxy)
    }
}
