import UncurlText
internal import UncurlWebSocket

/// Finds the route of a path. Routes are pure functions from request to response. They know no sockets and no time.
///
/// Names and formats are httpbin's. Further endpoints serve tests of clients (`/chunked`, `/download`, `/trailers`,
/// `/reset` …).
extension RouteResponse {
    typealias Handler = @Sendable (RouteRequest, [String]) -> RouteResponse

    /// A route: its methods, its treatment of a body, and its function.
    typealias Route = (methods: [String], intake: Intake, handler: Handler)

    static let read = ["GET", "HEAD", "OPTIONS"]
    static let any = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    /// The route for the first segment of a path; nil if there is none.
    static func route(for path: String) -> Route? {
        let first = path.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        return table[String(decoding: first, as: UTF8.self)]
    }

    static func respond(to request: RouteRequest) -> RouteResponse {
        if request.method == "CONNECT" { return .text("this server is no proxy\n", status: 501) }
        // Server-wide OPTIONS (RFC 9110 §9.3.7).
        if request.path == "*" { return options(any) }
        guard let route = route(for: request.path) else { return .notFound }
        guard route.methods.contains(request.method) else { return .methodNotAllowed(route.methods) }
        if request.method == "OPTIONS" { return options(route.methods) }
        return route.handler(request, Array(request.segments.dropFirst()))
    }

    private static func options(_ methods: [String]) -> RouteResponse {
        RouteResponse(200, .bytes([]), [Pair(name: "Allow", value: methods.joined(separator: ", "))])
    }

    private static func get(_ handler: @escaping Handler) -> Route {
        (read, .discard, handler)
    }

    private static func all(_ handler: @escaping Handler) -> Route {
        (any, .discard, handler)
    }

    private static func taking(_ methods: [String], _ handler: @escaping Handler) -> Route {
        (methods + ["OPTIONS"], .collect, handler)
    }

    static let table: [String: Route] = [
        "": get { _, rest in rest.isEmpty ? .text(home) : .notFound },
        "count": get { request, _ in .text("\(request.requestCount)\n") },
        // Requests shown.
        "get": get(shown),
        "head": get(shown),
        "options": all(shown),
        "post": taking(["POST"], shownWithBody),
        "put": taking(["PUT"], shownWithBody),
        "patch": taking(["PATCH"], shownWithBody),
        "delete": taking(["DELETE"], shownWithBody),
        "anything": taking(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) { request, _ in .json(everything(request))
        },
        "headers": get { request, _ in .json(["headers": headers(request)]) },
        "ip": get { request, _ in .json(["origin": .string(request.origin)]) },
        "user-agent": get { request, _ in
            .json(["user-agent": request.field("user-agent").map { .string($0) } ?? .null])
        },
        "upload": (["POST", "PUT", "PATCH", "OPTIONS"], .discard, upload),
        "resumable-upload": (any, .resume, upload),
        "echo": (["GET", "HEAD", "POST", "PUT", "PATCH"], .echo, echoNothing),
        // Status, redirection, cookies, authentication.
        "status": all(status),
        "response-headers": (["GET", "HEAD", "POST", "OPTIONS"], .discard, responseHeaders),
        "redirect": get(redirect),
        "relative-redirect": get { hop($0, $1, "/relative-redirect", isAbsolute: false) },
        "absolute-redirect": get { hop($0, $1, "/absolute-redirect", isAbsolute: true) },
        "redirect-to": all(redirectTo),
        "cookies": get(cookies),
        "basic-auth": get(basic),
        // Answers 404 where `/basic-auth` answers 401, and so hides that it exists.
        "hidden-basic-auth": get { check($0, $1) { .notFound } },
        "digest-auth": taking(["GET", "HEAD", "POST", "PUT"], digest),
        "bearer": get(bearer),
        "cache": get(cache),
        "etag": get(etag),
        "range": get(range),
        // Content.
        "gzip": get { request, _ in compressed(request, "gzipped", 31, "gzip") },
        // zlib's format, as RFC 9110 §8.4.1.2 defines it; with `?raw=1` the raw format that some servers send.
        "deflate": get { request, _ in
            compressed(request, "deflated", request.argument("raw") == "1" ? -15 : 15, "deflate")
        },
        "brotli": get { _, _ in .text("brotli needs a library this server does not link\n", status: 501) },
        "encoding": get { _, rest in rest == ["utf8"] ? .text(utf8, type: "text/html; charset=utf-8") : .notFound },
        "html": get { _, _ in .text(html, type: "text/html; charset=utf-8") },
        "xml": get { _, _ in .text(xml, type: "application/xml") },
        "json": get { _, _ in .json(json) },
        "robots.txt": get { _, _ in .text(robots, type: "text/plain") },
        "deny": get { _, _ in .text(deny, type: "text/plain") },
        "image": get(image),
        "base64": get(base64),
        "uuid": get(uuid),
        "links": get(links),
        // Bytes and time.
        "bytes": get(bytes),
        "stream-bytes": get(streamBytes),
        "stream": get(stream),
        "chunked": get(chunked),
        "payloads": get(payloads),
        "sse": get(events),
        "infinite": get(infinite),
        "download": get(download),
        "drip": get(drip),
        "slow-body": get(slowBody),
        "latency": get(latency),
        "delay": taking(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], delay),
        "trailers": get(trailers),
        "close": get(closeDelimited),
        "websocket": get(echo),
        // Faults.
        "hints": get { _, _ in
            // 103 with a Link, then 200 (RFC 8297).
            .text("hinted\n").with(\.hints, [Pair(name: "Link", value: "</style.css>; rel=preload; as=style")])
        },
        "headers-large": get(largeHeaders),
        // `/reset?after=n`: RST after n of 1,000,000 body octets, half by default. `/truncate` does so with a FIN.
        "reset": get { request, _ in cut(request) { .reset(after: $0) } },
        "truncate": get { request, _ in cut(request) { .truncated(after: $0) } },
        "never": all { _, _ in RouteResponse().with(\.fate, .silence) },
        "freeze": all(freeze),
    ]
}

