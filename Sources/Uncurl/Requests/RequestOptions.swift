public import URLLoading
internal import UncurlClient
internal import UncurlEngine
internal import UncurlSemantics
internal import UncurlText

/// The settings of one request that differ from its manager's. Nil and empty values keep the manager's settings.
public struct RequestOptions: Sendable {
    /// The longest time without one byte, as `URLRequest.timeoutInterval` is in seconds.
    public var timeout: Duration?
    /// The longest time to make a connection; see `URLRequest.connectTimeout`.
    public var connectTimeout: Duration?
    /// The longest time to the first byte of the response; see `URLRequest.firstByteTimeout`.
    public var firstByteTimeout: Duration?
    /// Another host and port for the connection.
    public var connectTo: ConnectTo?
    /// The proxy that replaces the session's.
    public var proxy: RequestProxy?
    /// How the session's cache is used.
    public var cachePolicy: URLRequest.CachePolicy?
    /// From 0 to 1; see `URLSessionTask.priority`.
    public var priority: Float?
    /// Interceptors that are called after the manager's.
    public var interceptors: [any RequestInterceptor] = []
    /// What happens to a redirect. A later process that continues the request in a background session has no such rule
    /// and follows redirects.
    public var redirects: RedirectBehavior?
    /// What happens to an answer that may be stored.
    public var caching: CacheBehavior?
    /// A name and a password for the request's origin and for proxies, or a client certificate for the origin. The
    /// server of another origin, which a redirect leads to, does not get it. A credential that a server refuses is not
    /// sent again. A client certificate is shown when a connection is opened; only requests whose credential has the
    /// same identity object share that connection.
    public var credential: URLCredential?
    /// Replaces the response serializer's validation.
    public var validation: ResponseValidation?
    /// The most content of the response that is kept in memory, in bytes after decoding. More content fails the request
    /// with ``UncurlError/transport(_:)`` of `URLError.dataLengthExceedsMaximum`. Nil: the limit of the manager's
    /// session (`URLSessionConfiguration.maximumDataLength`), by default ``URLSessionManager/usualMaximumDataLength``.
    /// Downloads to files, streams and an operation's output stream have no limit.
    public var maximumDataLength: Int?
    /// The limits on heads, trailers and the like of the answers. Nil: the limits of the manager's session
    /// (`URLSessionConfiguration.responseLimits`).
    public var responseLimits: ResponseLimits?
    /// The highest rates of sending and receiving.
    public var throttle: Throttle?
    /// Compresses content in memory. Files, streams and forms are sent as they are.
    public var compression: RequestCompression?
    /// Sends content with a GET. Such content has no defined meaning (RFC 9110 §9.3.1), but some servers require it.
    /// Without this option such a request fails, as with Apple's `URLSession`. Its answer is not stored.
    public var sendsContentWithGET = false
    /// The longest time from the start of the request to its end, with all its attempts, pauses and waits between them.
    /// After it the request fails with `URLError.timedOut`. Nil: ``URLSessionManager/deadline``.
    public var deadline: Duration?
    /// A name for a group of requests that ``URLSessionManager/cancelAll(tagged:)`` cancels together.
    public var tag: String?
    /// Hooks for this request, called after the manager's. A closure that returns an answer is called only if the
    /// manager has no such closure, except ``TaskHooks/didFinishDownloading``: it is also called if the manager's
    /// returns nil.
    public var hooks: TaskHooks? {
        get { hooksBox?.values }
        set { hooksBox = newValue.map { Shared($0) } }
    }
    private(set) var hooksBox: Shared<TaskHooks>?
    /// Called with the head of the answer, before its content. It may end the request, or make a request for content in
    /// memory a download. It cannot turn a download, a stream or an operation into anything else, nor any request into
    /// a stream task.
    public var onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)?
    /// Called on the manager's delegate queue, in order, with values that never go back from attempt to attempt. The
    /// last call comes before the request's end.
    public var uploadProgress: (@Sendable (TransferProgress) -> Void)?
    /// Like ``uploadProgress``, for the response's content.
    public var downloadProgress: (@Sendable (TransferProgress) -> Void)?

    /// No options: all settings are the manager's.
    public init() {}

    /// Options. Each argument is described at the property of its name.
    public init(
        timeout: Duration? = nil,
        cachePolicy: URLRequest.CachePolicy? = nil,
        priority: Float? = nil,
        interceptors: [any RequestInterceptor] = [],
        redirects: RedirectBehavior? = nil,
        caching: CacheBehavior? = nil,
        credential: URLCredential? = nil,
        validation: ResponseValidation? = nil,
        maximumDataLength: Int? = nil,
        throttle: Throttle? = nil,
        compression: RequestCompression? = nil,
        onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)? = nil,
        uploadProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        downloadProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.timeout = timeout
        self.cachePolicy = cachePolicy
        self.priority = priority
        self.interceptors = interceptors
        self.redirects = redirects
        self.caching = caching
        self.credential = credential
        self.validation = validation
        self.maximumDataLength = maximumDataLength
        self.throttle = throttle
        self.compression = compression
        self.onResponse = onResponse
        self.uploadProgress = uploadProgress
        self.downloadProgress = downloadProgress
    }
}

