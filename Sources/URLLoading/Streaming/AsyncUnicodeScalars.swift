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
