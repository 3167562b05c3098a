package import UncurlEngine
package import UncurlHTTP1
internal import UncurlLibC
package import UncurlSemantics
internal import UncurlTLS
internal import UncurlText

/// A request as a load sends it. The load's owner makes it. Its content is not here: the load asks its owner for that
/// when it sends the request (``LoadOwner/content(from:)``).
package struct Request: Sendable {
    package var method = "GET"
    /// An absolute URL, as it was written.
    package var url: String
    /// The request's own fields, which replace the client's; nil for none.
    package var fields: HTTPFields?
    /// How far the request may use the store of answers.
    package var cacheMode = CacheMode.standard
    /// How long the peer may be idle; nil: for ever.
    package var idleLimit: Duration?
    /// The scope of the document that the load is part of; nil: the request is of its own site.
    package var document: CookieScope?
    /// Whether stored cookies are sent, and received cookies are stored.
    package var handlesCookies = true
    /// Whether a GET's content is sent. If false, a GET with content is refused.
    package var sendsContentWithGET = false
    /// Whether a redirect of an earlier load, which this one resumes, has led to another origin.
    package var hasLeftOrigin = false
    /// Nil: the client's terms apply.
    package var terms: RequestTerms?

    package init(url: String) { self.url = url }

    /// Whether the program has named the accepted codings. Then the content is not decoded.
    var decidesOnCoding: Bool { fields.map { $0.contains("Accept-Encoding") || $0.contains("Range") } ?? false }

    /// The URL for the rules.
    var web: URIReference { URIReference(url) }

    /// Puts the scheme in lower case. Returns whether that has changed the URL. Returns nil for a URL that is neither
    /// http nor https, for which no server is asked.
    mutating func lowercaseScheme() -> Bool? {
        if url.utf8.starts(with: "http://".utf8) || url.utf8.starts(with: "https://".utf8) { return false }
        guard let colon = url.firstIndex(of: ":") else { return nil }
        let name = url[..<colon].lowercased()
        guard Origin.Scheme(rawValue: name) != nil else { return nil }
        if name == url[..<colon] { return false }
        url = name + url[colon...]
        return true
    }

    /// The URL that a WebSocket's handshake is sent to: `http` for `ws` (RFC 6455 §3). Nil for other schemes.
    var handshakeURL: String? {
        guard let scheme = web.handshakeScheme, Origin.Scheme(rawValue: scheme) != nil,
            let colon = url.firstIndex(of: ":")
        else { return nil }
        return scheme + url[colon...]
    }

    /// The user and password in the URL; nil without a user. A password that is missing is empty here.
    var namedCredentials: Credentials? {
        // Most URLs have none, and taking one apart costs as much as the rest of the planning.
        var text = url
        guard text.withUTF8({ unsafe $0.contains(UInt8(ascii: "@")) }), let information = web.userInformation else {
            return nil
        }
        let parts = information.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        func decoded(_ part: ArraySlice<UInt8>) -> String {
            String(decoding: percentDecodedOctets(part), as: UTF8.self)
        }
        return Credentials(user: decoded(parts[0]), password: parts.count > 1 ? decoded(parts[1]) : "")
    }

    /// Whether the URL has a password, perhaps an empty one.
    var namesPassword: Bool { web.userInformation?.contains(UInt8(ascii: ":")) ?? false }
}

extension URIReference {
    /// What is before the host; nil for nothing.
    fileprivate var userInformation: ArraySlice<UInt8>? {
        guard let authority, let at = authority.lastIndex(of: UInt8(ascii: "@")) else {
            return nil
        }
        return authority[..<at]
    }
}

/// One request's own terms of transfer, which replace those of its client. They hold for every transaction of a load:
/// redirects, challenges, retries. They are an object, since nearly no request has any.
package final class RequestTerms: Sendable {
    /// The limits of time, for a request with that limit on idleness.
    let timeouts: @Sendable (Duration?) -> Timeouts
    let sendingRate: TransferRate?
    let receivingRate: TransferRate?
    /// Where connections lead, for the first request's host and port.
    let endpoint: Endpoint?
    /// The proxies that replace the client's. Their credentials are those that they hold here.
    package let proxies: OriginProxies?
    /// The limits on what comes before and after the content of answers.
    let limits: ParserLimits?
    /// The most redirects.
    let redirects: Int?

    package init(
        timeouts: @escaping @Sendable (Duration?) -> Timeouts,
        sendingRate: TransferRate?,
        receivingRate: TransferRate?,
        endpoint: Endpoint?,
        proxies: OriginProxies?,
        limits: ParserLimits?,
        redirects: Int?
    ) {
        (self.timeouts, self.sendingRate, self.receivingRate) = (timeouts, sendingRate, receivingRate)
        (self.endpoint, self.proxies, self.limits, self.redirects) = (endpoint, proxies, limits, redirects)
    }
}

