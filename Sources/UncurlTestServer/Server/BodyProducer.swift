internal import UncurlHTTP1

/// A generated body while it is sent: framed, and cut where the route says so.
struct BodyProducer {
    enum Step {
        case more
        case pause(Duration)
        case end
        case cut(ServerMachine.Ending)
    }

    private var generator: BodyGenerator
    private let isChunked: Bool
    private let trailers: [Pair]
    private let ending: ServerMachine.Ending?
    /// The bytes of the body before the cut.
    private var left: UInt64

    init(
        _ generator: BodyGenerator,
        _ wanted: RouteResponse.Framing,
        _ framing: ResponseWriter.Framing,
        _ fate: RouteResponse.Fate
    ) {
        self.generator = generator
        isChunked = framing == .chunked
        switch wanted {
        case .chunked(let trailers): self.trailers = trailers
        case .length, .untilClose: trailers = []
        }
        switch fate {
        case .truncated(let offset): (left, ending) = (offset, .linger)
        case .reset(let offset): (left, ending) = (offset, .reset)
        case .normal, .silence, .freeze: (left, ending) = (.max, nil)
        }
    }

    /// HTTP/1.0 has no chunks, so its body ends with the connection (RFC 9112 §6.1).
    static func framing(_ wanted: RouteResponse.Framing, _ version: HTTPVersion) -> ResponseWriter.Framing {
        switch wanted {
        case .length(let count): .length(count)
        case .chunked: version.minor > 0 ? .chunked : .untilClose
        case .untilClose: .untilClose
        }
    }

    /// Appends the next piece to the output.
    mutating func next(_ shared: ServerScratch) -> Step {
        if let ending, left == 0 { return .cut(ending) }
        shared.piece.removeAll(keepingCapacity: true)
        switch generator.next(into: &shared.piece) {
        case .pause(let span): return .pause(span)
        case .piece:
            let count = Int(min(UInt64(shared.piece.count), left))
            if left != .max { left -= UInt64(count) }
            let piece = shared.piece
            let octets = piece.span.extracting(first: count)
            if isChunked {
                MessageSerializer.appendChunk(octets, to: &shared.output)
            } else {
                shared.output.append(octets)
            }
            return .more
        case .end:
            if isChunked { appendLastChunk(to: &shared.output) }
            return .end
        }
    }

    private func appendLastChunk(to output: inout [UInt8]) {
        var fields = HTTPFields()
        do throws(HTTP1Error) {
            for trailer in trailers { try fields.append(trailer.name, trailer.value) }
            try MessageSerializer.appendLastChunk(trailers: fields, to: &output)
        } catch {
            // The trailers are valid constants of the routes. Without them, the body still needs its end.
            output.append("0\r\n\r\n")
        }
    }
}
