public import Foundation
internal import HTTPSemantics

/// How a session behaves. A session copies it when it is made: what is changed later concerns later sessions.
///
/// Not to be changed by one thread while others use it.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    /// A new one with the documented defaults and the shared stores for cookies, credentials and cached answers.
    open class var `default`: URLSessionConfiguration { URLSessionConfiguration(identifier: nil) }

    /// A new one with stores of its own in memory: nothing is written to disk, nothing shared.
    open class var ephemeral: URLSessionConfiguration {
        let configuration = URLSessionConfiguration(identifier: nil)
        configuration.httpCookieStorage = HTTPCookieStorage.ephemeral()
        configuration.urlCredentialStorage = URLCredentialStorage()
        configuration.urlCache = URLCache(memoryCapacity: 4 << 20)
        return configuration
    }

    /// For tasks that outlive their process. A session with it writes its downloads, and its uploads of files, down in
    /// `$XDG_STATE_HOME/<program>/background` (mostly `~/.local/state`), for its user's eyes alone: requests with their
    /// fields and content stand there until their end has been told.
    ///
    /// There is no daemon. When a process ends, whatever way, its tasks stop; the next that makes a session with the
    /// same identifier finds them in `getAllTasks`, and those that were running go on by themselves: downloads from the
    /// bytes on disk, if the server still has the very same content (a strong validator says so), else from the start;
    /// uploads from the start. What had ended and not been told is told then, so make the session with a delegate, and
    /// let no delegate mind to hear an end twice. After a fall of the machine downloads start over.
    ///
    /// Each task's record carries a checksum. Of a record that cannot be read nothing is known but its number: the
    /// delegate is told the end of a plain `URLSessionTask` without a request, `URLError.cannotOpenFile` with the
    /// file's path under `NSFilePathErrorKey`. The record, and content that may be its own, lie there for a week; the
    /// other tasks go on.
    ///
    /// One session at a time has an identifier, of all processes of a user; tasks of another fail with
    /// `URLError.backgroundSessionInUseByAnotherProcess`. There are download tasks and uploads of files, of http and
    /// https; other tasks, completion handlers and functions that wait fail. Redirects are followed without a question.
    /// Failures of the network are none before ``timeoutIntervalForResource`` has passed, counted from the first
    /// process: the load is tried again, after a quarter of a second at first and ten at last.
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration(identifier: identifier)
        configuration.isBackground = true
        configuration.waitsForConnectivity = true
        return configuration
    }

    package internal(set) var isBackground = false
    /// For tests: instead of the program's folder of states.
    var stateDirectory: String?

    /// A label; of a background session, what another process knows it by.
    open var identifier: String?

    /// For requests that leave the policy to the protocol.
    open var requestCachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy

    /// In seconds, fractions included: how long a task may go without a byte moving. While its delegate is busy, and
    /// while it waits for a connection of the session, the time stands still. A request's own counts if it differs from
    /// the default of 60.
    open var timeoutIntervalForRequest: TimeInterval = 60

    /// In seconds: how long a task may take in all, redirects, retries and waiting for connectivity included. Seven
    /// days.
    open var timeoutIntervalForResource: TimeInterval = 604_800

    /// Of no effect here.
    open var networkServiceType: URLRequest.NetworkServiceType = .default

    /// Linux knows no cellular interfaces: of no effect here.
    open var allowsCellularAccess = true
    /// Linux knows no expensive interfaces: of no effect here.
    open var allowsExpensiveNetworkAccess = true
    /// Linux knows no constrained interfaces: of no effect here.
    open var allowsConstrainedNetworkAccess = true

    /// Whether a task without a way to its server waits for one instead of failing, up to
    /// ``timeoutIntervalForResource``.
    open var waitsForConnectivity = false

    /// Linux has no scheduler for such tasks: of no effect here.
    open var isDiscretionary = false

    /// Linux starts no program for a session's events: of no effect here.
    open var sessionSendsLaunchEvents = true

    /// Groups of applications are a matter of Apple's: of no effect here.
    open var sharedContainerIdentifier: String?

    /// How a connection may use several networks at a time. Multipath TCP is not spoken: of no effect here.
    open var multipathServiceType: MultipathServiceType = .none

    /// Which of Apple's two loaders is used; there is one here: of no effect.
    open var usesClassicLoadingMode = true

    /// Whether requests may go out with a TLS handshake's first octets. They never do: of no effect here.
    open var enablesEarlyData = false

    /// Proxies by URLSession's keys (``kCFNetworkProxiesHTTPEnable`` and its like are their names), of which the
    /// "Enable" ones count: HTTPEnable, HTTPProxy, HTTPPort, HTTPSEnable, HTTPSProxy, HTTPSPort, SOCKSEnable,
    /// SOCKSProxy, SOCKSPort, ExceptionsList. Nil: the environment's (http_proxy, https_proxy, all_proxy, no_proxy).
    /// Empty: none. A setting that names no proxy is not passed by: requests that would use it fail with
    /// `URLError.cannotConnectToHost`, in words that name the key or the variable. So does `ProxyAutoConfigEnable`, for
    /// which there is no interpreter here.
    open var connectionProxyDictionary: [AnyHashable: Any]?

    /// The oldest version of TLS that is spoken. Versions before 1.2 are never.
    open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t = .TLSv12
    /// The newest version of TLS that is spoken.
    open var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t = .TLSv13
    /// Also offers what hardly a server needs any more: key exchange by static RSA, CBC with SHA-1, signatures of DSA.
    /// For old devices; no property of Apple's.
    open var tlsAllowsLegacyAlgorithms = false

    /// Whether answers may break the grammar of a response's head as old servers do: lines that end in LF alone, blanks
    /// between a field's name and its colon, lines before the status line (RFC 9112 §2.2, §5.1). Off: such an answer
    /// fails its task with `URLError.cannotParseResponse`. Chunks and trailers are never read so. A line folded into
    /// several is read in any case, as one space (§5.2).
    open var acceptsLegacyResponses = false

    /// Never done: servers and proxies that answer out of order are too many.
    @available(*, deprecated, message: "HTTP/1.1 pipelining is not supported")
    open var httpShouldUsePipelining: Bool = false

    /// Whether requests carry the cookies of ``httpCookieStorage``.
    open var httpShouldSetCookies = true

    /// Which cookies of answers are stored.
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .onlyFromMainDocumentDomain

    /// Fields for every request. A request's own win, whatever the case of their names.
    open var httpAdditionalHeaders: [AnyHashable: Any]?

    /// Header fields that identify the user, besides Authorization, Cookie and their like: a redirect to another origin
    /// (scheme, host or port) takes none of them along, neither a request's own nor those of ``httpAdditionalHeaders``,
    /// and the cache keeps the answers of requests that differ in one of them apart. The case of names does not matter.
    /// Empty: all but Authorization and its like go along, as in FoundationNetworking.
    open var secretHeaderFields: Set<String> = URLSessionConfiguration.usualSecretHeaderFields

    /// What ``secretHeaderFields`` is at first: the fields in which API gateways, clouds and well-known services take
    /// keys, tokens and sessions, `X-API-Key` and `X-Auth-Token` among them. No RFC names them.
    public static var usualSecretHeaderFields: Set<String> { SecretFields.usualNames }

    /// In bytes: the most content of one answer that is kept in memory, decoded: by functions that wait for `Data`, for
    /// completion handlers, and for delegates of tasks that do not prefer incremental delivery. A longer answer fails
    /// its task with `URLError.dataLengthExceedsMaximum`, as soon as its Content-Length says so or so much has come:
    /// two megabytes on the wire may be two gigabytes when they are decoded. What goes to a file, to `bytes(for:)` or
    /// to a delegate as it comes has no limit. Nil: none. ``URLRequest/maximumDataLength`` is a request's own.
    open var maximumDataLength: Int?

    /// Connections to one host and port at a time; at least one.
    open var httpMaximumConnectionsPerHost = 6

    /// Nil: cookies are neither sent nor stored.
    open var httpCookieStorage: HTTPCookieStorage? = HTTPCookieStorage.shared

    /// Nil: credentials come from the delegate alone.
    open var urlCredentialStorage: URLCredentialStorage? = URLCredentialStorage.shared

    /// Nil: nothing is cached.
    open var urlCache: URLCache? = URLCache.shared

    /// There are no background connections to keep here: of no effect.
    @available(*, deprecated, message: "Not supported")
    open var shouldUseExtendedBackgroundIdleMode: Bool = false

    /// Subclasses of `URLProtocol`, asked in this order, before those registered with `URLProtocol.registerClass(_:)`.
    open var protocolClasses: [AnyClass]?

    /// What classes of this package's own need to know of the session that they load for: classes have no state of a
    /// session.
    package var protocolContext: (any Sendable)?

    @available(*, deprecated, message: "Please use URLSessionConfiguration.default or another class method")
    public override init() {}

    init(identifier: String?) { self.identifier = identifier }

    open override func copy() -> Any { copy(with: nil) }

    /// A copy, which can be changed without changing this one.
    open func copy(with zone: NSZone?) -> Any {
        let copy = URLSessionConfiguration(identifier: identifier)
        copy.isBackground = isBackground
        copy.stateDirectory = stateDirectory
        copy.requestCachePolicy = requestCachePolicy
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest
        copy.timeoutIntervalForResource = timeoutIntervalForResource
        copy.networkServiceType = networkServiceType
        copy.allowsCellularAccess = allowsCellularAccess
        copy.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
        copy.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
        copy.waitsForConnectivity = waitsForConnectivity
        copy.isDiscretionary = isDiscretionary
        copy.sessionSendsLaunchEvents = sessionSendsLaunchEvents
        copy.sharedContainerIdentifier = sharedContainerIdentifier
        copy.multipathServiceType = multipathServiceType
        copy.usesClassicLoadingMode = usesClassicLoadingMode
        copy.enablesEarlyData = enablesEarlyData
        copy.connectionProxyDictionary = connectionProxyDictionary
        copy.tlsMinimumSupportedProtocolVersion = tlsMinimumSupportedProtocolVersion
        copy.tlsMaximumSupportedProtocolVersion = tlsMaximumSupportedProtocolVersion
        copy.tlsAllowsLegacyAlgorithms = tlsAllowsLegacyAlgorithms
        copy.acceptsLegacyResponses = acceptsLegacyResponses
        copy.httpShouldSetCookies = httpShouldSetCookies
        copy.httpCookieAcceptPolicy = httpCookieAcceptPolicy
        copy.httpAdditionalHeaders = httpAdditionalHeaders
        copy.secretHeaderFields = secretHeaderFields
        copy.maximumDataLength = maximumDataLength
        copy.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
        copy.httpCookieStorage = httpCookieStorage
        copy.urlCredentialStorage = urlCredentialStorage
        copy.urlCache = urlCache
        copy.protocolClasses = protocolClasses
        copy.protocolContext = protocolContext
        (self as any HasDeprecated).copyDeprecated(to: copy)
        return copy
    }
}

extension URLSessionConfiguration {
    /// What ``multipathServiceType`` may be.
    @frozen public enum MultipathServiceType: Int, Hashable, Sendable {
        /// One network at a time.
        case none = 0
        /// Another network takes over when one fails.
        case handover = 1
        /// The network with the shortest delay is used.
        case interactive = 2
        /// All networks are used at once.
        case aggregate = 3
    }
}

/// The deprecated ones are copied too; seen through a protocol, that is no use to be warned of.
private protocol HasDeprecated {
    func copyDeprecated(to copy: URLSessionConfiguration)
}

extension URLSessionConfiguration: HasDeprecated {
    @available(*, deprecated)
    fileprivate func copyDeprecated(to copy: URLSessionConfiguration) {
        copy.httpShouldUsePipelining = httpShouldUsePipelining
        copy.shouldUseExtendedBackgroundIdleMode = shouldUseExtendedBackgroundIdleMode
    }
}
