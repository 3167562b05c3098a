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

extension URLSession.AsyncBytes {
    /// An answer's content as Unicode scalars, read as UTF-8. Each sequence of octets that is no UTF-8 becomes U+FFFD,
    /// as in `String(decoding:as:)`.
    public struct AsyncUnicodeScalars: AsyncSequence, Sendable {
        /// One scalar.
        public typealias Element = Unicode.Scalar

        private let bytes: URLSession.AsyncBytes

        init(_ bytes: URLSession.AsyncBytes) { self.bytes = bytes }

        /// Makes the reader. If there are several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes.makeAsyncIterator()) }

        /// Reads the content.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var bytes: URLSession.AsyncBytes.AsyncIterator
            /// An octet that ended a sequence without being part of it.
            private var held: UInt8?
            var task: URLSessionTask { bytes.task }

            init(_ bytes: URLSession.AsyncBytes.AsyncIterator) { self.bytes = bytes }

            /// Returns the next scalar; nil at the end.
            ///
            /// - Throws: `URLError`; `URLError.cancelled` if the Swift task was cancelled.
            public mutating func next() async throws -> Unicode.Scalar? {
                guard let first = try await takeByte() else { return nil }
                guard first >= 0x80 else { return Unicode.Scalar(first) }
                guard var (count, allowed) = AsyncIterator.rest(of: first) else { return AsyncIterator.repaired }
                var value = UInt32(first) & (0x3F >> UInt32(count))
                while count > 0 {
                    guard let byte = try await takeByte() else { return AsyncIterator.repaired }
                    guard allowed.contains(byte) else {
                        held = byte
                        return AsyncIterator.repaired
                    }
                    value = value << 6 | UInt32(byte & 0x3F)
                    allowed = 0x80...0xBF
                    count -= 1
                }
                return Unicode.Scalar(value) ?? AsyncIterator.repaired
            }

            private mutating func takeByte() async throws -> UInt8? {
                if let byte = held.take() { return byte }
                return try await bytes.next()
            }

            /// Returns how many octets follow a first one, and the range of the second (RFC 3629 §4); nil for no first
            /// octet.
            private static func rest(of first: UInt8) -> (count: Int, second: ClosedRange<UInt8>)? {
                switch first {
                case 0xC2...0xDF: (1, 0x80...0xBF)
                case 0xE0: (2, 0xA0...0xBF)
                case 0xED: (2, 0x80...0x9F)
                case 0xE1...0xEF: (2, 0x80...0xBF)
                case 0xF0: (3, 0x90...0xBF)
                case 0xF1...0xF3: (3, 0x80...0xBF)
                case 0xF4: (3, 0x80...0x8F)
                default: nil
                }
            }

            private static let repaired: Unicode.Scalar = "\u{FFFD}"
        }
    }

    /// The content as Unicode scalars. Octets that are no UTF-8 are repaired.
    public var unicodeScalars: AsyncUnicodeScalars { AsyncUnicodeScalars(self) }
}
