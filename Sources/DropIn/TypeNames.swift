@_exported public import URLLoading

// Names of this module's own for what it re-exports: `import struct FoundationNetworking.URLRequest` is ambiguous
// without them. `DropInTests` compares the list with the public types of URLLoading.

public typealias CachedURLResponse = URLLoading.CachedURLResponse
public typealias HTTPCookie = URLLoading.HTTPCookie
public typealias HTTPCookiePropertyKey = URLLoading.HTTPCookiePropertyKey
public typealias HTTPCookieStorage = URLLoading.HTTPCookieStorage
public typealias HTTPCookieStringPolicy = URLLoading.HTTPCookieStringPolicy
public typealias HTTPURLResponse = URLLoading.HTTPURLResponse
public typealias NSMutableURLRequest = URLLoading.NSMutableURLRequest
public typealias NSURLRequest = URLLoading.NSURLRequest
public typealias ProxyConfiguration = URLLoading.ProxyConfiguration
public typealias ResponseLimits = URLLoading.ResponseLimits
public typealias URLAuthenticationChallenge = URLLoading.URLAuthenticationChallenge
public typealias URLAuthenticationChallengeSender = URLLoading.URLAuthenticationChallengeSender
public typealias URLCache = URLLoading.URLCache
public typealias URLClientIdentity = URLLoading.URLClientIdentity
public typealias URLCredential = URLLoading.URLCredential
public typealias URLCredentialStorage = URLLoading.URLCredentialStorage
public typealias URLProtectionSpace = URLLoading.URLProtectionSpace
public typealias URLProtocol = URLLoading.URLProtocol
public typealias URLProtocolClient = URLLoading.URLProtocolClient
public typealias URLRequest = URLLoading.URLRequest
public typealias URLResponse = URLLoading.URLResponse
public typealias URLServerTrust = URLLoading.URLServerTrust
public typealias URLSession = URLLoading.URLSession
public typealias URLSessionConfiguration = URLLoading.URLSessionConfiguration
public typealias URLSessionDataDelegate = URLLoading.URLSessionDataDelegate
public typealias URLSessionDataTask = URLLoading.URLSessionDataTask
public typealias URLSessionDelegate = URLLoading.URLSessionDelegate
public typealias URLSessionDownloadDelegate = URLLoading.URLSessionDownloadDelegate
public typealias URLSessionDownloadTask = URLLoading.URLSessionDownloadTask
public typealias URLSessionStreamDelegate = URLLoading.URLSessionStreamDelegate
public typealias URLSessionStreamTask = URLLoading.URLSessionStreamTask
public typealias URLSessionTask = URLLoading.URLSessionTask
public typealias URLSessionTaskDelegate = URLLoading.URLSessionTaskDelegate
public typealias URLSessionTaskMetrics = URLLoading.URLSessionTaskMetrics
public typealias URLSessionTaskTransactionMetrics = URLLoading.URLSessionTaskTransactionMetrics
public typealias URLSessionUploadTask = URLLoading.URLSessionUploadTask
public typealias URLSessionWebSocketDelegate = URLLoading.URLSessionWebSocketDelegate
public typealias URLSessionWebSocketTask = URLLoading.URLSessionWebSocketTask
public typealias tls_ciphersuite_t = URLLoading.tls_ciphersuite_t
public typealias tls_protocol_version_t = URLLoading.tls_protocol_version_t
