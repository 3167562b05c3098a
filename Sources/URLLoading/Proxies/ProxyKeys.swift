// The keys of ``URLSessionConfiguration/connectionProxyDictionary`` under their names on Apple's platforms.

public let kCFNetworkProxiesHTTPEnable: String = "HTTPEnable"
public let kCFNetworkProxiesHTTPProxy: String = "HTTPProxy"
public let kCFNetworkProxiesHTTPPort: String = "HTTPPort"
public let kCFNetworkProxiesHTTPSEnable: String = "HTTPSEnable"
public let kCFNetworkProxiesHTTPSProxy: String = "HTTPSProxy"
public let kCFNetworkProxiesHTTPSPort: String = "HTTPSPort"
public let kCFNetworkProxiesSOCKSEnable: String = "SOCKSEnable"
public let kCFNetworkProxiesSOCKSProxy: String = "SOCKSProxy"
public let kCFNetworkProxiesSOCKSPort: String = "SOCKSPort"
/// Hosts that are asked directly: an array of names, `*.example.com` among them.
public let kCFNetworkProxiesExceptionsList: String = "ExceptionsList"
/// For all proxies of the dictionary.
public let kCFProxyUsernameKey: String = "kCFProxyUsernameKey"
/// For all proxies of the dictionary.
public let kCFProxyPasswordKey: String = "kCFProxyPasswordKey"
