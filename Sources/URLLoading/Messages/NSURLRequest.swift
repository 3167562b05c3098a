public import Foundation

/// A request as an object. See ``URLRequest``, which it is a shell of.
open class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying {
    /// Changed by ``NSMutableURLRequest`` alone.
    var request: URLRequest

    init(_ request: URLRequest) {
        self.request = request
    }

    /// A GET by the cache policy of the protocol, with a time limit of 60 seconds.
    public convenience init(url: URL) {
        self.init(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: RequestValues.defaultTimeout)
    }

    /// A GET.
    ///
    /// - Parameters:
    ///   - url: what is asked for.
    ///   - cachePolicy: whether a stored response may answer.
    ///   - timeoutInterval: in seconds, as ``URLRequest/timeoutInterval``.
    public init(url: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        request = URLRequest(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    /// Takes a keyed archive only. Values that no request can hold (unknown policies, fields that cannot be sent) are
    /// replaced by their defaults or left out.
    public required init?(coder aDecoder: NSCoder) {
        guard let values = RequestValues(coder: aDecoder) else { return nil }
        request = URLRequest(storage: RequestStorage(values))
    }

    /// Everything but a body stream and what protocols keep with the request. A coder without keys gets nothing.
    open func encode(with aCoder: NSCoder) {
        request.values.encode(with: aCoder)
    }

    /// Always true.
    open class var supportsSecureCoding: Bool { true }

    open override func copy() -> Any { copy(with: nil) }

    /// An immutable copy.
    open func copy(with zone: NSZone? = nil) -> Any {
        type(of: self) === NSURLRequest.self ? self : NSURLRequest(request)
    }

    open override func mutableCopy() -> Any { mutableCopy(with: nil) }

    /// A copy that can be changed.
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

    /// As ``URLRequest/httpShouldHandleCookies``.
    open var httpShouldHandleCookies: Bool { request.httpShouldHandleCookies }

    /// Never done.
    @available(*, deprecated, message: "HTTP/1 only")
    open var httpShouldUsePipelining: Bool { request.values.httpShouldUsePipelining }
}

// The mutable kind is one of these, so a reference may not cross threads.
@available(*, unavailable)
extension NSURLRequest: @unchecked Sendable {}
