internal import UncurlWebSocket

/// Finds the route of a path. Routes are pure functions from request to response. They know no sockets and no time.
///
/// Names and formats are httpbin's. Further endpoints serve tests of clients (`/chunked`, `/download`, `/trailers`,
/// `/reset` …).
enum Routes {
    typealias Handler = @Sendable (RouteRequest, [String]) -> RouteResponse

    /// A route: its methods, its treatment of a body, and its function.
    struct Route: Sendable {
        var methods: [String]
        var intake: Intake
        var handler: Handler
    }

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
        Route(methods: read, intake: .discard, handler: handler)
    }

    private static func all(_ handler: @escaping Handler) -> Route {
        Route(methods: any, intake: .discard, handler: handler)
    }

    private static func taking(_ methods: [String], _ handler: @escaping Handler) -> Route {
        Route(methods: methods + ["OPTIONS"], intake: .collect, handler: handler)
    }

    static let table: [String: Route] = [
        "": get { _, rest in rest.isEmpty ? .text(Samples.home) : .notFound },
        "count": get { request, _ in .text("\(request.requestCount)\n") },
        // Requests shown.
        "get": get(Inspection.get),
        "head": get(Inspection.get),
        "options": all(Inspection.get),
        "post": taking(["POST"], Inspection.withBody),
        "put": taking(["PUT"], Inspection.withBody),
        "patch": taking(["PATCH"], Inspection.withBody),
        "delete": taking(["DELETE"], Inspection.withBody),
        "anything": taking(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], Inspection.anything),
        "headers": get(Inspection.headers),
        "ip": get(Inspection.ip),
        "user-agent": get(Inspection.userAgent),
        "upload": Route(methods: ["POST", "PUT", "PATCH", "OPTIONS"], intake: .discard, handler: Inspection.upload),
        "resumable-upload": Route(methods: any, intake: .resume, handler: Inspection.upload),
        "echo": Route(
            methods: ["GET", "HEAD", "POST", "PUT", "PATCH"],
            intake: .echo,
            handler: Inspection.echoNothing
        ),
        // Status, redirection, cookies, authentication.
        "status": all(StatusRoutes.status),
        "response-headers": Route(
            methods: ["GET", "HEAD", "POST", "OPTIONS"],
            intake: .discard,
            handler: StatusRoutes.responseHeaders
        ),
        "redirect": get(RedirectRoutes.redirect),
        "relative-redirect": get(RedirectRoutes.relative),
        "absolute-redirect": get(RedirectRoutes.absolute),
        "redirect-to": all(RedirectRoutes.redirectTo),
        "cookies": get(CookieRoutes.cookies),
        "basic-auth": get(AuthRoutes.basic),
        "hidden-basic-auth": get(AuthRoutes.hiddenBasic),
        "digest-auth": taking(["GET", "HEAD", "POST", "PUT"], DigestRoutes.digest),
        "bearer": get(AuthRoutes.bearer),
        "cache": get(ConditionalRoutes.cache),
        "etag": get(ConditionalRoutes.etag),
        "range": get(ConditionalRoutes.range),
        // Content.
        "gzip": get(ContentRoutes.gzip),
        "deflate": get(ContentRoutes.deflate),
        "brotli": get { _, _ in .text("brotli needs a library this server does not link\n", status: 501) },
        "encoding": get(ContentRoutes.encoding),
        "html": get { _, _ in .text(Samples.html, type: "text/html; charset=utf-8") },
        "xml": get { _, _ in .text(Samples.xml, type: "application/xml") },
        "json": get { _, _ in .json(Samples.json) },
        "robots.txt": get { _, _ in .text(Samples.robots, type: "text/plain") },
        "deny": get { _, _ in .text(Samples.deny, type: "text/plain") },
        "image": get(ContentRoutes.image),
        "base64": get(ContentRoutes.base64),
        "uuid": get(ContentRoutes.uuid),
        "links": get(ContentRoutes.links),
        // Bytes and time.
        "bytes": get(StreamRoutes.bytes),
        "stream-bytes": get(StreamRoutes.streamBytes),
        "stream": get(StreamRoutes.stream),
        "chunked": get(StreamRoutes.chunked),
        "payloads": get(StreamRoutes.payloads),
        "sse": get(StreamRoutes.events),
        "infinite": get(StreamRoutes.infinite),
        "download": get(StreamRoutes.download),
        "drip": get(StreamRoutes.drip),
        "slow-body": get(StreamRoutes.slowBody),
        "latency": get(StreamRoutes.latency),
        "delay": taking(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], StreamRoutes.delay),
        "trailers": get(StreamRoutes.trailers),
        "close": get(StreamRoutes.closeDelimited),
        "websocket": get(WebSocketRoutes.echo),
        // Faults.
        "hints": get(FaultRoutes.hints),
        "headers-large": get(FaultRoutes.largeHeaders),
        "reset": get(FaultRoutes.reset),
        "truncate": get(FaultRoutes.truncate),
        "never": all(FaultRoutes.never),
        "freeze": all(FaultRoutes.freeze),
    ]
}

/// `/cookies`, `/cookies/set?a=1`, `/cookies/set/a/1`, `/cookies/delete?a`.
enum CookieRoutes {
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
        guard cookies.allSatisfy({ StatusRoutes.isField($0) && !$0.value.utf8.contains(UInt8(ascii: ";")) }) else {
            return .bad("a cookie's name is a token, and its value holds neither controls nor semicolons")
        }
        var response = RouteResponse.redirect(302, to: "/cookies")
        for cookie in cookies { response.fields.append(Pair(name: "Set-Cookie", value: text(cookie))) }
        return response
    }
}

/// Routes that redirect the client (RFC 9110 §15.4).
enum RedirectRoutes {
    /// `/redirect/n`: n hops to `/get`; relative ones unless `?absolute=true`.
    static func redirect(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        let isAbsolute = request.argument("absolute")?.equalsIgnoringCase("true") == true
        return hop(request, rest, isAbsolute ? "/absolute-redirect" : "/relative-redirect", isAbsolute: isAbsolute)
    }

    static func relative(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        hop(request, rest, "/relative-redirect", isAbsolute: false)
    }

    static func absolute(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        hop(request, rest, "/absolute-redirect", isAbsolute: true)
    }

    /// `/redirect-to?url=…&status_code=307` (or `statusCode`); `&length=n`: n octets of content.
    static func redirectTo(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.isEmpty else { return .notFound }
        guard let url = request.argument("url") else { return .bad("url is missing") }
        guard StatusRoutes.isField(Pair(name: "location", value: url)) else {
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
        guard let left = Arguments.count(rest[0], upTo: RouteLimits.redirects), left > 0 else {
            return .bad("the hops are a number from 1 to \(RouteLimits.redirects)")
        }
        let path = left == 1 ? "/get" : "\(next)/\(left - 1)"
        return .redirect(302, to: isAbsolute ? "\(request.scheme)://\(request.authority)\(path)" : path)
    }
}

/// `/websocket` sends each message back (RFC 6455), compressed unless `?deflate=0`. It accepts every subprotocol.
enum WebSocketRoutes {
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
