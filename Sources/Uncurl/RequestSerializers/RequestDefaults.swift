internal import Foundation
internal import Synchronization
public import URLLoading
internal import UncurlHTTP1
internal import UncurlText

/// The header fields, credentials and request properties that a serializer or a manager gives every request. It is a
/// value: each request is made with a copy.
public struct RequestDefaults: Sendable {
    /// The fields in the order in which they were set.
    public private(set) var headers: HTTPHeaders {
        didSet { prepared = PreparedFields(headers) }
    }
    private var prepared: PreparedFields

    /// The cache policy. Nil keeps the request's own value, or else that of the session's configuration. The same
    /// applies to the properties below.
    public var cachePolicy: URLRequest.CachePolicy?
    /// The longest time without one byte, as `URLRequest.timeoutInterval` is in seconds.
    public var timeout: Duration?
    /// The longest time to make a connection; see `URLRequest.connectTimeout`.
    public var connectTimeout: Duration?
    /// The longest time to the first byte of the response; see `URLRequest.firstByteTimeout`.
    public var firstByteTimeout: Duration?
    /// Whether the session's cookies are sent and kept.
    public var httpShouldHandleCookies: Bool?
    /// What the traffic is for.
    public var networkServiceType: URLRequest.NetworkServiceType?
    /// Whether a cellular network may carry the request.
    public var allowsCellularAccess: Bool?

    /// Only Accept-Language, from the user's locale, and User-Agent, from the program.
    public init() {
        headers = [.acceptLanguage(URLRequest.acceptLanguage), .userAgent(Self.userAgent)]
        prepared = PreparedFields(headers)
    }

    /// No fields and no properties.
    public static var none: RequestDefaults {
        var defaults = RequestDefaults()
        defaults.headers = []
        return defaults
    }

    /// Sets or replaces a field, or removes it with nil.
    ///
    /// - Throws: ``ParameterFailure`` where the name is no token, or the value has CR, LF, NUL or another control
    ///   character.
    public mutating func setHeader(_ name: String, to value: String?) throws(ParameterFailure) {
        guard name.isToken else { throw ParameterFailure(.headerName(name)) }
        guard value?.isFieldValue ?? true else { throw ParameterFailure(.headerValue(name: name)) }
        headers[name] = value
    }

    /// Sets Basic credentials (RFC 7617), in UTF-8.
    ///
    /// - Throws: ``ParameterFailure`` where the user name has a colon, which would end it.
    public mutating func setAuthorization(user: String, password: String) throws(ParameterFailure) {
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw ParameterFailure(.colonInUserName) }
        try setHeader("Authorization", to: "Basic " + Data("\(user):\(password)".utf8).base64EncodedString())
    }

    /// Removes the Authorization field.
    public mutating func clearAuthorization() {
        headers["Authorization"] = nil
    }

    /// The request with these defaults. A field never replaces one that the request has.
    public func applied(to request: URLRequest) -> URLRequest {
        var request = request
        addFields(to: &request)
        setProperties(of: &request)
        return request
    }

    func addFields(to request: inout URLRequest) {
        if headers.isEmpty { return }
        if request.hasFields { request.addMissing(headers) } else { request.replaceFields(byThoseOf: prepared.request) }
    }

    func setProperties(of request: inout URLRequest) {
        if let cachePolicy { request.cachePolicy = cachePolicy }
        if let timeout { request.timeoutInterval = timeout.inSeconds }
        if connectTimeout != nil || firstByteTimeout != nil {
            var terms = TransferTerms()
            (terms.connectLimit, terms.firstByteLimit) = (connectTimeout?.inSeconds, firstByteTimeout?.inSeconds)
            request.replaceTerms(by: terms)
        }
        if let httpShouldHandleCookies { request.httpShouldHandleCookies = httpShouldHandleCookies }
        if let networkServiceType { request.networkServiceType = networkServiceType }
        if let allowsCellularAccess { request.allowsCellularAccess = allowsCellularAccess }
    }
}

extension RequestDefaults: CustomStringConvertible {
    public var description: String {
        described(
            Self.self,
            [
                "headers": headers, "cachePolicy": cachePolicy, "timeout": timeout,
                "connectTimeout": connectTimeout, "firstByteTimeout": firstByteTimeout,
                "httpShouldHandleCookies": httpShouldHandleCookies, "networkServiceType": networkServiceType,
                "allowsCellularAccess": allowsCellularAccess,
            ]
        )
    }
}

extension URLRequest {
    /// Adds the fields whose names the request does not have. A field whose value was refused is not added: the request
    /// would be sent with the default in place of that value, and no error would tell it.
    fileprivate mutating func addMissing(_ headers: HTTPHeaders) {
        let missing = headers.filter { value(forHTTPHeaderField: $0.name) == nil && !refuses($0.name) }
        replaceFields(by: missing.map { ($0.name, $0.value) })
    }
}

/// A request with the fields for one that has none, as nearly every request. It is made for the first such request,
/// because the program may set the fields one by one.
private final class PreparedFields: Sendable {
    private let headers: HTTPHeaders
    private let made = Mutex<URLRequest?>(nil)

    init(_ headers: HTTPHeaders) { self.headers = headers }

    var request: URLRequest {
        made.withLock { made in
            if let made { return made }
            var request = URLRequest(url: URL(fileURLWithPath: "/"))
            request.addMissing(headers)
            made = request
            return request
        }
    }
}

/// Where parameters go.
@frozen public enum ParameterPlacement: Sendable, Hashable {
    /// Into the query for the serializer's ``HTTPRequestSerializer/queryMethods``, into the content for other methods.
    case byMethod
    /// Into the query, whatever the method.
    case query
    /// Into the content, whatever the method.
    case body
}

extension RequestDefaults {
    /// The value of User-Agent (RFC 9110 §10.1.5): the program's name and version, and nothing of the machine.
    static let userAgent = userAgent(
        program: ProcessInfo.processInfo.processName,
        version: version(in: Bundle.main.infoDictionary ?? [:])
    )

    /// What no token may have is left out of both. It is not transliterated: that would start ICU, a fifth of a small
    /// program's start.
    static func userAgent(program: String, version: String) -> String {
        let (name, version) = (token(program), token(version))
        return (name.isEmpty ? "uncurl" : name) + (version.isEmpty ? "" : "/" + version)
    }

    /// The program's version. On Linux only a bundle with a property list has one.
    private static func version(in info: [String: Any]) -> String {
        (info["CFBundleShortVersionString"] ?? info["CFBundleVersion"]) as? String ?? ""
    }

    private static func token(_ text: String) -> String {
        String(decoding: text.utf8.filter(\.isTokenOctet), as: UTF8.self)
    }
}
