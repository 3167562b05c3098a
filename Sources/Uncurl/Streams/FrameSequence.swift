public import URLLoading
internal import UncurlText

/// Cuts content that comes in pieces into frames, such as lines or events.
public protocol ContentFramer: Sendable {
    /// A line, an event, or another part of the content.
    associatedtype Frame

    /// Appends to `frames` the frames that this piece completes. The type is `Data`: with a generic collection, each
    /// octet would cost a call.
    mutating func take(_ piece: Data, into frames: inout [Frame]) throws(StreamFailure)

    /// Called at the end of the content. Returns the frame that the end completes, if any.
    mutating func finish() throws(StreamFailure) -> Frame?
}

extension ContentFramer {
    /// An unfinished frame is dropped at the end of the content.
    public mutating func finish() throws(StreamFailure) -> Frame? { nil }
}

/// Values made of the frames of content that comes in pieces. The frames before one that is too long are still
/// returned. After the end and after a frame that is too long, there are no values.
public struct FrameSequence<Base: AsyncSequence, Framer: ContentFramer, Element>: AsyncSequence
where Base.Element == Data {
    fileprivate let base: Base
    fileprivate let framer: Framer
    /// Makes the value of a frame and of its number, counted from 1. Nil skips the frame.
    fileprivate let make: @Sendable (Framer.Frame, Int) throws -> Element?

    init(base: Base, framer: Framer, make: @escaping @Sendable (Framer.Frame, Int) throws -> Element?) {
        (self.base, self.framer, self.make) = (base, framer, make)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Reads the content and cuts it, one value after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: Base.AsyncIterator
        private var framer: Framer
        private let make: @Sendable (Framer.Frame, Int) throws -> Element?
        private var frames = FrameBacklog<Framer.Frame>()
        private var number = 0
        private var isOver = false

        fileprivate init(_ sequence: FrameSequence) {
            (base, framer, make) = (sequence.base.makeAsyncIterator(), sequence.framer, sequence.make)
        }

        public mutating func next() async throws -> Element? {
            while let frame = try await frame() {
                number += 1
                if let element = try make(frame, number) { return element }
            }
            return nil
        }

        private mutating func frame() async throws -> Framer.Frame? {
            while true {
                if let frame = try frames.next() { return frame }
                if isOver { return nil }
                // No frame follows an error.
                isOver = true
                guard let data = try await base.next(isolation: #isolation) else { return try framer.finish() }
                isOver = !frames.fill { frames throws(StreamFailure) in try framer.take(data, into: &frames) }
            }
        }
    }
}

extension FrameSequence: CustomStringConvertible {
    public var description: String { described(Self.self, ["": base]) }
}

extension FrameSequence: Sendable where Base: Sendable {}

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
