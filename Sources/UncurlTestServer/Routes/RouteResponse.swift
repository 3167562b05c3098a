import UncurlText
internal import UncurlWebSocket

/// The answer of a route. It is a description, which the connection turns into bytes and delays.
struct RouteResponse: Sendable {
    var status = 200
    var fields: [Pair] = []
    var body = Body.bytes([])
    /// The fields of a 103 response before this one (RFC 8297).
    var hints: [Pair] = []
    /// The delay before the head.
    var delay = Duration.zero
    var fate = Fate.normal
    /// With 101, the WebSocket agreement of the connection from then on.
    var upgrade: Agreement?

    enum Body: Sendable {
        /// Neither body nor Content-Length: 204 and 304 (RFC 9110 §8.6).
        case none
        case bytes([UInt8])
        case generated(BodyGenerator, Framing)
    }

    enum Framing: Sendable {
        case length(UInt64)
        /// With a trailer section where fields are given (RFC 9112 §7.1.2).
        case chunked(trailers: [Pair])
        case untilClose
    }

    /// Faults on request.
    enum Fate: Sendable, Equatable {
        case normal
        /// FIN after this many bytes of the body, whatever length was announced.
        case truncated(after: UInt64)
        /// RST after this many bytes of the body.
        case reset(after: UInt64)
        /// No answer at all.
        case silence
        /// The whole server sleeps once, then this response is sent.
        case freeze(Duration)
    }

    init(_ status: Int = 200, type: String? = nil, _ body: Body = .bytes([]), _ fields: [Pair] = []) {
        self.status = status
        self.fields = fields
        self.body = body
        if let type { self.fields.append(Pair(name: "Content-Type", value: type)) }
    }

    static func json(_ value: JSONTree, status: Int = 200, _ fields: [Pair] = []) -> RouteResponse {
        RouteResponse(status, type: "application/json", .bytes(value.serialized()), fields)
    }

    static func text(_ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8") -> RouteResponse {
        RouteResponse(status, type: type, .bytes(Array(text.utf8)))
    }

    /// The answer to an argument that is out of range or malformed, with the reason in one line.
    static func bad(_ reason: String) -> RouteResponse { .text("\(reason)\n", status: 400) }

    static let notFound = RouteResponse.text("no such route\n", status: 404)

    static func methodNotAllowed(_ allowed: [String]) -> RouteResponse {
        var response = RouteResponse.text("this route answers \(allowed.joined(separator: ", "))\n", status: 405)
        response.fields.append(Pair(name: "Allow", value: allowed.joined(separator: ", ")))
        return response
    }

    static func redirect(_ status: Int, to location: String) -> RouteResponse {
        RouteResponse(status, .bytes([]), [Pair(name: "Location", value: location)])
    }

    /// The same with as much content as the argument `length` asks for.
    func withContent(_ request: RouteRequest) -> RouteResponse {
        guard let text = request.argument("length") else { return self }
        guard let length = Arguments.count(text, upTo: RouteLimits.bytes) else {
            return .bad("length is a number from 0 to \(RouteLimits.bytes)")
        }
        var response = self
        response.body = .generated(.random(length, seed: 0), .length(length))
        return response
    }

    func with(_ name: String, _ value: String) -> RouteResponse {
        var response = self
        response.fields.append(Pair(name: name, value: value))
        return response
    }
}
