public import URLLoading

/// The settings of one request that differ from its manager's. Nil and empty values keep the manager's settings.
public struct RequestOptions: Sendable {
    /// Nil where nothing differs from the manager. Nearly every request is like that, and copies of it are cheap.
    private var box: OptionsBox?

    /// Whether all settings are the manager's.
    var isPlain: Bool { box == nil }

    private var values: OptionValues {
        get { box?.values ?? OptionValues() }
        set { box = OptionsBox(newValue) }
    }

    /// The longest time without one byte, in seconds, as in `URLRequest.timeoutInterval`.
    public var timeout: TimeInterval? {
        get { box?.values.timeout }
        set { values.timeout = newValue }
    }
    /// In seconds; see `URLRequest.connectTimeout`.
    public var connectTimeout: TimeInterval? {
        get { box?.values.connectTimeout }
        set { values.connectTimeout = newValue }
    }
    /// In seconds; see `URLRequest.firstByteTimeout`.
    public var firstByteTimeout: TimeInterval? {
        get { box?.values.firstByteTimeout }
        set { values.firstByteTimeout = newValue }
    }
    /// Another host and port for the connection.
    public var connectTo: ConnectTo? {
        get { box?.values.connectTo }
        set { values.connectTo = newValue }
    }
    /// The proxy that replaces the session's.
    public var proxy: RequestProxy? {
        get { box?.values.proxy }
        set { values.proxy = newValue }
    }
    /// How the session's cache is used.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { box?.values.cachePolicy }
        set { values.cachePolicy = newValue }
    }
    /// From 0 to 1; see `URLSessionTask.priority`.
    public var priority: Float? {
        get { box?.values.priority }
        set { values.priority = newValue }
    }
    /// Interceptors that are called after the manager's.
    public var interceptors: [any RequestInterceptor] {
        get { box?.values.interceptors ?? [] }
        set { values.interceptors = newValue }
    }
    /// What happens to a redirect. A later process that continues the request in a background session has no such rule
    /// and follows redirects.
    public var redirects: RedirectBehavior? {
        get { box?.values.redirects }
        set { values.redirects = newValue }
    }
    /// What happens to an answer that may be stored.
    public var caching: CacheBehavior? {
        get { box?.values.caching }
        set { values.caching = newValue }
    }
    /// A name and a password for the request's origin and for proxies, or a client certificate for the origin. The
    /// server of another origin, which a redirect leads to, does not get it. A credential that a server refuses is not
    /// sent again. A client certificate is shown when a connection is opened; only requests whose credential has the
    /// same identity object share that connection.
    public var credential: URLCredential? {
        get { box?.values.credential }
        set { values.credential = newValue }
    }
    /// Replaces the response serializer's validation.
    public var validation: ResponseValidation? {
        get { box?.values.validation }
        set { values.validation = newValue }
    }
    /// The most content of the response that is kept in memory, in bytes after decoding. More content fails the request
    /// with ``UncurlError/transport(_:)`` of `URLError.dataLengthExceedsMaximum`. Nil: the limit of the manager's
    /// session (`URLSessionConfiguration.maximumDataLength`), by default ``URLSessionManager/usualMaximumDataLength``.
    /// Downloads to files, streams and an operation's output stream have no limit.
    public var maximumDataLength: Int? {
        get { box?.values.maximumDataLength }
        set { values.maximumDataLength = newValue }
    }
    /// The limits on heads, trailers and the like of the answers. Nil: the limits of the manager's session
    /// (`URLSessionConfiguration.responseLimits`).
    public var responseLimits: ResponseLimits? {
        get { box?.values.responseLimits }
        set { values.responseLimits = newValue }
    }
    /// The highest rates of sending and receiving.
    public var throttle: Throttle? {
        get { box?.values.throttle }
        set { values.throttle = newValue }
    }
    /// Compresses content in memory. Files, streams and forms are sent as they are.
    public var compression: RequestCompression? {
        get { box?.values.compression }
        set { values.compression = newValue }
    }
    /// Sends content with a GET. Such content has no defined meaning (RFC 9110 §9.3.1), but some servers require it.
    /// Without this option such a request fails, as with Apple's `URLSession`. Its answer is not stored.
    public var sendsContentWithGET: Bool {
        get { box?.values.sendsContentWithGET ?? false }
        set { values.sendsContentWithGET = newValue }
    }
    /// The longest time from the start of the request to its end, with all its attempts, pauses and waits between them.
    /// After it the request fails with `URLError.timedOut`. Nil: ``URLSessionManager/deadline``.
    public var deadline: Duration? {
        get { box?.values.deadline }
        set { values.deadline = newValue }
    }
    /// A name for a group of requests that ``URLSessionManager/cancelAll(tagged:)`` cancels together.
    public var tag: String? {
        get { box?.values.tag }
        set { values.tag = newValue }
    }
    /// Hooks for this request, called after the manager's. A closure that returns an answer is called only if the
    /// manager has no such closure, except ``TaskHooks/didFinishDownloading``: it is also called if the manager's
    /// returns nil.
    public var hooks: TaskHooks? {
        get { hooksBox?.values }
        set { values.hooksBox = newValue.map { HooksBox($0) } }
    }
    var hooksBox: HooksBox? { box?.values.hooksBox }
    /// Called with the head of the answer, before its content. It may end the request, or make a request for content in
    /// memory a download. It cannot turn a download, a stream or an operation into anything else, nor any request into
    /// a stream task.
    public var onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)? {
        get { box?.values.onResponse }
        set { values.onResponse = newValue }
    }
    /// Called on the manager's delegate queue, in order, with values that never go back from attempt to attempt. The
    /// last call comes before the request's end.
    public var uploadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { box?.values.uploadProgress }
        set { values.uploadProgress = newValue }
    }
    /// Like ``uploadProgress``, for the response's content.
    public var downloadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { box?.values.downloadProgress }
        set { values.downloadProgress = newValue }
    }

    /// No options: all settings are the manager's.
    public init() {}

    /// Options. Each argument is described at the property of its name.
    public init(
        timeout: TimeInterval? = nil,
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
        var values = OptionValues()
        values.timeout = timeout
        values.cachePolicy = cachePolicy
        values.priority = priority
        values.interceptors = interceptors
        values.redirects = redirects
        values.caching = caching
        values.credential = credential
        values.validation = validation
        values.maximumDataLength = maximumDataLength
        values.throttle = throttle
        values.compression = compression
        values.onResponse = onResponse
        values.uploadProgress = uploadProgress
        values.downloadProgress = downloadProgress
        box = OptionsBox(values)
    }
}

/// The values of ``RequestOptions``, which describes each.
struct OptionValues: Sendable {
    var timeout: TimeInterval?
    var connectTimeout: TimeInterval?
    var firstByteTimeout: TimeInterval?
    var connectTo: ConnectTo?
    var proxy: RequestProxy?
    var cachePolicy: URLRequest.CachePolicy?
    var priority: Float?
    var interceptors: [any RequestInterceptor] = []
    var redirects: RedirectBehavior?
    var caching: CacheBehavior?
    var credential: URLCredential?
    var validation: ResponseValidation?
    var maximumDataLength: Int?
    var responseLimits: ResponseLimits?
    var throttle: Throttle?
    var compression: RequestCompression?
    var sendsContentWithGET = false
    var deadline: Duration?
    var tag: String?
    var hooksBox: HooksBox?
    var onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)?
    var uploadProgress: (@Sendable (TransferProgress) -> Void)?
    var downloadProgress: (@Sendable (TransferProgress) -> Void)?
}

/// A reference type, so that copying a request copies one reference.
final class OptionsBox: Sendable {
    let values: OptionValues

    init(_ values: OptionValues) { self.values = values }
}