/// The head of a response, with the URL of its request.
package struct LocatedHead: Sendable {
    package let url: String
    package let status: Int
    package let fields: HTTPFields
    /// The content's length as it is delivered, in octets; -1 where it is not known.
    package let length: Int64

    /// - Parameter isDecoded: whether the content is delivered without its content coding, so that Content-Length is
    ///   not the length of what will come.
    package init(_ head: ResponseHead, _ url: String, isDecoded: Bool = false) {
        self.url = url
        status = head.status
        // The head is kept beyond its callback, so its fields are copied from the parser's scratch.
        fields = head.fields.trimmed()
        length = isDecoded ? -1 : fields.contentLength
    }
}

extension HTTPFields {
    /// The value of Content-Length, in octets; -1 without the field, for a value that is no number, and where a
    /// transfer coding overrides it (RFC 9112 §6.3).
    package var contentLength: Int64 {
        // The value is read in place, since every response is asked. The parser let several equal numbers pass (RFC
        // 9110 §8.6).
        guard !contains(.transferEncoding), let range = first(.contentLength) else { return -1 }
        return HTTPFields.length(of: block[range].prefix { $0 != UInt8(ascii: ",") })
    }

    /// The number that the digits are, if it is one of octets; -1 for others, and for none.
    package static func length(of digits: some Collection<UInt8>) -> Int64 {
        var value: Int64 = digits.isEmpty ? -1 : 0
        for octet in digits {
            let digit = octet &- 0x30
            let (tens, isTooMuch) = value.multipliedReportingOverflow(by: 10)
            let (sum, isStillTooMuch) = tens.addingReportingOverflow(Int64(digit))
            guard digit < 10, !isTooMuch, !isStillTooMuch else { return -1 }
            value = sum
        }
        return value
    }
}

/// The time of day as the rules of HTTP semantics count it, in whole seconds since 1970.
package func unixTime() -> Int64 { Int64(time(nil)) }

/// One request on the network, with the facts that its answer is judged by.
struct Transaction {
    let request: EngineRequest
    /// The fields as they are sent, except those that the engine adds.
    let fields: HTTPFields
    let place: HTTPURL
    let url: String
    /// Seconds since 1970.
    let sent: Int64
    /// The credentials that were sent with it.
    let authorized: SentAuthorization?
    /// The identity that its connection has shown to the server; nil for none, and before there is an answer.
    var identity: [UInt8]?

    var scope: CookieScope { CookieScope(place) }

    /// The request for the rules.
    func asked(_ request: Request, _ caching: AskedRequest.Caching) -> AskedRequest {
        AskedRequest(
            method: request.method,
            url: place,
            fields: fields,
            hasOwnAuthorization: request.fields?.contains(.authorization) == true,
            authorized: authorized?.space,
            sent: sent,
            caching: caching
        )
    }
}

/// A request that was sent without content, cookies and credentials: the head for an origin and its fields, into which
/// the target of another request like it is written.
final class PreparedRequest {
    let request: EngineRequest
    let fields: HTTPFields
    let place: HTTPURL
    private let asked: Request

    init(_ request: EngineRequest, _ fields: HTTPFields, to place: HTTPURL, for asked: Request) {
        (self.request, self.fields, self.place, self.asked) = (request, fields, place, asked)
    }

    /// Whether another request, of the same origin and without content, is sent with the same head and the same limits.
    func serves(_ other: Request) -> Bool {
        guard asked.method == other.method, asked.idleLimit == other.idleLimit else { return false }
        switch (asked.fields, other.fields) {
        case (nil, nil): return true
        case (let some?, let others?): return some.isIdentical(to: others)
        case (nil, _?), (_?, nil): return false
        }
    }

    /// The request for a place; nil for one of another origin.
    func request(to place: HTTPURL) -> EngineRequest? {
        place == self.place ? request : EngineRequest(request, for: place)
    }
}
