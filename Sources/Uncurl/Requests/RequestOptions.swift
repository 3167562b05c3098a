public import URLLoading

/// How one request is made, where that differs from what its manager does. Nil and empty: as the manager does.
public struct RequestOptions: Sendable {
    /// Nil: all is as the manager does it. Nearly every request is so, and its copies are cheap.
    private var box: OptionsBox?

    /// Whether the request does everything as its manager does.
    var isPlain: Bool { box == nil }

    private var values: OptionValues {
        get { box?.values ?? OptionValues() }
        set { box = OptionsBox(newValue) }
    }

    /// The longest time without any byte, in seconds, as in `URLRequest.timeoutInterval`.
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
    /// Another host and port to connect to.
    public var connectTo: ConnectTo? {
        get { box?.values.connectTo }
        set { values.connectTo = newValue }
    }
    /// The proxy in place of the session's.
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
    /// Called after the manager's own interceptors.
    public var interceptors: [any RequestInterceptor] {
        get { box?.values.interceptors ?? [] }
        set { values.interceptors = newValue }
    }
    /// What is done with a redirect.
    public var redirects: RedirectBehavior? {
        get { box?.values.redirects }
        set { values.redirects = newValue }
    }
    /// What is done with an answer that may be stored.
    public var caching: CacheBehavior? {
        get { box?.values.caching }
        set { values.caching = newValue }
    }
    /// Answers the first challenge that is not about trust. A server that refuses it does not get it again.
    public var credential: URLCredential? {
        get { box?.values.credential }
        set { values.credential = newValue }
    }
    /// Replaces the response serializer's validation.
    public var validation: ResponseValidation? {
        get { box?.values.validation }
        set { values.validation = newValue }
    }
    /// In bytes: the most content of the response that is kept in memory, decoded. A longer one fails the request with
    /// ``UncurlError/transport(_:)`` of `URLError.dataLengthExceedsMaximum`. Nil: the limit of the manager's session
    /// (`URLSessionConfiguration.maximumDataLength`), which is ``URLSessionManager/usualMaximumDataLength`` unless the
    /// configuration says otherwise. Downloads to files and streams have none.
    public var maximumDataLength: Int? {
        get { box?.values.maximumDataLength }
        set { values.maximumDataLength = newValue }
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
    /// Sends content with a GET, which has no defined meaning there (RFC 9110 §9.3.1) and which some servers ask for.
    /// Without this such a request fails, as with Apple's `URLSession`. Its answer is not stored.
    public var sendsContentWithGET: Bool {
        get { box?.values.sendsContentWithGET ?? false }
        set { values.sendsContentWithGET = newValue }
    }
    /// The longest time from the beginning of the request to its end, with all its attempts and the pauses between
    /// them. Past it the request fails with `URLError.timedOut`. Nil: ``URLSessionManager/deadline``.
    public var deadline: Duration? {
        get { box?.values.deadline }
        set { values.deadline = newValue }
    }
    /// A name by which requests are cancelled together: ``URLSessionManager/cancelAll(tagged:)``.
    public var tag: String? {
        get { box?.values.tag }
        set { values.tag = newValue }
    }
    /// Hooks for this request, called after the manager's.
    public var hooks: TaskHooks? {
        get { hooksBox?.values }
        set { values.hooksBox = newValue.map { HooksBox($0) } }
    }
    var hooksBox: HooksBox? { box?.values.hooksBox }
    /// Called with the head of the answer before its content: of a download and of a stream too, which become nothing
    /// else. It may end the request there.
    public var onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)? {
        get { box?.values.onResponse }
        set { values.onResponse = newValue }
    }
    /// Called on the manager's delegate queue, in order; the last call comes before the request's end. It goes on from
    /// attempt to attempt, and never back.
    public var uploadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { box?.values.uploadProgress }
        set { values.uploadProgress = newValue }
    }
    /// Called like ``uploadProgress``, for the response's content.
    public var downloadProgress: (@Sendable (TransferProgress) -> Void)? {
        get { box?.values.downloadProgress }
        set { values.downloadProgress = newValue }
    }

    /// No options: all is as the manager does it.
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
