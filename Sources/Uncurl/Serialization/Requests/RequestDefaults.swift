public import URLLoading

/// What a serializer gives every request: header fields, credentials, and the request's own properties as far as they are
/// set here. A value: a request that is being made has a copy that nobody can change.
public struct RequestDefaults: Sendable {
    private var fields: [(name: String, value: String)] = []

    /// Nil, here and below: the request keeps its own, and with it what its session's configuration says.
    public var cachePolicy: URLRequest.CachePolicy?
    /// In seconds; what it means is told at `URLRequest.timeoutInterval`.
    public var timeoutInterval: TimeInterval?
    public var httpShouldHandleCookies: Bool?
    public var networkServiceType: URLRequest.NetworkServiceType?
    public var allowsCellularAccess: Bool?

    /// Accept-Language by the user's locale and User-Agent by the program and the system, and no more.
    public init() {
        fields = [("Accept-Language", AcceptLanguage.ofThisUser), ("User-Agent", UserAgent.ofThisProgram)]
    }

    /// Nothing at all.
    public static var none: RequestDefaults {
        var defaults = RequestDefaults()
        defaults.fields = []
        return defaults
    }

    /// The fields in the order in which they were set.
    public var headers: [(name: String, value: String)] { fields }

    /// Whatever the case of the name.
    public func header(_ name: String) -> String? {
        fields.first { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value
    }

    /// Sets or replaces a field, or removes it with nil.
    ///
    /// - Throws: ``ParameterFailure``: the name is no token, or the value holds CR, LF, NUL or another control character.
    public mutating func setHeader(_ name: String, to value: String?) throws(ParameterFailure) {}

    /// Basic credentials (RFC 7617), in UTF-8.
    public mutating func setAuthorization(user: String, password: String) throws(ParameterFailure) {}

    public mutating func clearAuthorization() {}

    /// Fields never replace those that the request has.
    public func applied(to request: URLRequest) -> URLRequest { request }
}

/// Where parameters go.
public enum ParameterPlacement: Sendable, Hashable {
    /// Into the query for the serializer's ``HTTPRequestSerializer/queryMethods``, into the body for others.
    case byMethod
    case query
    case body
}
