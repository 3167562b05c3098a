internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS
internal import UncurlWebSocket

/// Turns a `URLRequest` into the engine's request. The engine writes Host first. The request's own fields replace the
/// session's; the builder adds fields that neither has.
struct RequestBuilder {
    let settings: SessionSettings
    let request: URLRequest
    let url: URL
    let content: UploadContent
    /// The fields of this transaction only: validators and the like. They repeat a server's octets, which may be no
    /// UTF-8.
    var extra: [(name: String, value: [UInt8])] = []
    /// The cookies and credentials of this transaction.
    var secrets: [(name: String, value: [UInt8])] = []
    /// The proxies of this request; nil for the engine's own.
    var proxies: OriginProxies?
    /// The task's own terms, which override the session's.
    var terms: TransferTerms?
    /// The target of the connection.
    var endpoint = Endpoint.origin
    /// Whether a redirect has led to another origin, which must not get the session's secrets.
    var hasLeftOrigin = false
    /// Whether no coding is offered, whatever the session's own fields say.
    var offersIdentity = false
    /// The TLS settings, for https.
    var context: TLSContext?
    /// Decides about servers for an owner other than the session; nil for the session's.
    var evaluator: (any TrustEvaluator)?
    /// The opening handshake of a WebSocket.
    var handshake: ClientHandshake?

    init(settings: SessionSettings, request: URLRequest, url: URL, content: UploadContent) {
        self.settings = settings
        self.request = request
        self.url = url
        self.content = content
    }

    /// Fields that a caller cannot set: the engine derives them from the content or the connection.
    private static let derived: Set<String> = [
        "host", "content-length", "transfer-encoding", "expect", "upgrade", "proxy-authorization", "connection",
        "keep-alive", "proxy-connection", "te",
    ]

    /// The server and the target of a request.
    ///
    /// - Parameter other: a place that is probably of the same origin.
    static func place(_ url: URL, near other: HTTPURL? = nil) throws(URLError) -> HTTPURL {
        do throws(HTTPURL.Problem) {
            return try HTTPURL(mending: url.absoluteString, near: other)
        } catch {
            throw ErrorTranslation.urlError(RequestBuilder.code(error), url, error)
        }
    }

    /// The request, and its fields except those that the engine adds.
    func build(to place: HTTPURL) throws(URLError) -> (EngineRequest, HTTPFields) {
        let values = request.values
        guard values.httpMethod != "GET" || content.isEmpty || values.sendsContentWithGET else {
            // Content of a GET has no defined meaning (RFC 9110 §9.3.1); URLSession has refused it since iOS 13.
            throw ErrorTranslation.urlError(.dataLengthExceedsMaximum, url, "a GET request carries no content")
        }
        var options = EngineRequest.Options()
        let limit = TimeLimit.duration(values.explicitTimeout ?? settings.requestTimeout)
        options.timeouts = terms?.timeouts(idle: limit) ?? Timeouts(connect: limit, poolWait: limit, idle: limit)
        options.proxies = proxies
        options.tls = context
        options.trustEvaluator = evaluator
        options.endpoint = endpoint
        options.offersIdentity = offersIdentity
        options.sendingRate = terms?.rates?.sending
        options.receivingRate = terms?.rates?.receiving
        options.limits = terms?.responseLimits?.parserLimits
        options.host = values.fields?["Host"]
        if let expect = values.fields?["Expect"], expect.lowercased() == "100-continue" {
            options.expectsContinueAbove = 0
        }
        if handshake == nil, content.isEmpty, let upgrade = values.fields?["Upgrade"] {
            options.upgrade = upgrade.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        }
        let fields: HTTPFields
        do throws(HTTP1Error) {
            fields = try self.fields(values)
        } catch {
            throw ErrorTranslation.urlError(.badURL, url, error)
        }
        do throws(EngineError) {
            if let handshake {
                let request = try EngineRequest(
                    webSocket: handshake,
                    origin: place.origin,
                    target: place.target,
                    fields: fields,
                    options: options
                )
                return (request, fields)
            }
            let request = try EngineRequest(
                method: values.httpMethod,
                origin: place.origin,
                target: place.target,
                fields: fields,
                body: content.body,
                options: options
            )
            return (request, fields)
        } catch {
            throw ErrorTranslation.error(error, url)
        }
    }

    private func fields(_ values: RequestValues) throws(HTTP1Error) -> HTTPFields {
        let own = values.fields
        let session = settings.fields
        func isSet(_ name: String) -> Bool { own?.contains(name) ?? false || session.contains(name) }
        var fields = HTTPFields()
        if !isSet("Accept") { try fields.append("Accept", "*/*") }
        if !isSet("User-Agent") { try fields.append("User-Agent", ProcessFacts.userAgent) }
        if !isSet("Accept-Language") { try fields.append("Accept-Language", AcceptLanguage.ofThisUser) }
        if !content.isEmpty, !isSet("Content-Type"), values.httpMethod == "POST" {
            // URLSession has always sent this type, and servers expect it.
            try fields.append("Content-Type", "application/x-www-form-urlencoded")
        }
        if let own { try add(own, to: &fields) { _ in true } }
        // Many of both are compared by a set; to make one for a few would cost more.
        let isMuch = (own?.count ?? 0) * session.count > 4_096
        let names = isMuch ? own.map { own in Set((0..<own.count).map { own.name(at: $0).lowercased() }) } : nil
        try add(session, to: &fields) { name in
            settings.applies(name, to: names == nil ? own : nil, hasLeftOrigin: hasLeftOrigin)
                && names?.contains(name.lowercased()) != true
                && !(offersIdentity && HeaderNames.areEqual(name, "Accept-Encoding"))
        }
        for (name, value) in extra + secrets { try fields.replace(name, octets: value) }
        return fields
    }

