internal import Foundation
internal import UncurlSemantics

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
