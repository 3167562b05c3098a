public import Foundation
internal import UncurlClient

/// A request: its URL, its method, its fields and its content.
///
/// A value over one object, cheap to copy and to read. A field whose name is no token, or whose value holds control
/// characters (CR, LF, NUL and others), is refused: the request keeps the fields that it had, and its tasks fail with
/// `URLError.badURL` until the field is given another value or removed. FoundationNetworking refuses these three only,
/// and sends the request without the field. A folded value is kept, as there.
public struct URLRequest: ReferenceConvertible, Equatable, Hashable, Sendable {
    /// The class that holds the same as an object.
    public typealias ReferenceType = NSURLRequest
    /// Whether a stored response may answer.
    public typealias CachePolicy = NSURLRequest.CachePolicy
    /// The purpose of a request; of no effect here.
    public typealias NetworkServiceType = NSURLRequest.NetworkServiceType
    /// Who chose the URL of a request; of no effect here.
    public typealias Attribution = NSURLRequest.Attribution

    var storage: RequestStorage

    init(storage: RequestStorage) {
        self.storage = storage
    }

    /// - Parameters:
    ///   - url: absolute.
    ///   - cachePolicy: how far it may use the cache.
    ///   - timeoutInterval: in seconds; the default leaves the choice to the session's configuration.
    public init(
        url: URL,
        cachePolicy: CachePolicy = .useProtocolCachePolicy,
        timeoutInterval: TimeInterval = 60.0
    ) {
        storage = RequestStorage(url, cachePolicy, timeoutInterval)
    }

    /// The URL to load. A task without a URL fails.
    public var url: URL? {
        get { values.url }
        set { values.url = newValue }
    }

    /// Whether a stored response may answer.
    public var cachePolicy: CachePolicy {
        get { values.cachePolicy }
        set { values.cachePolicy = newValue }
    }

    /// How long the peer may be idle, in seconds and fractions of them. Any byte in either direction restarts the time.
    /// Once set, it replaces ``URLSessionConfiguration/timeoutIntervalForRequest``.
    public var timeoutInterval: TimeInterval {
        get { values.timeoutInterval }
        set { values.timeoutInterval = newValue }
    }

    /// The document that this load is part of. Cookies of other sites are refused by
    /// ``HTTPCookie/AcceptPolicy/onlyFromMainDocumentDomain``.
    public var mainDocumentURL: URL? {
        get { values.mainDocumentURL }
        set { values.mainDocumentURL = newValue }
    }

    /// Of no effect here.
    public var networkServiceType: NetworkServiceType {
        get { values.networkServiceType }
        set { values.networkServiceType = newValue }
    }

    /// Linux does not say which networks are cellular: the value is kept, compared and archived, and does not affect
    /// loading.
    public var allowsCellularAccess: Bool {
        get { values.allowsCellularAccess }
        set { values.allowsCellularAccess = newValue }
    }

    /// As ``allowsCellularAccess``: Linux does not say which of its networks are expensive.
    public var allowsExpensiveNetworkAccess: Bool {
        get { values.allowsExpensiveNetworkAccess }
        set { values.allowsExpensiveNetworkAccess = newValue }
    }

    /// As ``allowsCellularAccess``: Linux has no low data mode.
    public var allowsConstrainedNetworkAccess: Bool {
        get { values.allowsConstrainedNetworkAccess }
        set { values.allowsConstrainedNetworkAccess = newValue }
    }

    /// Who chose the URL. Linux has no privacy report: of no effect here, and archives lose it.
    public var attribution: Attribution {
        get { values.attribution }
        set { values.attribution = newValue }
    }

    /// Whether the server is likely to speak HTTP/3, which this library does not: of no effect here, and archives lose
    /// it.
    public var assumesHTTP3Capable: Bool {
        get { values.assumesHTTP3Capable }
        set { values.assumesHTTP3Capable = newValue }
    }

    /// The method; nil sets `GET`. GET, HEAD, POST, PUT, DELETE and CONNECT are put in upper case; others stay as
    /// given.
    public var httpMethod: String? {
        get { values.httpMethod }
        set { values.setMethod(newValue) }
    }

    /// The fields as a dictionary, made when asked for. Setting it replaces all fields. A field that cannot be sent is
    /// refused.
    public var allHTTPHeaderFields: [String: String]? {
        get { values.dictionary }
        set { values.dictionary = newValue }
    }

    /// Returns the value of a field, whatever the case of its name.
    public func value(forHTTPHeaderField field: String) -> String? {
        values.value(of: field)
    }