/// A large value behind a reference, so that a copy copies one reference: the options of a request, or the sixteen
/// closures of a task's hooks. Few requests and tasks have any.
final class Shared<Value: Sendable>: Sendable {
    let values: Value

    init(_ values: Value) { self.values = values }
}

extension RequestOptions {
    /// What the options want to be asked and told of a task.
    var interests: TaskInterests {
        var interests = TaskInterests.none
        if redirects != nil { interests.insert(.redirect) }
        if caching != nil { interests.insert(.caching) }
        if credential != nil { interests.insert(.challenge) }
        if onResponse != nil { interests.insert(.response) }
        if uploadProgress != nil { interests.insert(.sent) }
        if downloadProgress != nil { interests = interests.union(.received).union(.written) }
        return interests
    }

    /// The options as a request holds them: nil where all settings are the manager's. Nearly every request is like
    /// that, and copies of it are cheap.
    var shared: Shared<RequestOptions>? { isPlain ? nil : Shared(self) }

    private var isPlain: Bool {
        timeout == nil && connectTimeout == nil && firstByteTimeout == nil && connectTo == nil && proxy == nil
            && cachePolicy == nil && priority == nil && interceptors.isEmpty && redirects == nil && caching == nil
            && credential == nil && validation == nil && maximumDataLength == nil && responseLimits == nil
            && throttle == nil && compression == nil
            && !sendsContentWithGET && deadline == nil && tag == nil && hooksBox == nil && onResponse == nil
            && uploadProgress == nil && downloadProgress == nil
    }
}

extension RequestOptions: CustomStringConvertible {
    /// The options that are set, in one line; `…` stands for a closure or a secret.
    public var description: String {
        described(
            Self.self,
            [
                "timeout": timeout, "connectTimeout": connectTimeout, "firstByteTimeout": firstByteTimeout,
                "connectTo": connectTo, "proxy": proxy, "cachePolicy": cachePolicy, "priority": priority,
                "interceptors": interceptors.map { type(of: $0) }, "redirects": redirects, "caching": caching,
                "credential": credential.elided, "validation": validation.elided,
                "maximumDataLength": maximumDataLength, "responseLimits": responseLimits.elided, "throttle": throttle,
                "compression": compression?.coding, "sendsContentWithGET": sendsContentWithGET ? true : nil,
                "deadline": deadline, "tag": tag, "hooks": hooksBox.elided, "onResponse": onResponse.elided,
                "uploadProgress": uploadProgress.elided, "downloadProgress": downloadProgress.elided,
            ]
        )
    }
}

/// What happens to an answer that redirects.
@frozen public enum RedirectBehavior: Sendable {
    /// Redirects are followed by the rules of RFC 9110 §15.4. Credentials do not cross to another origin.
    case follow
    /// The redirect itself is the answer. Its status is acceptable where 200 to 299 are, unless
    /// ``RequestOptions/validation`` says otherwise.
    case doNotFollow
    /// The closure returns the request that follows; nil makes the redirect itself the answer.
    case modify(@Sendable (URLSessionTask, URLRequest, HTTPURLResponse) async -> URLRequest?)

    func next(_ task: URLSessionTask, _ proposed: URLRequest, _ response: HTTPURLResponse) async -> URLRequest? {
        switch self {
        case .follow: proposed
        case .doNotFollow: nil
        case .modify(let change): await change(task, proposed, response)
        }
    }
}

extension RequestOptions {
    private static let successesAndRedirects = Set(200..<400)