    private func add(
        _ other: HTTPFields,
        to fields: inout HTTPFields,
        where isWanted: (String) -> Bool
    ) throws(HTTP1Error) {
        for index in 0..<other.count {
            let name = other.name(at: index)
            guard isWanted(name) else { continue }
            let lowercased = name.lowercased()
            // Of the Connection field, a caller may only set `close` (RFC 9112 §9.6).
            if lowercased == "connection", other.value(at: index).lowercased() == "close" {
                try fields.append(name, "close")
            }
            guard !RequestBuilder.derived.contains(lowercased) else { continue }
            guard handshake == nil || !WebSocketOpening.derived.contains(lowercased) else { continue }
            try fields.append(other, at: index)
        }
    }

    private static func code(_ problem: HTTPURL.Problem) -> URLError.Code {
        switch problem {
        case .scheme: .unsupportedURL
        case .noScheme, .empty: .unsupportedURL
        case .userInformation, .host, .secondColon, .portSyntax, .portRange, .percent, .byte: .badURL
        }
    }
}

extension URLRequest {
    /// Whether the caller has named the accepted codings. Then the content is not decoded.
    var decidesOnCoding: Bool {
        values.fields.map { $0.contains("Accept-Encoding") || $0.contains("Range") } ?? false
    }
}

extension URLSession {
    /// How long a hook may take to answer a question about the task of this request; nil for no limit.
    package func answerLimit(of request: URLRequest?) -> Duration? {
        TimeLimit.duration(request?.values.explicitTimeout ?? ownConfiguration.timeoutIntervalForRequest)
    }
}

/// The value of Accept-Language (RFC 9110 §12.5.4): the user's languages, the preferred one first, for sessions and
/// managers. Foundation's `Locale.preferredLanguages` is `en-001` in the C locale, which no server knows.
package enum AcceptLanguage {
    package static let ofThisUser = value(for: languages(in: ProcessInfo.processInfo.environment))

    /// At most six languages, each with a weight a tenth lower than the one before. Weights below one half serve no
    /// purpose.
    package static func value(for languages: [String]) -> String {
        languages.prefix(6).enumerated().map { index, language in
            index == 0 ? "\(language);q=1" : "\(language);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }

    /// The languages in gettext's order. LANGUAGE is a list and comes first, except in the C locale; then LC_ALL,
    /// LC_MESSAGES, LANG. POSIX defines the C locale's messages as English.
    package static func languages(in environment: [String: String]) -> [String] {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.filter { !$0.isEmpty }
        guard let locale = names.first.flatMap(tag) else { return ["en"] }
        let list = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(String($0)) }
        var seen: Set<String> = []
        return (list + [locale]).filter { seen.insert($0.lowercased()).inserted }
    }

    /// The language tag (RFC 5646) of a locale: `de-DE` for `de_DE.UTF-8@euro`. Nil for C, POSIX and malformed names.
    private static func tag(_ locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        guard name != "C", name != "POSIX" else { return nil }
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        let areSubtags = parts.allSatisfy { part in
            (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { isLetterOrDigit($0) }
        }
        return areSubtags ? parts.joined(separator: "-") : nil
    }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        (octet | 0x20) &- 0x61 < 26 || octet &- 0x30 < 10
    }
}

/// One request on the network, with the facts that its answer is judged by.
struct Transaction {
    let request: EngineRequest
    /// The fields as they are sent, except those that the engine adds.
    let fields: HTTPFields
    let place: HTTPURL
    let url: URL
    /// Seconds since 1970.
    let sent: Int64
    /// The credentials that were sent with it.
    let authorized: SentAuthorization?
    /// The identity that its connection has shown to the server; nil for none, and before there is an answer.
    var identity: [UInt8]?

    var scope: CookieScope { CookieScope(place) }
}

/// A request that was sent without content, cookies and credentials: the head for an origin and its fields, into which
/// the target of another request like it is written.
final class PreparedRequest {
    let request: EngineRequest
    let fields: HTTPFields
    let place: HTTPURL
    private let asked: RequestStorage

    init(_ request: EngineRequest, _ fields: HTTPFields, to place: HTTPURL, for asked: RequestStorage) {
        (self.request, self.fields, self.place, self.asked) = (request, fields, place, asked)
    }

    /// Whether another request, of the same origin and without content, is sent with the same head and the same limits.
    func serves(_ other: RequestStorage) -> Bool {
        other === asked || PreparedRequest.saysTheSame(other.values, asked.values)
    }

    /// Compares the values that the server or the engine gets.
    private static func saysTheSame(_ one: RequestValues, _ other: RequestValues) -> Bool {
        guard one.httpMethod == other.httpMethod, one.explicitTimeout == other.explicitTimeout else { return false }
        switch (one.fields, other.fields) {
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