/// Cookies: `/cookies`, `/cookies/set?a=1`, `/cookies/set/a/1`, `/cookies/delete?a`.
extension RouteResponse {
    static func cookies(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        switch rest.first {
        case nil: .json(["cookies": .grouping(request.cookies)])
        case "set" where rest.count == 3: set([Pair(name: rest[1], value: rest[2])])
        case "set" where rest.count == 1: set(request.arguments)
        case "delete" where rest.count == 1: delete(request.arguments)
        default: .notFound
        }
    }

    private static func set(_ cookies: [Pair]) -> RouteResponse {
        change(cookies) { "\($0.name)=\($0.value); Path=/" }
    }

    private static func delete(_ cookies: [Pair]) -> RouteResponse {
        change(cookies) { "\($0.name)=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/" }
    }

    private static func change(_ cookies: [Pair], _ text: (Pair) -> String) -> RouteResponse {
        // cookie-name is a token; a ";" in a value would start an attribute (RFC 6265 §4.1.1).
        guard cookies.allSatisfy({ isField($0) && !$0.value.utf8.contains(UInt8(ascii: ";")) }) else {
            return .bad("a cookie's name is a token, and its value holds neither controls nor semicolons")
        }
        var response = RouteResponse.redirect(302, to: "/cookies")
        for cookie in cookies { response.fields.append(Pair(name: "Set-Cookie", value: text(cookie))) }
        return response
    }
}

/// Routes that redirect the client (RFC 9110 §15.4).
extension RouteResponse {
    /// `/redirect/n`: n hops to `/get`; relative ones unless `?absolute=true`.
    static func redirect(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let isAbsolute = request.argument("absolute")?.equalsIgnoringCase("true") == true
        return hop(request, rest, isAbsolute ? "/absolute-redirect" : "/relative-redirect", isAbsolute: isAbsolute)
    }

    /// `/redirect-to?url=…&status_code=307` (or `statusCode`); `&length=n`: n octets of content.
    static func redirectTo(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        guard let url = request.argument("url") else { return .bad("url is missing") }
        guard isField(Pair(name: "location", value: url)) else {
            return .bad("url holds control characters")
        }
        var status = 302
        if let text = request.argument("status_code") ?? request.argument("statusCode") {
            guard let code = Int(text), (300...399).contains(code) else {
                return .bad("status_code is a number from 300 to 399")
            }
            status = code
        }
        return .redirect(status, to: url).withContent(request)
    }

    private static func hop(
        _ request: RouteRequest,
        _ rest: [String],
        _ next: String,
        isAbsolute: Bool
    ) -> RouteResponse {
        guard rest.count == 1 else { return .notFound }
        guard let left = number(rest[0], upTo: mostRedirects), left > 0 else {
            return .bad("the hops are a number from 1 to \(mostRedirects)")
        }
        let path = left == 1 ? "/get" : "\(next)/\(left - 1)"
        return .redirect(302, to: isAbsolute ? "\(request.scheme)://\(request.authority)\(path)" : path)
    }
}

/// `/websocket` sends each message back (RFC 6455), compressed unless `?deflate=0`. It accepts every subprotocol.
extension RouteResponse {
    static func echo(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let values = { (name: String) in
            request.fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
        }
        guard names(values("Connection"), "upgrade"), names(values("Upgrade"), "websocket"), request.method == "GET",
            !request.isHTTP10,
            let handshake = try? ServerHandshake(
                values,
                deflates: request.argument("deflate") != "0",
                speaking: { _ in true }
            )
        else {
            // RFC 6455 §4.4, RFC 9110 §15.5.22.
            return RouteResponse.text("this route speaks WebSocket 13\n", status: 426)
                .with("Connection", "Upgrade").with("Upgrade", "websocket")
                .with(ServerHandshake.version.name, ServerHandshake.version.value)
        }
        var response = RouteResponse(101, .none).with("Connection", "Upgrade").with("Upgrade", "websocket")
        for (name, value) in handshake.fields { response = response.with(name, value) }
        response.upgrade = handshake.agreement
        return response
    }

