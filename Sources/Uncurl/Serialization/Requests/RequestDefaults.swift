public import URLLoading

/// What a serializer gives every request: header fields, credentials, and the request's own properties as far as they
/// are set here. A value: a request that is being made has a copy that nobody can change.
public struct RequestDefaults: Sendable {
    /// The fields in the order in which they were set.
    public private(set) var headers: HTTPHeaders {
        didSet { prepared = Self.prepared(headers) }
    }
    /// The fields as a request without any gets them: nearly every request.
    private var prepared: SharedFields

    /// Nil, here and below: the request keeps its own, and with it what its session's configuration says.
    public var cachePolicy: URLRequest.CachePolicy?
    /// In seconds; what it means is told at `URLRequest.timeoutInterval`.
    public var timeoutInterval: TimeInterval?
    public var httpShouldHandleCookies: Bool?
    public var networkServiceType: URLRequest.NetworkServiceType?
    public var allowsCellularAccess: Bool?

    /// Accept-Language by the user's locale and User-Agent by the program and the system, and no more.
    public init() {
        headers = [.acceptLanguage(AcceptLanguage.ofThisUser), .userAgent(UserAgent.ofThisProgram)]
        prepared = Self.prepared(headers)
    }

    /// Nothing at all.
    public static var none: RequestDefaults {
        var defaults = RequestDefaults()
        defaults.headers = []
        return defaults
    }

    /// Sets or replaces a field, or removes it with nil.
    ///
    /// - Throws: ``ParameterFailure``: the name is no token, or the value holds CR, LF, NUL or another control
    /// character.
    public mutating func setHeader(_ name: String, to value: String?) throws(ParameterFailure) {
        guard FieldSyntax.isToken(name) else { throw ParameterFailure(.headerName(name)) }
        guard FieldSyntax.isValue(value ?? "") else { throw ParameterFailure(.headerValue(name: name)) }
        headers[name] = value
    }

    /// Basic credentials (RFC 7617), in UTF-8.
    ///
    /// - Throws: ``ParameterFailure``: the user's name has a colon in it, which would end it.
    public mutating func setAuthorization(user: String, password: String) throws(ParameterFailure) {
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw ParameterFailure(.colonInUserName) }
        try setHeader("Authorization", to: "Basic " + Data("\(user):\(password)".utf8).base64EncodedString())
    }

    public mutating func clearAuthorization() {
        headers["Authorization"] = nil
    }

    /// Fields never replace those that the request has.
    public func applied(to request: URLRequest) -> URLRequest {
        var request = request
        if request.hasFields { Self.add(headers, to: &request) } else { request.sharedFields = prepared }
        if let cachePolicy { request.cachePolicy = cachePolicy }
        if let timeoutInterval { request.timeoutInterval = timeoutInterval }
        if let httpShouldHandleCookies { request.httpShouldHandleCookies = httpShouldHandleCookies }
        if let networkServiceType { request.networkServiceType = networkServiceType }
        if let allowsCellularAccess { request.allowsCellularAccess = allowsCellularAccess }
        return request
    }

    private static func prepared(_ headers: HTTPHeaders) -> SharedFields {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        add(headers, to: &request)
        return request.sharedFields
    }

    private static func add(_ headers: HTTPHeaders, to request: inout URLRequest) {
        for field in headers where request.value(forHTTPHeaderField: field.name) == nil {
            request.setValue(field.value, forHTTPHeaderField: field.name)
        }
    }
}

/// Where parameters go.
public enum ParameterPlacement: Sendable, Hashable {
    /// Into the query for the serializer's ``HTTPRequestSerializer/queryMethods``, into the body for others.
    case byMethod
    case query
    case body
}
