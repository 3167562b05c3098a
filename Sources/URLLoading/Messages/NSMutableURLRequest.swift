public import Foundation

/// A request as an object that can be changed. A session that is given one takes a copy. See ``URLRequest``.
open class NSMutableURLRequest: NSURLRequest {
    override init(_ request: URLRequest) {
        super.init(request)
    }

    /// Makes a GET with the protocol's cache policy and a time limit of 60 seconds.
    public convenience init(url: URL) {
        self.init(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: RequestValues.defaultTimeout)
    }

    public override init(url: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        super.init(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    /// As ``NSURLRequest/init(coder:)``.
    public required init?(coder aDecoder: NSCoder) {
        super.init(coder: aDecoder)
    }

    /// Returns a mutable copy, as FoundationNetworking does; Darwin returns an immutable one.
    open override func copy(with zone: NSZone? = nil) -> Any { mutableCopy(with: zone) }

    open override var url: URL? {
        get { request.url }
        set { request.url = newValue }
    }

    open override var mainDocumentURL: URL? {
        get { request.mainDocumentURL }
        set { request.mainDocumentURL = newValue }
    }

    open override var cachePolicy: NSURLRequest.CachePolicy {
        get { request.cachePolicy }
        set { request.cachePolicy = newValue }
    }

    open override var timeoutInterval: TimeInterval {
        get { request.timeoutInterval }
        set { request.timeoutInterval = newValue }
    }

    open override var httpMethod: String? {
        get { super.httpMethod }
        set { super.httpMethod = newValue }
    }

    open override var allHTTPHeaderFields: [String: String]? {
        get { request.allHTTPHeaderFields }
        set { request.allHTTPHeaderFields = newValue }
    }

    /// Sets, replaces or (with nil) removes a field. A name or value that cannot be sent is refused (``URLRequest``).
    open func setValue(_ value: String?, forHTTPHeaderField field: String) {
        request.setValue(value, forHTTPHeaderField: field)
    }

    /// Sets a field, or appends to its value after a comma. A name or value that cannot be sent is refused
    /// (``URLRequest``).
    open func addValue(_ value: String, forHTTPHeaderField field: String) {
        request.addValue(value, forHTTPHeaderField: field)
    }

    open override var httpBody: Data? {
        get { request.httpBody }
        set { request.httpBody = newValue }
    }

    open override var httpBodyStream: InputStream? {
        get { request.httpBodyStream }
        set { request.httpBodyStream = newValue }
    }

    open override var networkServiceType: NSURLRequest.NetworkServiceType {
        get { request.networkServiceType }
        set { request.networkServiceType = newValue }
    }

    open override var allowsCellularAccess: Bool {
        get { request.allowsCellularAccess }
        set { request.allowsCellularAccess = newValue }
    }

    open override var allowsExpensiveNetworkAccess: Bool {
        get { request.allowsExpensiveNetworkAccess }
        set { request.allowsExpensiveNetworkAccess = newValue }
    }

    open override var allowsConstrainedNetworkAccess: Bool {
        get { request.allowsConstrainedNetworkAccess }
        set { request.allowsConstrainedNetworkAccess = newValue }
    }

    open override var attribution: NSURLRequest.Attribution {
        get { request.attribution }
        set { request.attribution = newValue }
    }

    open override var assumesHTTP3Capable: Bool {
        get { request.assumesHTTP3Capable }
        set { request.assumesHTTP3Capable = newValue }
    }

    open override var httpShouldHandleCookies: Bool {
        get { request.httpShouldHandleCookies }
        set { request.httpShouldHandleCookies = newValue }
    }

    @available(*, deprecated, message: "HTTP/1 only")
    open override var httpShouldUsePipelining: Bool {
        get { request.values.httpShouldUsePipelining }
        set { request.values.httpShouldUsePipelining = newValue }
    }
}