    /// Sets, replaces or (with nil) removes a field. The name is capitalised. A value that is folded into several lines
    /// (CR LF with a blank after it) is kept as it is, and sent with one space for each fold.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        values.setValue(value, of: field)
    }

    /// Sets a field, or appends to its value after a comma.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        values.addValue(value, of: field)
    }

    /// The content. Setting it, nil included, removes a stream.
    public var httpBody: Data? {
        get { values.httpBody }
        set { values.httpBody = newValue }
    }

    /// The content as a stream, which can be read once; to send it again, the delegate's `needNewBodyStream` is asked
    /// for another. Copies share it; archives lose it. Setting it, nil included, removes ``httpBody``.
    public var httpBodyStream: InputStream? {
        get { values.httpBodyStream }
        set { values.httpBodyStream = newValue }
    }

    /// The most content of the answer that is kept in memory, decoded, in bytes; nil for the session's limit
    /// (``URLSessionConfiguration/maximumDataLength``), which it replaces. The value of a task's first request counts.
    /// Archives lose it.
    public var maximumDataLength: Int? {
        get { values.maximumDataLength }
        set { values.maximumDataLength = newValue }
    }

    /// The limits on heads, trailers and the like of the answers; nil for the session's
    /// (``URLSessionConfiguration/responseLimits``), which they replace. The value of a task's first request counts.
    /// Archives lose it.
    public var responseLimits: ResponseLimits? {
        get { terms.responseLimits }
        set { terms.responseLimits = newValue }
    }

    /// Whether stored cookies are sent, and received cookies are stored.
    public var httpShouldHandleCookies: Bool {
        get { values.handlesCookies }
        set { values.handlesCookies = newValue }
    }

    /// Of no effect: requests are never pipelined, because servers and proxies answer pipelined requests out of order.
    @available(*, deprecated, message: "HTTP/1 only")
    public var httpShouldUsePipelining: Bool {
        get { values.httpShouldUsePipelining }
        set { values.httpShouldUsePipelining = newValue }
    }

    /// The values that ``URLProtocol/setProperty(_:forKey:in:)`` keeps with the request.
    var protocolProperties: [String: Any] {
        get { values.protocolProperties }
        set { values.protocolProperties = newValue }
    }

    /// Hashes some of the values that `==` compares.
    public func hash(into hasher: inout Hasher) {
        values.hash(into: &hasher)
    }

    /// Compares, as FoundationNetworking does, URL, main document, method, cache policy, stream (by identity), cellular
    /// access and the handling of cookies. Fields, data and limits are not compared.
    public static func == (lhs: URLRequest, rhs: URLRequest) -> Bool {
        lhs.storage === rhs.storage || lhs.values == rhs.values
    }
}

extension URLRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL.
    public var description: String { url?.description ?? "url: nil" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The children that a debugger shows.
    public var customMirror: Mirror {
        let children: [(label: String?, value: Any)] = [
            ("url", url as Any),
            ("cachePolicy", cachePolicy.rawValue),
            ("timeoutInterval", timeoutInterval),
            ("mainDocumentURL", mainDocumentURL as Any),
            ("networkServiceType", networkServiceType),
            ("allowsCellularAccess", allowsCellularAccess),
            ("httpMethod", httpMethod as Any),
            ("allHTTPHeaderFields", allHTTPHeaderFields as Any),
            ("httpBody", httpBody as Any),
            ("httpBodyStream", httpBodyStream as Any),
            ("httpShouldHandleCookies", httpShouldHandleCookies),
            ("httpShouldUsePipelining", values.httpShouldUsePipelining),
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

/// The one object behind a ``URLRequest``. Copies of the request share it, and a copy that is changed makes its own
/// first: so an object that two copies share never changes, which is all that `@unchecked Sendable` claims. The caller
/// must keep the stream and the protocol properties in it to one thread.
final class RequestStorage: @unchecked Sendable {
    fileprivate(set) var values: RequestValues

    /// Makes the values in place: to move them here would copy each of them.
    @inline(__always)
    init(_ url: URL?, _ policy: URLRequest.CachePolicy, _ timeout: TimeInterval) {
        values = RequestValues(url: url)
        values.cachePolicy = policy
        if timeout != RequestValues.defaultTimeout { values.explicitTimeout = timeout }
    }

    @inline(__always)
    init(_ values: consuming RequestValues) {
        self.values = values
    }
}

extension URLRequest {
    var values: RequestValues {
        _read { yield storage.values }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = RequestStorage(storage.values) }
            yield &storage.values
        }
    }
}
