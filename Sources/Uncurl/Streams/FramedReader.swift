public import URLLoading

/// Cuts content that comes in pieces into frames, such as lines or events.
protocol StreamFramer {
    associatedtype Frame

    /// Appends to `frames` the frames that this piece completes. The type is `Data`: with a generic collection, each
    /// octet would cost a call.
    mutating func cut(_ piece: Data, into frames: inout [Frame]) throws(StreamFailure)

    /// Called at the end of the content. Returns the frame that the end completes, if any.
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

    /// An event without the empty line after it is dropped at the end of the content.
    mutating func finish() throws(StreamFailure) -> ServerSentEvent? { nil }
}

/// Returns frames one by one. The frames before one that is too long are still returned. After the end and after an
/// error there are no frames.
struct FramedReader<Base: AsyncIteratorProtocol, Framer: StreamFramer> where Base.Element == Data {
    private var base: Base
    private var framer: Framer
    private var frames = FrameBacklog<Framer.Frame>()
    private var isOver = false

    init(_ base: Base, _ framer: Framer) {
        self.base = base
        self.framer = framer
    }

    mutating func next() async throws -> Framer.Frame? {
        while true {
            if let frame = try frames.next() { return frame }
            if isOver { return nil }
            // No frame follows an error.
            isOver = true
            guard let data = try await base.next(isolation: #isolation) else { return try framer.finish() }
            isOver = !frames.fill { frames throws(StreamFailure) in try framer.cut(data, into: &frames) }
        }
    }
}

/// The frames of one piece of content, returned one by one, then the error that ended it, if any.
struct FrameBacklog<Value> {
    private var values: [Value] = []
    private var position = 0
    private var failure: StreamFailure?

    var isEmpty: Bool { position == values.count }

    /// - Returns: false if `body` failed.
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

/// Why a stream of content cannot be read.
@frozen public enum StreamFailure: Error, Sendable {
    /// A line has more bytes than the limit.
    case lineTooLong(limit: Int)
    /// An event has more bytes than the limit.
    case eventTooLong(limit: Int)
    /// This many attempts in a row brought no event.
    case noEvent(attempts: Int)
    /// A line (counted from 1) is not a document of the expected kind.
    case undecodableLine(number: Int, line: Data, underlying: any Error)
}

extension StreamFailure: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .lineTooLong(let limit):
            "a line is longer than \(limit) bytes; lines(limit:) and jsonLines(limit:) set the limit"
        case .eventTooLong(let limit):
            "an event is longer than \(limit) bytes; events(limit:) and serverSentEvents(limit:) set the limit"
        case .noEvent(let attempts): "the stream ended without an event in each of \(attempts) attempts"
        case .undecodableLine(let number, _, let underlying):
            "line \(number) cannot be decoded: \(underlying.sentence)"
        }
    }
}
