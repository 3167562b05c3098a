internal import Foundation

extension URLSession.AsyncBytes {
    /// An answer's content as characters (extended grapheme clusters), read as UTF-8. A character is returned when the
    /// scalar after it, or the end, has come.
    public struct AsyncCharacters: AsyncSequence, Sendable {
        /// One character.
        public typealias Element = Character

        /// The limit of ``URLSession/AsyncBytes/characters``, in scalars: a server may send a character without an end,
        /// which would fill the memory.
        public static let limit = 1024

        private let scalars: AsyncUnicodeScalars
        private let limit: Int

        init(_ scalars: AsyncUnicodeScalars, limit: Int) {
            self.scalars = scalars
            self.limit = limit
        }

        /// Makes the reader. If there are several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(scalars.makeAsyncIterator(), limit: limit) }

        /// Reads the content.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var scalars: AsyncUnicodeScalars.AsyncIterator
            private let limit: Int
            /// The character so far.
            private var begun = ""
            /// Tells where a character ends. To look for the end in `begun` would read it again for each scalar.
            private var breaks = Unicode._CharacterRecognizer()

            init(_ scalars: AsyncUnicodeScalars.AsyncIterator, limit: Int) {
                self.scalars = scalars
                self.limit = limit
            }

            /// Returns the next character; nil at the end. Throws `URLError`: `dataLengthExceedsMaximum` if a character
            /// is longer than its limit, `cancelled` if the Swift task was cancelled.
            public mutating func next() async throws -> Character? {
                var count = begun.unicodeScalars.count
                while let scalar = try await scalars.next() {
                    let isComplete = breaks.hasBreak(before: scalar) && !begun.isEmpty
                    let character = isComplete ? begun.removeFirst() : nil
                    begun.unicodeScalars.append(scalar)
                    if let character { return character }
                    count += 1
                    guard count <= limit else { throw characterTooLong }
                }
                return begun.isEmpty ? nil : begun.removeFirst()
            }

            private var characterTooLong: URLError {
                let reason = "a character is longer than \(limit) scalars; characters(limit:) sets the limit"
                return ErrorTranslation.urlError(.dataLengthExceedsMaximum, scalars.task.currentRequest?.url, reason)
            }
        }
    }

    /// The content as characters. Octets that are no UTF-8 are repaired; a character of more scalars than
    /// ``AsyncCharacters/limit`` throws.
    public var characters: AsyncCharacters { characters(limit: AsyncCharacters.limit) }

    /// Returns the content as characters, with a limit of the caller's own.
    ///
    /// - Parameter limit: the most scalars of a character; a longer one throws `URLError.dataLengthExceedsMaximum`.
    public func characters(limit: Int) -> AsyncCharacters { AsyncCharacters(unicodeScalars, limit: limit) }
}