    /// What is acceptable as the answer: what the request says, or else the usual, with the redirects that are not
    /// followed.
    ///
    /// - Parameter manager: the manager's options, which apply where the request has none of its own.
    func validation(else usual: ResponseValidation, _ manager: RequestOptions) -> ResponseValidation {
        if let validation { return validation }
        guard case .doNotFollow? = redirects ?? manager.redirects, usual.statusCodes == ResponseValidation.successes
        else {
            return usual
        }
        var validation = usual
        validation.statusCodes = RequestOptions.successesAndRedirects
        return validation
    }
}

/// What happens to an answer that may be stored.
@frozen public enum CacheBehavior: Sendable {
    /// The answer is stored.
    case cache
    /// Nothing is stored.
    case doNotCache
    /// The closure returns the answer to store; nil stores nothing.
    case modify(@Sendable (URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse?)

    func stored(_ task: URLSessionDataTask, _ proposed: CachedURLResponse) async -> CachedURLResponse? {
        switch self {
        case .cache: proposed
        case .doNotCache: nil
        case .modify(let change): await change(task, proposed)
        }
    }
}

/// Closures for a task's events. Each is looked up when its event happens, so a closure that is set late still applies.
/// An event without a closure costs nothing.
///
/// Called on the session's delegate queue, for each task in order. A closure that returns an answer may suspend. Its
/// task waits for at most `URLRequest.timeoutInterval`, then fails with `URLError.timedOut`. A challenge about a
/// certificate belongs to a connection: the answer may take as long as the longest time limit of the tasks that wait
/// for the server.
public struct TaskHooks: Sendable {
    /// The session that a hook is called for.
    public typealias Session = URLSession

