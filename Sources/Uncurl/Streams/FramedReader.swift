internal import URLLoading

/// Cuts content that comes in pieces into frames: lines, events.
protocol StreamFramer {
    associatedtype Frame

    /// Adds to `frames` what this piece completes. Of `Data` and nothing else: a generic collection's octets would be
    /// looked at one call each.
    mutating func cut(_ piece: Data, into frames: inout [Frame]) throws(StreamFailure)

    /// The content has ended: the frame that its end completes, if any.
    mutating func finish() throws(StreamFailure) -> Frame?
}

extension LineSplitter: StreamFramer {
    mutating func cut(_ piece: Data, into lines: inout [[UInt8]]) throws(StreamFailure) {
        try take(piece, into: &lines)
    }
}

extension ServerSentEventParser: StreamFramer {
    mutating func cut(_ piece: Data, into events: inout [ServerSentEvent]) throws(StreamFailure) {
        try take(piece, into: &events)
    }

    /// An event that the content's end leaves unfinished is none.
    mutating func finish() throws(StreamFailure) -> ServerSentEvent? { nil }
}

/// Frames as they are asked for; those before one that is too long are still given. After the end and after an error
/// there are none.
struct FramedReader<Base: AsyncIteratorProtocol, Framer: StreamFramer> where Base.Element == Data {
    private var base: Base
    private var framer: Framer
    private var frames = Backlog<Framer.Frame>()
    private var isOver = false

    init(_ base: Base, _ framer: Framer) {
        self.base = base
        self.framer = framer
    }

    mutating func next() async throws -> Framer.Frame? {
        while true {
            if let frame = try frames.next() { return frame }
            if isOver { return nil }
            // No frame follows an error from here on.
            isOver = true
            guard let data = try await base.next(isolation: #isolation) else { return try framer.finish() }
            isOver = !frames.fill { frames throws(StreamFailure) in try framer.cut(data, into: &frames) }
        }
    }
}

/// What one piece of content held, given one by one; then the error that ended it, if any.
struct Backlog<Value> {
    private var values: [Value] = []
    private var position = 0
    private var failure: StreamFailure?

    var isEmpty: Bool { position == values.count }

    /// True unless it failed.
    mutating func fill(_ body: (inout [Value]) throws(StreamFailure) -> Void) -> Bool {
        values.removeAll(keepingCapacity: true)
        position = 0
        do throws(StreamFailure) {
            try body(&values)
            return true
        } catch {
            failure = error
            return false
        }
    }

    mutating func next() throws(StreamFailure) -> Value? {
        if position < values.count {
            defer { position += 1 }
            return values[position]
        }
        if let failure = failure.take() { throw failure }
        return nil
    }
}
