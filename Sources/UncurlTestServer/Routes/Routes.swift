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
