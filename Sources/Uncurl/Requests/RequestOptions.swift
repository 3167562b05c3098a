public import URLLoading

/// How one request is made, where that differs from what its manager does. Nil and empty: as the manager does.
public struct RequestOptions: Sendable {
    /// The longest time without any byte, in seconds, as in `URLRequest.timeoutInterval`.
    public var timeout: TimeInterval?
    /// How the session's cache is used.
    public var cachePolicy: URLRequest.CachePolicy?
    /// From 0 to 1; see `URLSessionTask.priority`.
    public var priority: Float?
    /// Called after the manager's own interceptors.
    public var interceptors: [any RequestInterceptor]
    /// What is done with a redirect.
    public var redirects: RedirectBehavior?
    /// What is done with an answer that may be stored.
    public var caching: CacheBehavior?
    /// Answers the first challenge that is not about trust. A server that refuses it does not get it again.
    public var credential: URLCredential?
    /// Replaces the response serializer's validation.
    public var validation: ResponseValidation?
    /// In bytes: the most content of the response that is kept in memory, decoded. A longer one fails the request with
    /// ``UncurlError/transport(_:)`` of `URLError.dataLengthExceedsMaximum`. Nil: the limit of the manager's session
    /// (`URLSessionConfiguration.maximumDataLength`), which is ``URLSessionManager/usualMaximumDataLength`` unless the
    /// configuration says otherwise. Downloads to files and streams have none.
    public var maximumDataLength: Int?
    /// The highest rates of sending and receiving.
    public var throttle: Throttle?
    /// Compresses content in memory. Files, streams and forms are sent as they are.
    public var compression: RequestCompression?
    /// Sends content with a GET, which has no defined meaning there (RFC 9110 §9.3.1) and which some servers ask for.
    /// Without this such a request fails, as with Apple's `URLSession`. Its answer is not stored.
    public var sendsContentWithGET = false
    /// The longest time from the beginning of the request to its end, with all its attempts and the pauses between
    /// them. Past it the request fails with `URLError.timedOut`.
    public var deadline: Duration?
    /// A name by which requests are cancelled together: ``URLSessionManager/cancelAll(tagged:)``.
    public var tag: String?
    /// Hooks for this request, called after the manager's.
    public var hooks: TaskHooks? {
        get { hooksBox?.values }
        set { hooksBox = newValue.map { HooksBox($0) } }
    }
    var hooksBox: HooksBox?
    /// Called with the head of the answer before its content: of a download and of a stream too, which become nothing
    /// else. It may end the request there.
    public var onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)?
    /// Called on the manager's delegate queue, in order; the last call comes before the request's end. It goes on from
    /// attempt to attempt, and never back.
    public var uploadProgress: (@Sendable (TransferProgress) -> Void)?
    /// Called like ``uploadProgress``, for the response's content.
    public var downloadProgress: (@Sendable (TransferProgress) -> Void)?

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
