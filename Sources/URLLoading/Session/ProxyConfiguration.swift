internal import Foundation
internal import UncurlClient
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics

/// A proxy of ``URLSessionConfiguration/proxyConfigurations``, with the names of Apple's Network framework, which does
/// not exist on Linux.
///
/// ```swift
/// let proxy = ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "proxy.example", port: 3128))
/// proxy.applyCredential(username: "user", password: "secret")
/// configuration.proxyConfigurations = [proxy]
/// ```
///
/// Apple's relay hops and Oblivious HTTP need HTTP/2 or HTTP/3, which this library does not support: there are no
/// initialisers for them. As with Apple's, a copy shares its credentials with the original. Any thread.
public struct ProxyConfiguration: Sendable {
    /// Where a proxy listens.
    public struct Endpoint: Hashable, Sendable {
        let host: String
        let port: UInt16

        /// Makes an endpoint of a host's name or address and a port, 1 to 65535.
        public static func hostPort(host: String, port: UInt16) -> Endpoint { Endpoint(host: host, port: port) }
    }

    /// TLS with the proxy itself. Its certificate is verified by the system's authorities, and the delegate is asked
    /// about it as about a server's: by a challenge whose ``URLProtectionSpace/serverTrust`` is the proxy's and whose
    /// `isProxy()` is true. There is nothing to set.
    public struct TLSOptions: Hashable, Sendable {
        /// Makes the options.
        public init() {}
    }

    /// Whether a task tries the next proxy that applies, and at last a direct connection, if this one cannot be used.
    /// False by default: the task fails. A proxy that refuses the task's server or credentials counts as usable. If a
    /// delegate refuses the proxy's certificate, the task fails in any case.
    public var allowFailover = false
    /// The hosts that this proxy is for: names with all names below them, addresses and networks (`10.0.0.0/8`). Empty,
    /// the default: all.
    public var matchDomains: [String] = []
    /// The hosts that this proxy is not for, in the form of ``matchDomains``. They take precedence over these.
    public var excludedDomains: [String] = []
    private let kind: Proxy.Kind
    private let endpoint: Endpoint
    /// Copies share them, so that they can be set on a constant, as with Apple's type.
    private let credentials = Monitor<Credentials?>(nil)

    /// Makes a configuration of an HTTP/1.1 proxy that is asked for a tunnel (CONNECT) to every server, as on Apple's
    /// platforms. This includes http URLs, whose requests a proxy of
    /// ``URLSessionConfiguration/connectionProxyDictionary`` forwards without a tunnel.
    ///
    /// - Parameters:
    ///   - httpCONNECTProxy: where the proxy listens.
    ///   - tlsOptions: nil for a proxy that is spoken to without TLS.
    public init(httpCONNECTProxy: Endpoint, tlsOptions: TLSOptions? = nil) {
        endpoint = httpCONNECTProxy
        kind = tlsOptions == nil ? .http : .https
    }

    /// Makes a configuration of a SOCKS5 proxy, which looks up the servers' names itself.
    public init(socksv5Proxy: Endpoint) {
        endpoint = socksv5Proxy
        kind = .socks5h
    }

    /// Sets the user name and the password for the proxy alone; no server gets them. Sessions that were made before
    /// keep what they had.
    public func applyCredential(username: String, password: String) {
        credentials.withLock { $0 = Credentials(user: username, password: password) }
    }

    /// The proxy for the engine.
    func proxy() throws(ProxyFault) -> Proxy {
        guard endpoint.port > 0 else { throw ProxyFault("proxyConfigurations: the port is 0") }
        let host: URLHost
        do throws(URLHost.Problem) {
            host = try URLHost(endpoint.host)
        } catch {
            throw ProxyFault("proxyConfigurations: \(endpoint.host.debugDescription) is no host: \(error)")
        }
        return Proxy(
            kind,
            host: host,
            port: endpoint.port,
            credentials: credentials.withLock { $0 },
            tunnelsAll: true
        )
    }
}

extension ProxyConfiguration: CustomDebugStringConvertible {
    /// The proxy as a URL, without its credentials.
    public var debugDescription: String { "\(kind.rawValue)://\(endpoint)" }
}

extension ProxyConfiguration.Endpoint: CustomStringConvertible {
    public var description: String { "\(host):\(port)" }
}

// The keys of ``URLSessionConfiguration/connectionProxyDictionary`` under their names on Apple's platforms.

/// Whether there is a proxy for http URLs: a number, not 0.
public let kCFNetworkProxiesHTTPEnable: String = "HTTPEnable"
/// The name or address of the proxy for http URLs: a `String`.
public let kCFNetworkProxiesHTTPProxy: String = "HTTPProxy"
/// The port of the proxy for http URLs: a number.
public let kCFNetworkProxiesHTTPPort: String = "HTTPPort"
/// Whether there is a proxy for https URLs: a number, not 0.
public let kCFNetworkProxiesHTTPSEnable: String = "HTTPSEnable"
/// The name or address of the proxy for https URLs: a `String`.
public let kCFNetworkProxiesHTTPSProxy: String = "HTTPSProxy"
/// The port of the proxy for https URLs: a number.
public let kCFNetworkProxiesHTTPSPort: String = "HTTPSPort"
/// Whether there is a proxy for all URLs, by SOCKS: a number, not 0.
public let kCFNetworkProxiesSOCKSEnable: String = "SOCKSEnable"
/// The name or address of the proxy for all URLs, by SOCKS: a `String`.
public let kCFNetworkProxiesSOCKSProxy: String = "SOCKSProxy"
/// The port of the proxy for all URLs, by SOCKS: a number.
public let kCFNetworkProxiesSOCKSPort: String = "SOCKSPort"
/// Hosts that are reached directly: an array of names, such as `*.example.com`.
public let kCFNetworkProxiesExceptionsList: String = "ExceptionsList"
/// The user name for all proxies of the dictionary: a `String`.
public let kCFProxyUsernameKey: String = "kCFProxyUsernameKey"
/// The password for all proxies of the dictionary: a `String`.
public let kCFProxyPasswordKey: String = "kCFProxyPasswordKey"
