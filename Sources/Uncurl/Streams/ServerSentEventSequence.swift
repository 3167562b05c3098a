public import URLLoading

extension AsyncSequence where Element == Data {
    /// The content as events, until it ends; ``EventSource`` goes on with the next answer.
    public var serverSentEvents: ServerSentEventSequence<Self> { serverSentEvents() }

    /// The same with a limit of one's own on the bytes of an event, and behind an event known already.
    public func serverSentEvents(
        after lastEventID: String = "",
        limit: Int = ServerSentEventParser.usualLimit
    ) -> ServerSentEventSequence<Self> {
        ServerSentEventSequence(self, ServerSentEventParser(lastEventID: lastEventID, limit: limit))
    }
}

/// Events of content that comes in pieces.
public struct ServerSentEventSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == Data {
    public typealias Element = ServerSentEvent

    private let base: Base
    private let parser: ServerSentEventParser

    init(_ base: Base, _ parser: ServerSentEventParser) {
        self.base = base
        self.parser = parser
    }

    public func makeAsyncIterator() -> Iterator { Iterator(base.makeAsyncIterator(), parser) }

    public struct Iterator: AsyncIteratorProtocol {
        private var base: Base.AsyncIterator
        private var parser: ServerSentEventParser
        private var events = Backlog<ServerSentEvent>()
        private var isOver = false

        init(_ base: Base.AsyncIterator, _ parser: ServerSentEventParser) {
            self.base = base
            self.parser = parser
        }

        public mutating func next() async throws -> ServerSentEvent? {
            while true {
                if let event = try events.next() { return event }
                if isOver { return nil }
                // Whatever is thrown from here on is the last word.
                isOver = true
                guard let data = try await base.next(isolation: #isolation) else { return nil }
                isOver = !events.fill { events throws(StreamFailure) in try parser.take(data, into: &events) }
            }
        }
    }
}

/// What one piece of content held, given one by one; then the error that ended it, if any.
struct Backlog<Value> {
    private var values: [Value] = []
    private var position = 0
    private var failure: StreamFailure?

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

extension ServerSentEventSequence: Sendable where Base: Sendable {}
