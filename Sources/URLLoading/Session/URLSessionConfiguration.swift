public import Foundation
internal import UncurlSemantics

#if SwiftLog
public import Logging
#endif
#if SwiftMetrics
public import Metrics
#endif
#if SwiftDistributedTracing
public import Tracing
#endif

/// How a session behaves. A session copies it when it is made: later changes affect only later sessions.
///
/// It must not be changed by one thread while others use it.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    /// Makes a configuration with the documented defaults and the shared stores for cookies, credentials and cached
    /// answers.
    open class var `default`: URLSessionConfiguration { URLSessionConfiguration(identifier: nil) }

    /// Makes a configuration with stores of its own in memory: nothing is written to disk or shared.
    open class var ephemeral: URLSessionConfiguration {
        let configuration = URLSessionConfiguration(identifier: nil)
        configuration.httpCookieStorage = HTTPCookieStorage()
        configuration.urlCredentialStorage = URLCredentialStorage()
        configuration.urlCache = URLCache(memoryCapacity: 4 << 20)
        return configuration
    }

    /// Makes a configuration for tasks that outlive their process. Its session records its downloads, and its uploads
    /// of files, in `$XDG_STATE_HOME/<program>/background` (mostly `~/.local/state`), readable by the user alone:
    /// requests with their fields and content stay there until their end has been reported.
    ///
    /// There is no daemon. When a process ends, its tasks stop. The next process that makes a session with the same
    /// identifier finds them in `getAllTasks`, and those that were running continue by themselves. A download continues
    /// from the bytes on disk if a strong validator shows that the server's content is unchanged; otherwise it starts
    /// over. An upload continues from what the server has if the server supports ``resumableUploads``; otherwise it
    /// starts over. Ends that have not been reported are reported then, so make the session with a delegate. A delegate
    /// may get the same end twice. After a crash of the machine, downloads start over.
    ///
    /// Each task's record has a checksum. If a record cannot be read, only its number is known: the delegate gets the
    /// end of a plain `URLSessionTask` without a request, with `URLError.cannotOpenFile` and the file's path under
    /// `NSFilePathErrorKey`. The record, and content that may belong to it, are kept for a week; the other tasks
    /// continue.
    ///
    /// Among all processes of a user, only one session at a time uses an identifier; the tasks of another one fail with
    /// `URLError.backgroundSessionInUseByAnotherProcess`. Download tasks and uploads of files are allowed, by http and
    /// https; other tasks, and tasks with completion handlers or functions that wait, fail. Redirects are followed
    /// without asking the delegate. A failure of the network does not end a task before ``timeoutIntervalForResource``
    /// has passed, counted from the first process: the load is tried again, at first after a quarter of a second, at
    /// last every ten seconds.
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration(identifier: identifier)
        configuration.isBackground = true
        configuration.waitsForConnectivity = true
        configuration.urlCache = nil
        return configuration
    }

    package internal(set) var isBackground = false
    /// For tests: replaces the program's state directory.
    var stateDirectory: String?

    /// A label; for a background session, the name by which another process finds it.
    open var identifier: String?

    /// The cache policy of requests that leave it to the protocol.
    open var requestCachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy

    /// How long a task may go without sending or receiving a byte, in seconds; fractions count. The wait for a
    /// connection counts, and so does the wait for a delegate's answer while the response has not wholly come. The time
    /// stops while the task is suspended, while its delegate has not taken what was delivered, and while a connection
    /// is opened. A request's own limit replaces it if the program has set one; 60 seconds given to `URLRequest.init`
    /// count as not set.
    open var timeoutIntervalForRequest: TimeInterval = 60

    /// How long a task may take in all, in seconds, redirects, retries and waiting for connectivity included. Seven
    /// days by default.
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

    /// Groups of applications exist only on Apple's platforms: of no effect here.
    open var sharedContainerIdentifier: String?

    /// How a connection may use several networks at a time. Multipath TCP is not supported: of no effect here.
    open var multipathServiceType: MultipathServiceType = .none

    /// Which of Apple's two loaders is used. There is only one here: of no effect.
    open var usesClassicLoadingMode = true

    /// Whether requests may go out with a TLS handshake's first octets. They never do: of no effect here.
    open var enablesEarlyData = false

    /// The proxies, under URLSession's keys (constants such as ``kCFNetworkProxiesHTTPEnable``). An "Enable" key
    /// switches its proxy on. The keys are HTTPEnable, HTTPProxy, HTTPPort, HTTPSEnable, HTTPSProxy, HTTPSPort,
    /// SOCKSEnable, SOCKSProxy, SOCKSPort, ExceptionsList. Nil: those of the environment (http_proxy, https_proxy,
    /// all_proxy, no_proxy). Empty: none. A setting that names no proxy is not ignored: requests that would use it fail
    /// with `URLError.cannotConnectToHost`, and the message names the key or the variable. They also fail if
    /// `ProxyAutoConfigEnable` is set, because no script is run here.
    open var connectionProxyDictionary: [AnyHashable: Any]?

    /// The proxies that are tried before ``connectionProxyDictionary``. A request uses the first one that applies to
    /// its host (``ProxyConfiguration/matchDomains``, ``ProxyConfiguration/excludedDomains``). If that proxy cannot be
    /// used, and its ``ProxyConfiguration/allowFailover`` permits it, the next one is tried. If none applies to the
    /// host, the dictionary counts. Stream tasks use only the first. A configuration that names no host fails the
    /// requests that would use it, as in the dictionary.
    open var proxyConfigurations: [ProxyConfiguration] = []

    /// The oldest version of TLS that is allowed. Versions before 1.2 never are.
    open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t = .TLSv12
    /// The newest version of TLS that is allowed.
    open var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t = .TLSv13
    /// Whether to also offer what hardly any server needs any more: key exchange by static RSA, CBC with SHA-1, DSA
    /// signatures. For old devices. Apple has no such property.
    open var tlsAllowsLegacyAlgorithms = false

    /// Whether the head of an answer may break the grammar as old servers do: lines that end in LF alone, blanks
    /// between a field's name and its colon, lines before the status line, a status line that begins with `http` in
    /// lower case or with `ICY` (RFC 9112 §2.2, §4, §5.1). If false, such an answer fails its task with
    /// `URLError.cannotParseResponse`. Chunks and trailers must follow the grammar in any case. A field line that is
    /// folded into several is read in any case, as one space for each fold (§5.2).
    open var acceptsLegacyResponses = false

    /// The version of the draft for resumable uploads (draft-ietf-httpbis-resumable-upload) that upload tasks offer.
    /// Nil: they offer none. Apple's systems offer it with every upload, in a version that depends on the system's
    /// release. Here the program decides, because the fields are those of a draft, and servers answer 400 to versions
    /// that they do not support. Apple has no such property.
    ///
    /// With a version, uploads of data, files and streams carry `Upload-Draft-Interop-Version` and the version's own
    /// fields; forms do not. If the server answers 104 with a Location, an interrupted upload asks how much has arrived
    /// (HEAD) and sends the rest (PATCH) by itself. If the server cannot be reached then, the task fails with
    /// `URLError.uploadTaskResumeData`; a task of a background session keeps trying, in later processes too. An upload
    /// that resumes from data (``URLSession/uploadTask(withResumeData:)``) uses the version that it began with.
    open var resumableUploads: ResumableUploadVersion?

    /// Of no effect: requests are never pipelined, because too many servers and proxies answer out of order.
    @available(*, deprecated, message: "HTTP/1.1 pipelining is not supported")
    open var httpShouldUsePipelining: Bool {
        get { deprecated.usesPipelining }
        set { deprecated.usesPipelining = newValue }
    }

    /// The values of deprecated properties. The compiler does not warn where these are used.
    private var deprecated = (usesPipelining: false, usesExtendedIdleMode: false)

    /// Whether requests carry the cookies of ``httpCookieStorage``.
    open var httpShouldSetCookies = true

    /// Which cookies of answers are stored.
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .onlyFromMainDocumentDomain

    /// Fields for every request. A request's own field replaces the one here, whatever the case of their names.
    open var httpAdditionalHeaders: [AnyHashable: Any]?

    /// Header fields that identify the user, besides Authorization, Cookie and the like. A redirect to another origin
    /// (scheme, host or port) carries none of them, neither a request's own nor those of ``httpAdditionalHeaders``, and
    /// the cache keeps answers apart whose requests differ in one of them. The case of names does not matter.
    ///
    /// As long as the list has all of ``usualSecretHeaderFields``, every field whose name has a word for secrets counts
    /// too: *token*, *secret*, *password*, *credential*, *signature*, *assertion*, *auth*, or *key* together with
    /// *api*. Any other list stands for itself. If it is empty, all fields but Authorization and the like are carried,
    /// as in FoundationNetworking.
    open var secretHeaderFields: Set<String> = URLSessionConfiguration.usualSecretHeaderFields

    /// The default of ``secretHeaderFields``: the fields in which API gateways, clouds and well-known services take
    /// keys, tokens and sessions, `X-API-Key` and `X-Auth-Token` among them. No RFC names them.
    public static var usualSecretHeaderFields: Set<String> { SecretFields.usualNames }

    /// Says of a field's name whether a list with the meaning of ``secretHeaderFields`` makes it a secret.
    package static func secrecy(by list: Set<String>) -> @Sendable (String) -> Bool {
        let fields = SecretFields(list)
        return { fields.lists($0) }
    }

    /// The most content of one answer that is kept in memory, decoded, in bytes: for functions that return `Data`, for
    /// completion handlers, and for delegates of tasks that do not prefer incremental delivery. A longer answer fails
    /// its task with `URLError.dataLengthExceedsMaximum`, as soon as its Content-Length exceeds the limit or that much
    /// has come: two megabytes on the wire may be two gigabytes once decoded. Content that goes to a file, to
    /// `bytes(for:)` or to a delegate as it comes has no limit. Nil: no limit. ``URLRequest/maximumDataLength`` is a
    /// request's own.
    open var maximumDataLength: Int?

    /// The limits on heads, trailers and the like of answers, and of proxies' answers. ``URLRequest/responseLimits`` is
    /// a request's own.
    open var responseLimits = ResponseLimits()

    /// The most memory that heads and trailers of answers that have come in part may take, of all connections of the
    /// session together, in bytes. The task that exceeds it fails with `URLError.dataLengthExceedsMaximum`. 128 MiB: a
    /// thousand connections that hold 64 KiB each. So servers that work together get no more by
    /// ``responseLimits``.
    open var maximumHeldHeadLength = 128 << 20

    /// The most connections to one host and port at a time; at least one. The connection of a task that is suspended,
    /// or waits for its delegate's answer, does not count while another task waits for one: what the delegate waits for
    /// may be a request of its own.
    open var httpMaximumConnectionsPerHost = 6

    /// The store for cookies. Nil: cookies are neither sent nor stored.
    open var httpCookieStorage: HTTPCookieStorage? = HTTPCookieStorage.shared {
        didSet { namesCookieStorage = true }
    }

    /// Whether ``httpCookieStorage`` was set, to whatever storage.
    package var namesCookieStorage = false

    /// The store for credentials. Nil: credentials come from the delegate alone.
    open var urlCredentialStorage: URLCredentialStorage? = URLCredentialStorage.shared

    /// The cache. Nil, as for background sessions: nothing is cached.
    open var urlCache: URLCache? = URLCache.shared

    /// There are no background connections to keep here: of no effect.
    @available(*, deprecated, message: "Not supported")
    open var shouldUseExtendedBackgroundIdleMode: Bool {
        get { deprecated.usesExtendedIdleMode }
        set { deprecated.usesExtendedIdleMode = newValue }
    }

    /// Whether the cache serves an answer without a stated lifetime for a tenth of the time since its `Last-Modified`,
    /// a week at most, before the server is asked again (RFC 9111 §4.2.2). If false, the server is asked each time,
    /// with the answer's validators. Apple has no such property.
    open var usesHeuristicFreshness = false

    /// Subclasses of `URLProtocol`, asked in this order, before classes registered with
    /// `URLProtocol.registerClass(_:)`. Empty by default, and not nil, since programs insert a class of their own into
    /// what is there.
    open var protocolClasses: [AnyClass]? = []

    /// What classes of this package need to know of the session that they load for, since a class has no state for each
    /// session.
    package var protocolContext: (any Sendable)?

    #if SwiftLog
    /// The logger of the session's tasks; nil for none. It needs the package trait `SwiftLog`.
    ///
    /// A task's end is written at `info`, with its status, how long it took, and the octets of content that were sent
    /// and received; a failure at `error`; its beginning, redirects, repeated requests and a cancel at `debug`. Fields
    /// are not written. A URL is written without user, password and fragment, and without its query unless
    /// ``observesQueries``. The logger is called on the thread that resumes a task, and on a queue of this library's.
    open var logger: Logger?
    #endif

    #if SwiftMetrics
    /// The factory that makes the metrics of the session's tasks; nil for none. It needs the package trait
    /// `SwiftMetrics`.
    ///
    /// The metrics follow OpenTelemetry's conventions for HTTP clients: the timer `http.client.request.duration`, shown
    /// in seconds, from a task's beginning to its end; the meter `http.client.active_requests`; the recorders
    /// `http.client.request.body.size` and `http.client.response.body.size`, in octets on the wire, of a task's last
    /// request. Their labels are `http.request.method`, `server.address`, `server.port`, and at the end
    /// `http.response.status_code` and `error.type`: a status from 400 on, or an error's domain and code.
    open var metricsFactory: (any MetricsFactory)?
    #endif

    #if SwiftDistributedTracing
    /// The tracer that makes a span for each of the session's tasks; nil for none. It needs the package trait
    /// `SwiftDistributedTracing`.
    ///
    /// The span is a child of the span of the Swift task that resumes the task, and has the attributes of
    /// OpenTelemetry's conventions for HTTP clients. Each of the task's requests carries its context, as the tracer
    /// injects it (`traceparent` and the like).
    open var tracer: (any Tracer)?
    #endif

    /// Whether logs and spans have URLs with their queries, which often hold secrets.
    open var observesQueries = false

    @available(*, deprecated, message: "Please use URLSessionConfiguration.default or another class method")
    public override init() {}

    init(identifier: String?) { self.identifier = identifier }

    open override func copy() -> Any { copy(with: nil) }

    /// Returns a copy, which can be changed without changing this one.
    open func copy(with zone: NSZone?) -> Any {
        let copy = URLSessionConfiguration(identifier: identifier)
        copy.take(\.isBackground, \.stateDirectory, \.requestCachePolicy, \.timeoutIntervalForRequest, from: self)
        copy.take(\.timeoutIntervalForResource, \.networkServiceType, \.allowsCellularAccess, from: self)
        copy.take(\.allowsExpensiveNetworkAccess, \.allowsConstrainedNetworkAccess, \.waitsForConnectivity, from: self)
        copy.take(\.isDiscretionary, \.sessionSendsLaunchEvents, \.sharedContainerIdentifier, from: self)
        copy.take(\.multipathServiceType, \.usesClassicLoadingMode, \.enablesEarlyData, from: self)
        copy.take(\.connectionProxyDictionary, \.proxyConfigurations, \.tlsMinimumSupportedProtocolVersion, from: self)
        copy.take(\.tlsMaximumSupportedProtocolVersion, \.tlsAllowsLegacyAlgorithms, from: self)
        copy.take(\.acceptsLegacyResponses, \.resumableUploads, \.httpShouldSetCookies, from: self)
        copy.take(\.httpCookieAcceptPolicy, \.httpAdditionalHeaders, \.secretHeaderFields, from: self)
        copy.take(\.maximumDataLength, \.responseLimits, \.maximumHeldHeadLength, from: self)
        copy.take(\.httpMaximumConnectionsPerHost, \.httpCookieStorage, \.namesCookieStorage, from: self)
        copy.take(\.urlCredentialStorage, \.urlCache, \.usesHeuristicFreshness, \.protocolClasses, from: self)
        copy.take(\.protocolContext, from: self)
        #if SwiftLog
        copy.logger = logger
        #endif
        #if SwiftMetrics
        copy.metricsFactory = metricsFactory
        #endif
        #if SwiftDistributedTracing
        copy.tracer = tracer
        #endif
        copy.observesQueries = observesQueries
        copy.deprecated = deprecated
        return copy
    }

    private func take<each Value>(
        _ properties: repeat ReferenceWritableKeyPath<URLSessionConfiguration, each Value>,
        from other: URLSessionConfiguration
    ) {
        func take<One>(_ property: ReferenceWritableKeyPath<URLSessionConfiguration, One>) {
            self[keyPath: property] = other[keyPath: property]
        }
        repeat take(each properties)
    }
}

