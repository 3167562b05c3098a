public import URLLoading

extension AsyncSequence where Element == Data {
    /// The content as events, until it ends. ``EventSource`` also requests the stream again.
    public var serverSentEvents: ServerSentEventSequence<Self> { serverSentEvents() }

    /// The content as events, with a limit on the bytes of an event, after a known event id.
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

    public func makeAsyncIterator() -> Iterator { Iterator(FramedReader(base.makeAsyncIterator(), parser)) }

    public struct Iterator: AsyncIteratorProtocol {
        private var reader: FramedReader<Base.AsyncIterator, ServerSentEventParser>

        init(_ reader: FramedReader<Base.AsyncIterator, ServerSentEventParser>) { self.reader = reader }

        public mutating func next() async throws -> ServerSentEvent? { try await reader.next() }
    }
}

extension ServerSentEventSequence: Sendable where Base: Sendable {}
