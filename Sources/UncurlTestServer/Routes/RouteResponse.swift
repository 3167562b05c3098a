import UncurlHTTP1
import UncurlText
internal import UncurlWebSocket

/// The answer of a route. It is a description, which the connection turns into bytes and delays.
struct RouteResponse: Sendable {
    var status = 200
    var fields: [Pair] = []
    var body = Body.bytes([])
    /// The trailer section of a chunked body (RFC 9112 §7.1.2).
    var trailers: [Pair] = []
    /// The fields of a 103 response before this one (RFC 8297).
    var hints: [Pair] = []
    var delay = Duration.zero
    var fate = Fate.normal
    /// With 101, the WebSocket agreement of the connection from then on.
    var upgrade: Agreement?

    enum Body: Sendable {
        /// Neither body nor Content-Length: 204 and 304 (RFC 9110 §8.6).
        case none
        case bytes([UInt8])
        case generated(BodyGenerator, BodyFraming)
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
        let methods = allowed.joined(separator: ", ")
        return RouteResponse.text("this route answers \(methods)\n", status: 405).with("Allow", methods)
    }

    static func redirect(_ status: Int, to location: String) -> RouteResponse {
        RouteResponse(status, .bytes([]), [Pair(name: "Location", value: location)])
    }

    /// The same with as much content as the argument `length` asks for.
    func withContent(_ request: RouteRequest) -> RouteResponse {
        guard let text = request.argument("length") else { return self }
        guard let length = Self.number(text, upTo: Self.mostBytes) else {
            return .bad("length is a number from 0 to \(Self.mostBytes)")
        }
        return with(\.body, .generated(.random(length, seed: 0), .length(length)))
    }

    func with(_ name: String, _ value: String) -> RouteResponse {
        with(\.fields, fields + [Pair(name: name, value: value)])
    }

    func with<Property>(_ property: WritableKeyPath<RouteResponse, Property>, _ value: Property) -> RouteResponse {
        var response = self
        response[keyPath: property] = value
        return response
    }
}

/// A body that is made while it is sent, piece by piece, so that its length costs no memory.
struct BodyGenerator: Sendable {
    /// The result of one call.
    enum Step: Equatable, Sendable {
        case piece
        /// No piece yet; the caller tries again after this time.
        case pause(Duration)
        case end
    }

    private var numbers: Range<UInt64>
    private let interval: Duration
    private let append: @Sendable (_ number: UInt64, _ bytes: inout [UInt8]) -> Void
    private var rests = false

    private init(
        _ numbers: Range<UInt64>,
        every interval: Duration = .zero,
        _ append: @escaping @Sendable (UInt64, inout [UInt8]) -> Void
    ) {
        (self.numbers, self.interval, self.append) = (numbers, interval, append)
    }

    /// `count` bytes of the random generator with this seed, in pieces of at most `piece` bytes.
    static func random(_ count: UInt64, seed: UInt64, piece: Int = 16 * 1024) -> BodyGenerator {
        sliced(count, by: UInt64(max(1, piece))) { part, bytes in bytes.append(random: part, seed: seed) }
    }

    /// The same piece `times` times; `UInt64.max` never ends.
    static func repeating(_ piece: [UInt8], times: UInt64, every interval: Duration = .zero) -> BodyGenerator {
        BodyGenerator(0..<times, every: interval) { _, bytes in bytes += piece }
    }

    /// `count` octets of the repeated `pattern`, from offset `start` on.
    static func cyclic(_ pattern: [UInt8], from start: UInt64, count: UInt64) -> BodyGenerator {
        sliced(count, by: 16 * 1024) { part, bytes in
            for place in part { bytes.append(pattern[Int((start + place) % UInt64(pattern.count))]) }
        }
    }

    /// A piece for each number, made when it is sent.
    static func numbered(
        _ numbers: Range<UInt64>,
        every interval: Duration = .zero,
        _ piece: @escaping @Sendable (UInt64) -> [UInt8]
    ) -> BodyGenerator {
        BodyGenerator(numbers, every: interval) { number, bytes in bytes += piece(number) }
    }

    private static func sliced(
        _ count: UInt64,
        by size: UInt64,
        _ append: @escaping @Sendable (_ part: Range<UInt64>, _ bytes: inout [UInt8]) -> Void
    ) -> BodyGenerator {
        BodyGenerator(0..<(count / size + (count % size > 0 ? 1 : 0))) { number, bytes in
            append(number * size..<min(count, (number + 1) * size), &bytes)
        }
    }

    /// Appends the next piece, of at most 16 KiB unless longer pieces were requested.
    mutating func next(into bytes: inout [UInt8]) -> Step {
        guard let number = numbers.first else { return .end }
        if rests {
            rests = false
            return .pause(interval)
        }
        rests = interval > .zero
        append(number, &bytes)
        numbers = number + 1..<numbers.upperBound
        return .piece
    }
}
