public import Foundation

/// A request as an object, which holds a ``URLRequest``.
open class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying {
    /// The request. Only ``NSMutableURLRequest`` changes it.
    var request: URLRequest

    init(_ request: URLRequest) {
        self.request = request
    }

    /// Makes a GET with the protocol's cache policy and a time limit of 60 seconds.
    public convenience init(url: URL) {
        self.init(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: RequestValues.defaultTimeout)
    }

    /// Makes a GET.
    ///
    /// - Parameters:
    ///   - url: the URL to load.
    ///   - cachePolicy: whether a stored response may answer.
    ///   - timeoutInterval: in seconds, as ``URLRequest/timeoutInterval``.
    public init(url: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        request = URLRequest(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    /// Reads a keyed archive; nil for another coder. Values that no request can hold (unknown policies, fields that
    /// cannot be sent) are replaced by their defaults or left out.
    public required init?(coder aDecoder: NSCoder) {
        guard let values = RequestValues(coder: aDecoder) else { return nil }
        request = URLRequest(storage: RequestStorage(values))
    }

    /// Writes all but a body stream and the properties of ``URLProtocol`` classes. Writes nothing to a coder without
    /// keys.
    open func encode(with aCoder: NSCoder) {
        request.values.encode(with: aCoder)
    }

    /// Always true.
    open class var supportsSecureCoding: Bool { true }

    open override func copy() -> Any { copy(with: nil) }

    /// Returns an immutable copy.
    open func copy(with zone: NSZone? = nil) -> Any {
        type(of: self) === NSURLRequest.self ? self : NSURLRequest(request)
    }

    open override func mutableCopy() -> Any { mutableCopy(with: nil) }

    /// Returns a copy that can be changed.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(request) }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSURLRequest else { return false }
        return other === self || other.request == request
    }

    open override var hash: Int { request.hashValue }

    open override var description: String {
        "\(super.description) { URL: \(url?.description ?? "(null)") }"
    }

    /// As ``URLRequest/url``.
    open var url: URL? { request.url }

    /// As ``URLRequest/mainDocumentURL``.
    open var mainDocumentURL: URL? { request.mainDocumentURL }

    /// As ``URLRequest/cachePolicy``.
    open var cachePolicy: CachePolicy { request.cachePolicy }

    /// As ``URLRequest/timeoutInterval``: in seconds.
    open var timeoutInterval: TimeInterval { request.timeoutInterval }

    /// As ``URLRequest/httpMethod``.
    open internal(set) var httpMethod: String? {
        get { request.httpMethod }
        set { request.httpMethod = newValue }
    }

    /// As ``URLRequest/allHTTPHeaderFields``.
    open var allHTTPHeaderFields: [String: String]? { request.allHTTPHeaderFields }

    /// As ``URLRequest/value(forHTTPHeaderField:)``.
    open func value(forHTTPHeaderField field: String) -> String? { request.value(forHTTPHeaderField: field) }

    /// As ``URLRequest/httpBody``.
    open var httpBody: Data? { request.httpBody }

    /// As ``URLRequest/httpBodyStream``.
    open var httpBodyStream: InputStream? { request.httpBodyStream }

    /// As ``URLRequest/networkServiceType``.
    open var networkServiceType: NetworkServiceType { request.networkServiceType }

    /// As ``URLRequest/allowsCellularAccess``.
    open var allowsCellularAccess: Bool { request.allowsCellularAccess }

    /// As ``URLRequest/allowsExpensiveNetworkAccess``.
    open var allowsExpensiveNetworkAccess: Bool { request.allowsExpensiveNetworkAccess }

    /// As ``URLRequest/allowsConstrainedNetworkAccess``.
    open var allowsConstrainedNetworkAccess: Bool { request.allowsConstrainedNetworkAccess }

    /// As ``URLRequest/attribution``.
    open var attribution: Attribution { request.attribution }

    /// As ``URLRequest/assumesHTTP3Capable``.
    open var assumesHTTP3Capable: Bool { request.assumesHTTP3Capable }

    /// As ``URLRequest/httpShouldHandleCookies``.
    open var httpShouldHandleCookies: Bool { request.httpShouldHandleCookies }

    /// Of no effect: requests are never pipelined.
    @available(*, deprecated, message: "HTTP/1 only")
    open var httpShouldUsePipelining: Bool { request.values.httpShouldUsePipelining }
}

// ``NSMutableURLRequest`` is a subclass, so a reference may not cross threads.
@available(*, unavailable)
extension NSURLRequest: @unchecked Sendable {}

extension NSURLRequest {
    /// How a request may use the cache.
    @frozen public enum CachePolicy: UInt, Sendable {
        /// As HTTP says (RFC 9111): fresh responses are served from the cache, stale ones are validated.
        case useProtocolCachePolicy
        /// Neither serves from the local cache nor validates what it holds; the answer is stored.
        case reloadIgnoringLocalCacheData
        /// The same, and asks caches on the way not to serve either (`Cache-Control: no-cache`, `Pragma: no-cache`).
        case reloadIgnoringLocalAndRemoteCacheData
        /// Serves what the cache holds, however old; asks the origin if it holds nothing.
        case returnCacheDataElseLoad
        /// Serves what the cache holds, however old; if it holds nothing the load fails, and no packet is sent.
        case returnCacheDataDontLoad
        /// Serves what the cache holds once the origin has confirmed it.
        case reloadRevalidatingCacheData

        /// An older name for ``reloadIgnoringLocalCacheData``.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// What a request's traffic is for. Linux has no traffic classes that a process may choose from without privileges,
    /// so this is a note to the reader of the request; ``URLSessionTask/priority`` orders requests.
    @frozen public enum NetworkServiceType: UInt, Sendable {
        /// No particular purpose.
        case `default`
        /// Of no effect here.
        case voip
        /// Of no effect here.
        case video
        /// Of no effect here.
        case background
        /// Of no effect here.
        case voice
        /// Of no effect here.
        case networkServiceTypeCallSignaling
    }

    /// Who chose the URL of a request: for the privacy report of Apple's systems. Of no effect here.
    @frozen public enum Attribution: UInt, Sendable {
        /// The program's developer.
        case developer
        /// The user, as in a browser.
        case user
    }
}

/// Makes `request as? NSURLRequest` work for a value in an `Any`, and the cast back.
extension URLRequest: _ObjectiveCBridgeable {
    /// Returns the object's type. Foundation asks for it where a value becomes an object.
    public static func _getObjectiveCType() -> Any.Type { NSURLRequest.self }

    /// Returns the request as an object that can be changed.
    public func _bridgeToObjectiveC() -> NSURLRequest { NSMutableURLRequest(self) }

    /// Converts an object. Foundation calls it for `as!`.
    public static func _forceBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) {
        result = input.request
    }

    /// Converts an object. Foundation calls it for `as?`.
    public static func _conditionallyBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) -> Bool {
        result = input.request
        return true
    }

    /// Converts an object that is known to be a request; nil becomes a request without a URL.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        guard let source else {
            // The compiler passes nil only where Objective-C code has returned nil against its declaration.
            let nothing = RequestValues(url: nil)
            return URLRequest(storage: RequestStorage(nothing))
        }
        return source.request
    }
}

extension NSURLRequest: _StructTypeBridgeable {
    /// The type of the value that the object becomes.
    public typealias _StructType = URLRequest

    /// Returns the request as a value.
    public func _bridgeToSwift() -> URLRequest { request }
}

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