    /// A task was made.
    public var didCreate: (@Sendable (Session, URLSessionTask) -> Void)?
    /// A task waits for the network, because `URLSessionConfiguration.waitsForConnectivity` is set.
    public var isWaitingForConnectivity: (@Sendable (Session, URLSessionTask) -> Void)?
    /// Called once for each redirect. Returns the request that follows the redirect; nil makes the redirect itself the
    /// response. The tasks that a background session restores follow their redirects without a call.
    public var willPerformRedirection:
        (@Sendable (Session, URLSessionTask, HTTPURLResponse, URLRequest) async -> URLRequest?)?
    /// Answers a challenge, also for a server's certificate.
    public var didReceiveChallenge:
        (@Sendable (Session, URLSessionTask, URLAuthenticationChallenge) async -> ChallengeAnswer)?
    /// Makes the content stream of a streamed upload, the first one too. Nil fails the task.
    public var needNewBodyStream: (@Sendable (Session, URLSessionTask) -> InputStream?)?
    /// Content was sent.
    public var didSendBodyData: (@Sendable (Session, URLSessionTask, TransferredBytes) -> Void)?
    /// A response with a status from 100 to 199 came.
    public var didReceiveInformationalResponse: (@Sendable (Session, URLSessionTask, HTTPURLResponse) -> Void)?
    /// The head of the answer came. The hook decides whether the content follows, the task becomes a download, or the
    /// task ends. `becomeStream` has the effect of `allow`; for an operation or a stream, `becomeDownload` has it too.
    public var didReceiveResponse:
        (@Sendable (Session, URLSessionDataTask, URLResponse) async -> URLSession.ResponseDisposition)?
    /// A data task became a download, because ``didReceiveResponse`` said so. The download task replaces the data task.
    public var didBecomeDownloadTask: (@Sendable (Session, URLSessionDataTask, URLSessionDownloadTask) -> Void)?
    /// A part of the content came; it is decoded.
    public var didReceiveData: (@Sendable (Session, URLSessionDataTask, Data) -> Void)?
    /// Decides what the cache stores; nil stores nothing.
    public var willCacheResponse:
        (@Sendable (Session, URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse?)?
    /// Returns the place of a finished download, where no file may exist yet. Nil leaves the choice to the task's own
    /// destination. The manager's hook is called first, then the task's own. For the manager's own tasks it is called
    /// after the answer has been validated.
    public var didFinishDownloading: (@Sendable (Session, URLSessionDownloadTask, URL) -> URL?)?
    /// A part of a download was written to its file.
    public var didWriteData: (@Sendable (Session, URLSessionDownloadTask, TransferredBytes) -> Void)?
    /// A resumed download continues after the bytes of an earlier one.
    public var didResumeAtOffset: (@Sendable (Session, URLSessionDownloadTask, ResumedOffset) -> Void)?
    /// The task's metrics are complete. Called before the task's end.
    public var didFinishCollectingMetrics: (@Sendable (Session, URLSessionTask, URLSessionTaskMetrics) -> Void)?
    /// The task has ended. The error is nil where an answer came, whatever its status.
    public var didComplete: (@Sendable (Session, URLSessionTask, (any Error)?) -> Void)?

    /// No hooks.
    public init() {}

    var interests: TaskInterests {
        var interests = TaskInterests.none
        if didCreate != nil { interests.insert(.creation) }
        if isWaitingForConnectivity != nil { interests.insert(.connectivity) }
        if willPerformRedirection != nil { interests.insert(.redirect) }
        if didReceiveChallenge != nil { interests.insert(.challenge) }
        if needNewBodyStream != nil { interests.insert(.bodyStream) }
        if didSendBodyData != nil { interests.insert(.sent) }
        if didReceiveInformationalResponse != nil { interests.insert(.informational) }
        if didReceiveResponse != nil || didBecomeDownloadTask != nil { interests.insert(.response) }
        if didReceiveData != nil { interests.insert(.content) }
        if willCacheResponse != nil { interests.insert(.caching) }
        if didWriteData != nil || didResumeAtOffset != nil { interests.insert(.written) }
        if didFinishCollectingMetrics != nil { interests.insert(.metrics) }
        return interests
    }
}

extension TaskHooks {
    /// Calls the hook of an event, if it is set.
    func tell(_ event: TaskEvent, of task: URLSessionTask, _ session: Session) {
        switch event {
        case .created: didCreate?(session, task)
        case .waitsForConnectivity: isWaitingForConnectivity?(session, task)
        case .sent(let news, let total, let expected):
            didSendBodyData?(session, task, TransferredBytes(news, total, of: expected))
        case .informed(let response): didReceiveInformationalResponse?(session, task, response)
        case .metrics(let metrics): didFinishCollectingMetrics?(session, task, metrics)
        case .ended(let error): didComplete?(session, task, error)
        case .becameDownload(let download):
            if let task = task as? URLSessionDataTask { didBecomeDownloadTask?(session, task, download) }
        case .content(let data): if let task = task as? URLSessionDataTask { didReceiveData?(session, task, data) }
        case .written(let news, let total, let expected):
            guard let task = task as? URLSessionDownloadTask else { return }
            didWriteData?(session, task, TransferredBytes(news, total, of: expected))
        case .resumed(let offset, let expected):
            guard let task = task as? URLSessionDownloadTask else { return }
            didResumeAtOffset?(session, task, ResumedOffset(offset, of: expected))
        default: break
        }
    }
}

extension TaskQuestion {
    /// Has a hook answer, or else the rule of an option.
    ///
    /// - Parameters:
    ///   - hooks: the manager's, and the task's own.
    ///   - options: the request's, and the manager's.
    /// - Returns: false where there is neither.
    func answer(
        by hooks: (first: TaskHooks, own: TaskHooks),
        _ options: (own: RequestOptions?, usual: RequestOptions),
        for task: URLSessionTask,
        _ session: URLSession
    ) -> Bool {
        switch self {
        case .redirect(let response, let request, let answer):
            if let hook = hooks.first.willPerformRedirection ?? hooks.own.willPerformRedirection {
                answer.give { await hook(session, task, response, request) }
            } else if let rule = options.own?.redirects ?? options.usual.redirects {
                answer.give { await rule.next(task, request, response) }
            } else {
                return false
            }
        case .caching(let proposed, let answer):
            guard let task = task as? URLSessionDataTask else { return false }
            if let hook = hooks.first.willCacheResponse ?? hooks.own.willCacheResponse {
                answer.give { await hook(session, task, proposed) }
            } else if let rule = options.own?.caching ?? options.usual.caching {
                answer.give { await rule.stored(task, proposed) }
            } else {
                return false
            }
        default: return false
        }
        return true
    }
}

extension Answer {
    /// Gives what an asynchronous function returns.
    func give(_ form: @escaping @Sendable () async -> Value) { Task.immediate { give(await form()) } }
}

/// A step within one attempt of a request. Only monitors with ``EventMonitor/hearsDetails`` receive it, because each of
/// these costs an attempt a little time.
@frozen public enum TransferDetail: Sendable {
    /// The request could not be built or adapted; nothing was sent.
    case failedBeforeSending(UncurlError)
    /// The task waits for the network.
    case isWaitingForConnectivity
    /// The progress of the request's content.
    case sent(TransferProgress)
    /// The server redirected the task. The request is the one that follows, unless a hook changes it.
    case redirected(HTTPURLResponse, URLRequest)
    /// A server or a proxy asks for trust or for credentials.
    case challenged(URLProtectionSpace)
    /// The head of the answer came.
    case receivedHead(URLResponse)
    /// The progress of the answer's content. For a stream, the part that has been read.
    case received(TransferProgress)
    /// A part of a stream's content has been read.
    case streamed(Data)
    /// A line, a value or an event has been cut from a stream of
    /// ``URLSessionManager/start(streaming:validation:as:each:completion:)``.
    case streamedValue(any Sendable)
    /// The answer is about to be stored in the cache, unless a hook changes that.
    case willCache(CachedURLResponse)
    /// A resumed download continues after the bytes of an earlier one.
    case resumedAtOffset(ResumedOffset)
    /// The answer was accepted, or was refused with this error.
    case validated(UncurlError?)
    /// A download is at its place.
    case movedFile(URL)
    /// A download could not be put at its place.
    case failedToMoveFile(UncurlError)
}

extension TransferDetail {
    /// What a task must be asked and told for these.
    static let interests: TaskInterests = [
        .connectivity, .redirect, .challenge, .sent, .response, .caching, .written, .received,
    ]

