public import Foundation

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