    private static func names(_ values: [String], _ token: String) -> Bool {
        values.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.contains { element in
            String(decoding: element.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self).equalsIgnoringCase(token)
        }
    }
}

/// Routes that answer with a status or with fields of the client's choice.
extension RouteResponse {
    /// `/status/418`, `/status/200,503`, or weighted: `/status/200:0.9,503:0.1`.
    static func status(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.count == 1 else { return .notFound }
        var choices: [(status: Int, weight: Double)] = []
        for part in rest[0].utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let pieces = part.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
                .map { Substring($0) }
            // A 1xx is not a final answer: the client would wait for another.
            guard let status = Int(pieces[0]), (200...999).contains(status) else {
                return .bad("a status is a number from 200 to 999")
            }
            guard let weight = pieces.count == 1 ? 1 : Double(pieces[1]), weight >= 0, weight.isFinite else {
                return .bad("a weight is a number from 0 up")
            }
            choices.append((status, weight))
        }
        return answer(choose(choices, by: request.random))
    }

    private static func choose(_ choices: [(status: Int, weight: Double)], by random: UInt64) -> Int {
        let total = choices.reduce(0) { $0 + $1.weight }
        var point = Double(random >> 11) / Double(1 << 53) * total
        for choice in choices {
            point -= choice.weight
            if point < 0 { return choice.status }
        }
        return choices.last?.status ?? 200
    }

    /// The answer with the fields that the status requires.
    static func answer(_ status: Int) -> RouteResponse {
        switch status {
        case 204, 304: RouteResponse(status, .none)
        case 301, 302, 303, 305, 307, 308: .redirect(status, to: "/redirect/1")
        case 401:
            RouteResponse(status, .bytes([]), [Pair(name: "WWW-Authenticate", value: "Basic realm=\"Fake Realm\"")])
        case 407:
            RouteResponse(status, .bytes([]), [Pair(name: "Proxy-Authenticate", value: "Basic realm=\"Fake Realm\"")])
        case 418: .text("I'm a teapot\n", status: status)
        default: RouteResponse(status)
        }
    }

    /// Each argument becomes a field, and the body shows them.
    static func responseHeaders(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let arguments = request.arguments
        guard arguments.allSatisfy({ isField($0) }) else {
            return .bad("a field name is a token, and a value holds no control characters")
        }
        let framing = ["content-length", "transfer-encoding", "connection", "content-type", "date", "server"]
        let own = arguments.filter { pair in !framing.contains { $0.equalsIgnoringCase(pair.name) } }
        let type = arguments.first { $0.name.equalsIgnoringCase("content-type") }?.value ?? "application/json"
        let shown = own + [Pair(name: "Content-Type", value: type)]
        return RouteResponse(200, .bytes(JSONTree.grouping(shown).serialized()), shown)
    }

    /// Whether the pair is a valid field (RFC 9110 §5.6.2 and §5.5): a CR or LF in the query must not make another
    /// field.
    static func isField(_ pair: Pair) -> Bool {
        let separators = Array("\"(),/:;<=>?@[\\]{}".utf8)
        return !pair.name.isEmpty
            && pair.name.utf8.allSatisfy { (33...126).contains($0) && !separators.contains($0) }
            && pair.value.utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 9 }
    }
}

/// Parses numbers in paths and queries. Each has a bound, so that no route does more than a test needs.
extension RouteResponse {
    /// Whole numbers from 0 to `most`; nil for anything else.
    static func number(_ text: String?, upTo most: UInt64) -> UInt64? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        guard let value = UInt64(text), value <= most else { return nil }
        return value
    }

    /// Seconds with an optional fraction, cut to `most`; nil for anything else or below 0.
    static func seconds(_ text: String?, upTo most: Double) -> Duration? {
        guard let text, let value = Double(text), value >= 0, value.isFinite else { return nil }
        return .nanoseconds(Int64((min(value, most) * 1e9).rounded()))
    }

    // MARK: The bounds of the routes

    /// `/delay`, `/drip`: httpbin's own bound.
    static let mostSeconds = 10.0
    /// `/bytes`, `/range`, `/stream-bytes`, `/download`, `length`: 1 GiB is a long download on loopback, and costs no
    /// memory here.
    static let mostBytes: UInt64 = 1 << 30
    /// `/stream`, `/chunked`, `/payloads`: pieces.
    static let mostPieces: UInt64 = 100_000
    /// `/redirect`: clients give up at 20 to 50.
    static let mostRedirects: UInt64 = 1000
    static let mostLinks: UInt64 = 200
    /// `/headers-large`: above any client's limit, and still sent at once.
    static let mostHeaderBytes: UInt64 = 1 << 20
    /// `/freeze`, in milliseconds.
    static let mostFreeze: UInt64 = 10_000
}