    /// Nil for an event that monitors do not hear of, or hear of in another way.
    init?(_ event: TaskEvent) {
        switch event {
        case .waitsForConnectivity: self = .isWaitingForConnectivity
        case .resumed(let offset, let expected): self = .resumedAtOffset(ResumedOffset(offset, of: expected))
        default: return nil
        }
    }

    /// Nil for a question that monitors do not hear of.
    init?(_ question: TaskQuestion) {
        switch question {
        case .redirect(let response, let request, _): self = .redirected(response, request)
        case .challenge(let challenge, _): self = .challenged(challenge.protectionSpace)
        case .caching(let proposed, _): self = .willCache(proposed)
        // The head is told where it is judged: streams have it another way.
        case .response, .download, .begin, .bodyStream: return nil
        }
    }
}

/// Another host and port for the connection, like curl's `--connect-to`. The URL, the Host field, the cookies and the
/// name in the server's certificate stay those of the request. Use it to reach one server behind a load balancer, or a
/// new server before DNS names it.
///
/// It applies to the scheme, host and port of the request; a redirect to another origin follows its own URL. The
/// session's cache neither answers such a request nor stores its answer, because the answer is that of one server.
/// Through an HTTP proxy, the connection uses a tunnel.
public struct ConnectTo: Hashable, Sendable {
    /// Why a target cannot be connected to.
    @frozen public enum Problem: Error, Hashable, Sendable {
        /// The text is neither a name nor an address.
        case host(String)
        /// A port is a number from 1 to 65,535.
        case port(Int)
    }

    /// A name or an address. An IPv6 address may have brackets.
    public let host: String
    /// From 1 to 65,535.
    public let port: Int
    let endpoint: Endpoint

    /// A target for connections.
    ///
    /// - Throws: ``Problem`` for a malformed host, and for a port outside the range.
    public init(host: String, port: Int) throws(Problem) {
        guard let number = UInt16(exactly: port), number > 0 else { throw .port(port) }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        guard (try? URLHost(host)) != nil else { throw .host(host) }
        (self.host, self.port) = (host, port)
        endpoint = .host(bare, port: number)
    }
}

extension ConnectTo: CustomStringConvertible {
    public var description: String {
        host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ConnectTo.Problem: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .host(let host): "\(host.debugDescription) is neither a name nor an address of a host"
        case .port(let port): "\(port) is no port, which is a number from 1 to 65535"
        }
    }

    public var errorDescription: String? { description }
}

/// The proxy of one request, which replaces those of the session's configuration. It also applies to the request's
/// redirects and retries.
public struct RequestProxy: Hashable, Sendable {
    let configuration: OriginProxies

    /// No proxy: the connection goes to the server.
    public static let none = RequestProxy(.direct)

