public import Foundation

/// A request as an object. See ``URLRequest``, which it is a shell of.
open class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying {
    /// Changed by ``NSMutableURLRequest`` alone.
    var request: URLRequest

    init(_ request: URLRequest) {
        self.request = request
    }

    public convenience init(url: URL) {
        self.init(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: RequestValues.defaultTimeout)
    }

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

    open class var supportsSecureCoding: Bool { true }

    open override func copy() -> Any { copy(with: nil) }

    open func copy(with zone: NSZone? = nil) -> Any {
        type(of: self) === NSURLRequest.self ? self : NSURLRequest(request)
    }

    open override func mutableCopy() -> Any { mutableCopy(with: nil) }

    open func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(request) }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSURLRequest else { return false }
        return other === self || other.request == request
    }

    open override var hash: Int { request.hashValue }

    open override var description: String {
        "\(super.description) { URL: \(url?.description ?? "(null)") }"
    }

    open var url: URL? { request.url }

    open var mainDocumentURL: URL? { request.mainDocumentURL }

    open var cachePolicy: CachePolicy { request.cachePolicy }

    open var timeoutInterval: TimeInterval { request.timeoutInterval }

    open internal(set) var httpMethod: String? {
        get { request.httpMethod }
        set { request.httpMethod = newValue }
    }

    open var allHTTPHeaderFields: [String: String]? { request.allHTTPHeaderFields }

    open func value(forHTTPHeaderField field: String) -> String? { request.value(forHTTPHeaderField: field) }

    open var httpBody: Data? { request.httpBody }

    open var httpBodyStream: InputStream? { request.httpBodyStream }

    open var networkServiceType: NetworkServiceType { request.networkServiceType }

    open var allowsCellularAccess: Bool { request.allowsCellularAccess }

    open var allowsExpensiveNetworkAccess: Bool { request.allowsExpensiveNetworkAccess }

    open var allowsConstrainedNetworkAccess: Bool { request.allowsConstrainedNetworkAccess }

    open var httpShouldHandleCookies: Bool { request.httpShouldHandleCookies }

    @available(*, deprecated, message: "HTTP/1 only")
    open var httpShouldUsePipelining: Bool { request.values.httpShouldUsePipelining }
}

// The mutable kind is one of these, so a reference may not cross threads.
@available(*, unavailable)
extension NSURLRequest: @unchecked Sendable {}
