public import Foundation

extension URLSession.AsyncBytes {
    /// The content in the pieces that it comes in, for a program that divides it itself. It shares its reader with the
    /// sequence of bytes: what one has taken the other does not get.
    public var chunks: AsyncChunks { AsyncChunks(self) }

    /// The content in pieces.
    public struct AsyncChunks: AsyncSequence, Sendable {
        /// One piece, as it came.
        public typealias Element = Data

        private let bytes: URLSession.AsyncBytes

        init(_ bytes: URLSession.AsyncBytes) { self.bytes = bytes }

        /// Makes the reader. If there are several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes.makeAsyncIterator()) }

        /// Reads the content.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var bytes: URLSession.AsyncBytes.AsyncIterator

            init(_ bytes: URLSession.AsyncBytes.AsyncIterator) { self.bytes = bytes }

            /// Returns the next piece; nil at the end. Throws `URLError`; `URLError.cancelled` if the Swift task was
            /// cancelled.
            public mutating func next() async throws -> Data? { try await bytes.takeChunk().map { Data($0) } }
        }
    }
}
