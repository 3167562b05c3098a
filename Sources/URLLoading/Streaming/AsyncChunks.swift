public import Foundation

extension URLSession.AsyncBytes {
    /// The content in the pieces that it came in, for a reader that cuts it by itself. Of the same reader: what one has taken the other does
    /// not get.
    public var chunks: AsyncChunks { AsyncChunks(self) }

    public struct AsyncChunks: AsyncSequence, Sendable {
        public typealias Element = Data

        private let bytes: URLSession.AsyncBytes

        init(_ bytes: URLSession.AsyncBytes) { self.bytes = bytes }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes.makeAsyncIterator()) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            private var bytes: URLSession.AsyncBytes.AsyncIterator

            init(_ bytes: URLSession.AsyncBytes.AsyncIterator) { self.bytes = bytes }

            /// Throws `URLError`; `URLError.cancelled` where the Swift task was cancelled.
            public mutating func next() async throws -> Data? { try await bytes.takeChunk().map { Data($0) } }
        }
    }
}
