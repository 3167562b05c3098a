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
