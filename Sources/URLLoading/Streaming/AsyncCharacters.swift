internal import Foundation

extension URLSession.AsyncBytes {
    /// An answer's content as characters (extended grapheme clusters), read as UTF-8. A character comes when the scalar
    /// behind it is there, or the end.
    public struct AsyncCharacters: AsyncSequence, Sendable {
        /// One character.
        public typealias Element = Character

        /// In scalars: a server may send one character without end, which would fill the memory.
        public static let limit = 1024

        private let scalars: AsyncUnicodeScalars

        init(_ scalars: AsyncUnicodeScalars) { self.scalars = scalars }

        /// The reader: of several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(scalars.makeAsyncIterator()) }

        /// Reads the content.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var scalars: AsyncUnicodeScalars.AsyncIterator
            /// The character so far.
            private var begun = ""

            init(_ scalars: AsyncUnicodeScalars.AsyncIterator) { self.scalars = scalars }

            /// Throws `URLError`: `dataLengthExceedsMaximum` where a character is longer than
            /// ``AsyncCharacters/limit``, `cancelled` where the Swift task was cancelled.
            public mutating func next() async throws -> Character? {
                var count = begun.unicodeScalars.count
                while let scalar = try await scalars.next() {
                    begun.unicodeScalars.append(scalar)
                    count += 1
                    // A second character: the first is whole.
                    if count > 1, begun.index(after: begun.startIndex) < begun.endIndex { return begun.removeFirst() }
                    guard count <= AsyncCharacters.limit else { throw characterTooLong }
                }
                return begun.isEmpty ? nil : begun.removeFirst()
            }

            private var characterTooLong: URLError {
                let reason = "a character is longer than \(AsyncCharacters.limit) scalars"
                return ErrorTranslation.urlError(.dataLengthExceedsMaximum, scalars.task.currentRequest?.url, reason)
            }
        }
    }

    /// The content as characters. Octets that are no UTF-8 are repaired; one character of more scalars than
    /// ``AsyncCharacters/limit`` throws.
    public var characters: AsyncCharacters { AsyncCharacters(unicodeScalars) }
}
