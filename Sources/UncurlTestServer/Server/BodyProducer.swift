internal import UncurlHTTP1
import UncurlText

/// A generated body while it is sent: framed, and cut where the route says so.
struct BodyProducer {
    private var generator: BodyGenerator
    /// The trailers of a body in chunks; nil for another framing.
    private let trailers: [Pair]?
    private let ending: ServerMachine.Ending?
    /// The bytes of the body before the cut.
    private var left: UInt64

    init(_ generator: BodyGenerator, _ framing: RouteResponse.Framing, _ fate: RouteResponse.Fate) {
        self.generator = generator
        trailers = if case .chunked(let trailers) = framing { trailers } else { nil }
        switch fate {
        case .truncated(let offset): (left, ending) = (offset, .linger)
        case .reset(let offset): (left, ending) = (offset, .reset)
        case .normal, .silence, .freeze: (left, ending) = (.max, nil)
        }
    }

    /// How the connection ends, once the body has come to its cut.
    var cut: ServerMachine.Ending? { left == 0 ? ending : nil }

    /// Appends the next piece to the output. The end is the body's, or its ``cut``.
    mutating func next(_ shared: ServerScratch) -> BodyGenerator.Step {
        if cut != nil { return .end }
        shared.piece.removeAll(keepingCapacity: true)
        let step = generator.next(into: &shared.piece)
        switch step {
        case .pause: break
        case .piece:
            let count = Int(min(UInt64(shared.piece.count), left))
            if left != .max { left -= UInt64(count) }
            let piece = shared.piece
            let octets = piece.span.extracting(first: count)
            if trailers == nil {
                shared.output.append(octets)
            } else {
                MessageSerializer.appendChunk(octets, to: &shared.output)
            }
        case .end:
            if let trailers { appendLastChunk(trailers, to: &shared.output) }
        }
        return step
    }

    private func appendLastChunk(_ trailers: [Pair], to output: inout [UInt8]) {
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
