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
        return RequestMatcher("\(method) \(url)", RequestMatcher.url(url).conditions + [{ $0.method == method }])
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
        RequestMatcher(words + " with " + more, conditions + [condition], contents)
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

/// A URL pattern with wildcards.
struct URLPattern: Sendable {
    private let path: PathPattern
    /// The octets of the query's parts, sorted; nil ignores the query.
    private let query: [[UInt8]]?
    private let isForAnyHost: Bool

    init(_ text: String) {
        let (path, query) = Self.split(text)
        self.query = query
        isForAnyHost = path.utf8.first == UInt8(ascii: "/")
        self.path = PathPattern(isForAnyHost ? path : Self.normalized(path))
    }

    func matches(_ url: String) -> Bool {
        let (text, query) = Self.split(url)
        if let wanted = self.query, wanted != query ?? [] { return false }
        guard isForAnyHost else { return path.matches(Self.normalized(text)) }
        // The path begins after the authority.
        guard let authority = Self.authority(of: text), let slash = Self.slash(in: text, from: authority) else {
            return path.matches("/")
        }
        return path.matches(text[slash...])
    }

    /// The text without its query and fragment, and the octets of the query's parts, sorted; nil without a query.
    static func split(_ text: String) -> (text: String, query: [[UInt8]]?) {
        let bare = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = bare.firstIndex(of: UInt8(ascii: "?")) else { return (String(Substring(bare)), nil) }
        let parts = bare[bare.index(after: mark)...].split(separator: UInt8(ascii: "&")).map { Array($0) }
        return (String(Substring(bare[..<mark])), parts.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// The text with scheme and host in lower case, and with a path (RFC 3986 §6.2.2.1, §6.2.3).
    static func normalized(_ text: String) -> String {
        guard let authority = authority(of: text) else { return text }
        guard let slash = slash(in: text, from: authority) else { return text.lowercased() + "/" }
        return text[..<slash].lowercased() + text[slash...]
    }

    /// Where the authority begins; nil without one.
    private static func authority(of text: String) -> String.Index? {
        var rest = text.utf8[...]
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            if rest[colon...].starts(with: "://".utf8) { return rest.index(colon, offsetBy: 3) }
            rest = rest[colon...].dropFirst()
        }
        return nil
    }

    private static func slash(in text: String, from index: String.Index) -> String.Index? {
        text.utf8[index...].firstIndex(of: UInt8(ascii: "/"))
    }
}

/// A pattern for the part of a URL before its query: one star stands for any octets but slashes, two for any octets.
///
/// The text is compared octet by octet. A set of bits holds the places in the pattern that the text so far can lead to,
/// and a step moves 64 places at once (the Shift-And algorithm). Trying all lengths for each star would take
/// exponential time.
struct PathPattern: Sendable {
    private typealias Places = [UInt64]

    /// For each octet, the places before which the pattern has it.
    private var octets: [Places]
    /// The places before a star that stands for anything, and before any star.
    private var crossings: Places
    private var stars: Places
    /// The place behind the pattern.
    private var end = 0

    init(_ text: String) {
        let none = Places(repeating: 0, count: text.utf8.count / 64 + 1)
        (octets, crossings, stars) = (Array(repeating: none, count: 256), none, none)
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "*") else {
                octets[Int(octet)].insert(end)
                end += 1
                continue
            }
            // Stars in a row are one: no star follows a star.
            let length = 1 + rest.prefix { $0 == octet }.count
            rest = rest.dropFirst(length - 1)
            stars.insert(end)
            if length > 1 { crossings.insert(end) }
            end += 1
        }
    }

    func matches(_ text: some StringProtocol) -> Bool {
        var places = Places(repeating: 0, count: stars.count)
        places[0] = 1
        passStars(&places)
        for octet in text.utf8 {
            let (own, kept) = (octets[Int(octet)], octet == UInt8(ascii: "/") ? crossings : stars)
            var carry: UInt64 = 0
            for word in places.indices {
                let moved = places[word] & own[word]
                places[word] = places[word] & kept[word] | moved << 1 | carry
                carry = moved >> 63
            }
            passStars(&places)
        }
        return places.contains(end)
    }

    /// Adds the places behind stars: a star also stands for no octet.
    private func passStars(_ places: inout Places) {
        var carry: UInt64 = 0
        for word in places.indices {
            let passed = places[word] & stars[word]
            places[word] |= passed << 1 | carry
            carry = passed >> 63
        }
    }
}

extension [UInt64] {
    fileprivate mutating func insert(_ bit: Int) { self[bit / 64] |= 1 << (bit % 64) }

    fileprivate func contains(_ bit: Int) -> Bool { self[bit / 64] >> (bit % 64) & 1 == 1 }
}
