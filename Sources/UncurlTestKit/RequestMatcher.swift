public import Uncurl

/// Decides which requests a stub answers: all its conditions must hold.
///
/// ```swift
/// .get("https://api.test/users/*").header("Accept", "application/json")
/// ```
///
/// A URL is compared without its query, unless the pattern has one; then with it, in any order. `*` stands for anything
/// but a slash, `**` for anything. Scheme and host are compared whatever their case, and a pattern that begins with a
/// slash is for any host.
public struct RequestMatcher: Sendable {
    private let words: String
    private let conditions: [@Sendable (StubbedRequest) -> Bool]

    private init(_ words: String, _ conditions: [@Sendable (StubbedRequest) -> Bool]) {
        self.words = words
        self.conditions = conditions
    }

    /// Every request.
    public static let any = RequestMatcher("any request", [])

    /// A GET of a URL that matches this pattern.
    public static func get(_ url: String) -> RequestMatcher { method("GET", url) }
    /// A HEAD of a URL that matches this pattern.
    public static func head(_ url: String) -> RequestMatcher { method("HEAD", url) }
    /// A POST to a URL that matches this pattern.
    public static func post(_ url: String) -> RequestMatcher { method("POST", url) }
    /// A PUT to a URL that matches this pattern.
    public static func put(_ url: String) -> RequestMatcher { method("PUT", url) }
    /// A PATCH of a URL that matches this pattern.
    public static func patch(_ url: String) -> RequestMatcher { method("PATCH", url) }
    /// A DELETE of a URL that matches this pattern.
    public static func delete(_ url: String) -> RequestMatcher { method("DELETE", url) }

    /// A request of this method, in any case, and of a URL that matches this pattern.
    public static func method(_ method: String, _ url: String) -> RequestMatcher {
        let method = method.uppercased()
        var both = RequestMatcher.url(url).adding("") { $0.method == method }
        both = RequestMatcher("\(method) \(url)", both.conditions)
        return both
    }

    /// With any method.
    public static func url(_ url: String) -> RequestMatcher {
        let pattern = URLPattern(url)
        return RequestMatcher("any method, \(url)", [{ pattern.matches($0.url) }])
    }

    /// The field must be there with just this value.
    public func header(_ name: String, _ value: String) -> RequestMatcher {
        adding("\(name): \(value)") { $0.request.value(forHTTPHeaderField: name) == value }
    }

    /// The field must not be there.
    public func withoutHeader(_ name: String) -> RequestMatcher {
        adding("no \(name)") { $0.request.value(forHTTPHeaderField: name) == nil }
    }

    /// The request's content must be just this.
    public func body(_ data: Data) -> RequestMatcher { adding("a body of \(data.count) bytes") { $0.body == data } }

    /// The request's content must be just this text in UTF-8.
    public func body(_ text: String) -> RequestMatcher { body(Data(text.utf8)) }

    /// Adds a condition of the test's own.
    public func `where`(_ condition: @escaping @Sendable (StubbedRequest) -> Bool) -> RequestMatcher {
        adding("a condition", condition)
    }

    func matches(_ request: StubbedRequest) -> Bool { conditions.allSatisfy { $0(request) } }

    private func adding(
        _ more: String,
        _ condition: @escaping @Sendable (StubbedRequest) -> Bool
    ) -> RequestMatcher {
        RequestMatcher(more.isEmpty ? words : words + " with " + more, conditions + [condition])
    }
}

extension RequestMatcher: CustomStringConvertible {
    public var description: String { words }
}

/// A request as a stub sees it.
public struct StubbedRequest: Sendable {
    /// The request as the session sends it, after interceptors and cookies.
    public let request: URLRequest
    /// The content, whether it was data, a file or a stream.
    public let body: Data

    /// A request and its content.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - body: the content; nil takes the request's `httpBody`, or none.
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