    private init(_ configuration: OriginProxies) { self.configuration = configuration }

    /// A proxy by its URL: `http://proxy:3128`, `https://user:password@proxy`, `socks5://[::1]:1080`, `socks5h://…`.
    /// With `socks5h` the proxy itself looks names up. Special characters of a user name or a password are written as
    /// `%XX`. If the proxy refuses these credentials, the request fails, and no hook is called for others.
    ///
    /// - Throws: ``UncurlError/invalidURL(_:reason:)``. The error does not contain the user name and the password.
    public init(_ url: String) throws(UncurlError) {
        do throws(Proxy.Problem) {
            self.init(OriginProxies(try Proxy(url: url)))
        } catch {
            throw .invalidURL(url.lastIndex(of: "@").map { "…" + url[$0...] } ?? url, reason: "\(error)")
        }
    }
}

extension RequestProxy: CustomStringConvertible {
    /// The proxy's URL without its user and password, or `none`.
    public var description: String { (configuration.http ?? configuration.https).map { "\($0)" } ?? "none" }
}

extension URLRequest {
    /// The longest time to make a connection, in seconds, with the look-up of the name, proxies and TLS. Nil: as long
    /// as `timeoutInterval`. A connection that another request is already making keeps its own limit. After it the
    /// request fails with `URLError.timedOut`.
    public var connectTimeout: TimeInterval? {
        get { terms.connectLimit }
        set { terms.connectLimit = newValue }
    }

    /// The longest time from the last byte of the request to the first byte of its answer, in seconds. Nil: only
    /// `timeoutInterval` applies, which ends the request in any case. After it the request fails with
    /// `URLError.timedOut`.
    public var firstByteTimeout: TimeInterval? {
        get { terms.firstByteLimit }
        set { terms.firstByteLimit = newValue }
    }
}

extension RequestOptions {
    var terms: TransferTerms {
        var terms = TransferTerms()
        (terms.connectLimit, terms.firstByteLimit) = (connectTimeout?.inSeconds, firstByteTimeout?.inSeconds)
        terms.responseLimits = responseLimits
        terms.endpoint = connectTo?.endpoint
        terms.proxies = proxy?.configuration
        terms.rates = throttle?.rates
        return terms
    }
}

/// Limits the rates of sending and receiving. The event loop leaves the socket alone until the next bytes are due, so
/// no thread sleeps and other requests are not slowed. The limit applies to every transaction of a task: redirects,
/// challenges, retries.
public struct Throttle: Hashable, Sendable {
    /// In bytes per second, at least one. Nil: as fast as the connection accepts them.
    public var upload: Int?
    /// In bytes per second, at least one. Nil: as fast as the server sends them.
    public var download: Int?
    /// The most bytes that may be transferred at once after a pause; nil for a tenth of a second's worth.
    public var burst: Int?

    /// Rates. Each argument is described at the property of its name.
    public init(upload: Int? = nil, download: Int? = nil, burst: Int? = nil) {
        self.upload = upload
        self.download = download
        self.burst = burst
    }

    /// The upload rate that AFNetworking suggests for 3G networks: 16 KiB every 0.2 s.
    public static let suggested3G = Throttle(upload: 81_920, burst: 16 << 10)
}

extension URLRequest {
    /// The rates of this request and its answer.
    public var throttle: Throttle? {
        get { rates.map { Throttle($0) } }
        set { rates = newValue.map(\.rates) }
    }
}

extension Throttle: CustomStringConvertible {
    public var description: String { described(Self.self, ["upload": upload, "download": download, "burst": burst]) }
}

extension Throttle {
    /// The rates for each of several connections that share these rates.
    func share(of connections: Int) -> Throttle {
        func share(_ value: Int?) -> Int? { value.map { max(1, $0 / connections) } }
        return Throttle(upload: share(upload), download: share(download), burst: share(burst))
    }

    fileprivate init(_ rates: TransferRates) {
        upload = rates.sending?.bytesPerSecond
        download = rates.receiving?.bytesPerSecond
        burst = (rates.sending ?? rates.receiving)?.burst
    }

    fileprivate var rates: TransferRates {
        TransferRates(
            sending: upload.map { TransferRate(bytesPerSecond: $0, burst: burst) },
            receiving: download.map { TransferRate(bytesPerSecond: $0, burst: burst) }
        )
    }
}
