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

    enum Framing: Sendable, Equatable {
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
        guard let length = Arguments.count(text, upTo: Arguments.mostBytes) else {
            return .bad("length is a number from 0 to \(Arguments.mostBytes)")
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

/// A body that is made while it is sent, piece by piece, so that its length costs no memory.
struct BodyGenerator: Sendable {
    /// The result of one call.
    enum Step: Equatable, Sendable {
        /// A piece was appended.
        case piece
        /// No piece yet; the caller tries again after this time.
        case pause(Duration)
        case end
    }

    private enum Source: Sendable {
        case random(PseudoRandom, left: UInt64, piece: Int)
        case repeating([UInt8], left: UInt64)
        case cyclic([UInt8], at: Int, left: UInt64)
        case numbered(Range<UInt64>, @Sendable (UInt64) -> [UInt8])
    }

    private var source: Source
    /// The pause between two pieces.
    private let interval: Duration
    private var rests = false

    /// `count` bytes of the random generator with this seed, in pieces of at most `piece` bytes.
    static func random(_ count: UInt64, seed: UInt64, piece: Int = 16 * 1024) -> BodyGenerator {
        BodyGenerator(.random(PseudoRandom(seed: seed), left: count, piece: max(1, piece)))
    }

    /// The same piece `times` times; `UInt64.max` never ends.
    static func repeating(_ piece: [UInt8], times: UInt64, every interval: Duration = .zero) -> BodyGenerator {
        BodyGenerator(.repeating(piece, left: times), every: interval)
    }

    /// `count` octets of the repeated `pattern`, from offset `start` on.
    static func cyclic(_ pattern: [UInt8], from start: UInt64, count: UInt64) -> BodyGenerator {
        BodyGenerator(.cyclic(pattern, at: Int(start % UInt64(max(1, pattern.count))), left: count))
    }

    /// A piece for each number, made when it is sent.
    static func numbered(
        _ numbers: Range<UInt64>,
        every interval: Duration = .zero,
        _ piece: @escaping @Sendable (UInt64) -> [UInt8]
    ) -> BodyGenerator {
        BodyGenerator(.numbered(numbers, piece), every: interval)
    }

    private init(_ source: Source, every interval: Duration = .zero) {
        self.source = source
        self.interval = interval
    }

    /// Appends the next piece, of at most 16 KiB unless longer pieces were requested.
    mutating func next(into bytes: inout [UInt8]) -> Step {
        if rests {
            rests = false
            if !isAtEnd { return .pause(interval) }
        }
        rests = interval > .zero
        switch source {
        case .random(var random, let left, let piece):
            guard left > 0 else { return .end }
            let count = Int(min(left, UInt64(piece)))
            random.append(count, to: &bytes)
            source = .random(random, left: left - UInt64(count), piece: piece)
        case .repeating(let piece, let left):
            guard left > 0 else { return .end }
            bytes += piece
            source = .repeating(piece, left: left == .max ? left : left - 1)
        case .cyclic(let pattern, let at, let left):
            guard left > 0, !pattern.isEmpty else { return .end }
            let count = Int(min(left, 16 * 1024))
            for step in 0..<count { bytes.append(pattern[(at + step) % pattern.count]) }
            source = .cyclic(pattern, at: (at + count) % pattern.count, left: left - UInt64(count))
        case .numbered(let numbers, let piece):
            guard let number = numbers.first else { return .end }
            bytes += piece(number)
            source = .numbered(number + 1..<numbers.upperBound, piece)
        }
        return .piece
    }

    private var isAtEnd: Bool {
        switch source {
        case .random(_, let left, _), .repeating(_, let left), .cyclic(_, _, let left): left == 0
        case .numbered(let numbers, _): numbers.isEmpty
        }
    }
}
