public import Uncurl

/// Decides which requests a stub answers. A request must meet all of its conditions.
///
/// ```swift
/// .get("https://api.test/users/*").header("Accept", "application/json")
/// ```
///
/// A pattern with a query is compared with the URL's query, in any order; a pattern without one ignores the query. `*`
/// matches anything but a slash, `**` matches anything. Scheme and host are compared without case. A pattern that
/// begins with a slash matches any host.
public struct RequestMatcher: Sendable {
    private let words: String
    private let conditions: [@Sendable (StubbedRequest) -> Bool]
    /// The contents that are required.
    private let contents: [Data]

    private init(_ words: String, _ conditions: [@Sendable (StubbedRequest) -> Bool], _ contents: [Data] = []) {
        self.words = words
        self.conditions = conditions
        self.contents = contents
    }

    /// Matches every request.
    public static let any = RequestMatcher("any request", [])

    /// Matches a GET of a URL that fits this pattern.
    public static func get(_ url: String) -> RequestMatcher { method("GET", url) }
    /// Matches a HEAD of a URL that fits this pattern.
    public static func head(_ url: String) -> RequestMatcher { method("HEAD", url) }
    /// Matches a POST to a URL that fits this pattern.
    public static func post(_ url: String) -> RequestMatcher { method("POST", url) }
    /// Matches a PUT to a URL that fits this pattern.
    public static func put(_ url: String) -> RequestMatcher { method("PUT", url) }
    /// Matches a PATCH of a URL that fits this pattern.
    public static func patch(_ url: String) -> RequestMatcher { method("PATCH", url) }
    /// Matches a DELETE of a URL that fits this pattern.
    public static func delete(_ url: String) -> RequestMatcher { method("DELETE", url) }

    /// Matches a request with this method, in any case, and with a URL that fits this pattern.
    public static func method(_ method: String, _ url: String) -> RequestMatcher {
        let method = method.uppercased()
        var both = RequestMatcher.url(url).adding("") { $0.method == method }
        both = RequestMatcher("\(method) \(url)", both.conditions)
        return both
    }

    /// Matches a request with any method and with a URL that fits this pattern.
    public static func url(_ url: String) -> RequestMatcher {
        let pattern = URLPattern(url)
        return RequestMatcher("any method, \(url)", [{ pattern.matches($0.url) }])
    }

    /// Requires a field with exactly this value.
    public func header(_ name: String, _ value: String) -> RequestMatcher {
        adding("\(name): \(value)") { $0.request.value(forHTTPHeaderField: name) == value }
    }

    /// Requires that the field is absent.
    public func withoutHeader(_ name: String) -> RequestMatcher {
        adding("no \(name)") { $0.request.value(forHTTPHeaderField: name) == nil }
    }

    /// Requires exactly this content.
    public func body(_ data: Data) -> RequestMatcher {
        RequestMatcher(words + " with a body of \(data.count) bytes", conditions, contents + [data])
    }

    /// Requires exactly this text, in UTF-8, as the content.
    public func body(_ text: String) -> RequestMatcher { body(Data(text.utf8)) }

    /// Adds a condition of the test's own.
    public func `where`(_ condition: @escaping @Sendable (StubbedRequest) -> Bool) -> RequestMatcher {
        adding("a condition", condition)
    }

    func matches(_ request: StubbedRequest) -> Bool {
        mayMatch(request) && contents.allSatisfy { $0 == request.body }
    }

    /// Whether the request matches, as far as can be said before its content has been read.
    func mayMatch(_ request: StubbedRequest) -> Bool { conditions.allSatisfy { $0(request) } }

    private func adding(
        _ more: String,
        _ condition: @escaping @Sendable (StubbedRequest) -> Bool
    ) -> RequestMatcher {
        RequestMatcher(more.isEmpty ? words : words + " with " + more, conditions + [condition], contents)
    }
}

extension RequestMatcher: CustomStringConvertible {
    public var description: String { words }
}

/// A request as a stub receives it.
public struct StubbedRequest: Sendable {
    /// The request as the session sends it, after interceptors and cookies.
    public let request: URLRequest
    /// The content, from data, a file or a stream.
    public let body: Data

    /// A request and its content.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - body: the content; nil for the request's `httpBody`, if it has one.
    public init(_ request: URLRequest, body: Data? = nil) {
        self.request = request
        self.body = body ?? request.httpBody ?? Data()
    }

    /// The request's method, `GET` where it names none.
    public var method: String { request.httpMethod ?? "GET" }
    /// The request's absolute URL, empty where it has none.
    public var url: String { request.url?.absoluteString ?? "" }
}

extension StubbedRequest: CustomStringConvertible {
    public var description: String { "\(method) \(url)" }
}