extension URLSessionConfiguration {
    /// The rules for the answers to each request.
    func answerRules(_ secrets: SecretFields) -> AnswerMachine.Rules {
        AnswerMachine.Rules(
            secrets: secrets,
            usesHeuristicFreshness: usesHeuristicFreshness,
            waitsForConnectivity: waitsForConnectivity,
            triesAgain: isBackground,
            redirects: responseLimits.redirectCount,
            reading: URIReference.read
        )
    }

    /// The observers of the session's tasks.
    var observers: [SessionObserver] {
        var all: [SessionObserver] = []
        #if SwiftLog
        if let logger { all.append(logger.observer(showsQueries: observesQueries)) }
        #endif
        #if SwiftMetrics
        if let metricsFactory { all.append(TaskEnd.meter(metricsFactory)) }
        #endif
        #if SwiftDistributedTracing
        if let tracer { all.append(ClientSpan.observer(tracer, showsQueries: observesQueries)) }
        #endif
        return all
    }

    /// The versions of the draft for resumable uploads, by the number in `Upload-Draft-Interop-Version`.
    @frozen public enum ResumableUploadVersion: Int, Hashable, Sendable, CaseIterable {
        /// Draft 01.
        case three = 3
        /// Drafts 02 and 03.
        case five = 5
        /// Drafts 04 and 05.
        case six = 6
    }

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
