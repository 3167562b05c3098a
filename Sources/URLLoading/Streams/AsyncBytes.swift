public import Foundation
internal import UncurlText

extension URLSession {
    /// An answer's content as a sequence of bytes, as they come, for one reader. If the last reference is gone before
    /// the end, the task is cancelled.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// One byte.
        public typealias Element = UInt8

        /// The task whose content this is.
        public let task: URLSessionDataTask
        private let reader: Reader

        init(_ reader: Reader) { (task, self.reader) = (reader.task, reader) }

        /// Makes the reader. If there are several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader) }

        /// Reads the content. The task is cancelled when the last iterator and the last sequence are gone.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let reader: Reader
            var task: URLSessionTask { reader.task }
            /// The piece that is being read. It and the position in it are open to callers' modules, in which
            /// ``next(isolation:)`` is compiled: a call for each byte would cost ten times what the byte does.
            @usableFromInline private(set) var chunk: [UInt8] = []
            @usableFromInline var position = 0

            init(_ reader: Reader) { self.reader = reader }

            /// Returns the next byte; nil at the end.
            ///
            /// - Throws: `URLError`; `URLError.cancelled` if the Swift task was cancelled.
            @inlinable
            public mutating func next() async throws -> UInt8? { try await next(isolation: nil) }

            /// Returns the next byte; nil at the end. Throws as ``next()`` does.
            @inlinable
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> UInt8? {
                // A branch of its own, in which nothing is awaited: so the compiler sees that its caller's executor is
                // the same before and behind it.
                if position < chunk.count {
                    defer { position += 1 }
                    return chunk[position]
                }
                guard try await takeNextChunk() else { return nil }
                position = 1
                return chunk[0]
            }

            /// Takes the next piece in place of the one that was read. Returns false at the end. Throws as ``next()``
            /// does.
            @usableFromInline
            mutating func takeNextChunk() async throws -> Bool {
                repeat {
                    guard let next = try await reader.next() else { return false }
                    (chunk, position) = (next, 0)
                } while chunk.isEmpty
                return true
            }

            func takeChunk() async throws -> [UInt8]? { try await reader.next() }
        }

        /// What reads the content. It cancels the task when the last reference to it is gone, or if the Swift task that
        /// reads is cancelled.
        final class Reader: Sendable {
            let task: URLSessionDataTask
            private let channel: ByteChannel

            init(_ task: URLSessionDataTask, _ channel: ByteChannel) {
                self.task = task
                self.channel = channel
            }

            deinit {
                channel.abandon()
                task.cancel()
            }

            /// Returns the head of the answer. It must be called only once.
            func head() async throws -> URLResponse {
                try await withTaskCancellationHandler(operation: channel.head) { task.cancel() }
            }

            /// Returns the next piece of the content, as it came; nil at the end.
            func next() async throws -> [UInt8]? {
                try await withTaskCancellationHandler(operation: channel.next) { task.cancel() }
            }
        }

        /// The content as lines of UTF-8, without their line ends (LF, CR, CR LF, and Unicode's). Empty lines are left
        /// out, as everywhere in Foundation. A line longer than ``AsyncLines/usualLimit`` throws.
        public var lines: AsyncLines { lines(limit: AsyncLines.usualLimit) }

        /// Returns the content as lines, with a limit of the caller's own.
        ///
        /// - Parameter limit: the most bytes of a line, without its line end; a longer line throws
        ///   `URLError.dataLengthExceedsMaximum`.
        public func lines(limit: Int) -> AsyncLines { AsyncLines(bytes: self, limit: limit) }
    }
}

extension URLSession.AsyncBytes: CustomStringConvertible {
    public var description: String { described(Self.self, ["": task]) }
}

extension URLSession.AsyncBytes {
    /// The content in the pieces that it comes in, for a program that divides it itself. It shares its reader with the
    /// sequence of bytes: what one has taken the other does not get.
    public var chunks: AsyncChunks { AsyncChunks(bytes: self) }

    /// The content in pieces.
    public struct AsyncChunks: AsyncSequence, Sendable {
        /// One piece, as it came.
        public typealias Element = Data

        fileprivate let bytes: URLSession.AsyncBytes

        /// Makes the reader. If there are several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes.makeAsyncIterator()) }

        /// Reads the content.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var bytes: URLSession.AsyncBytes.AsyncIterator

            /// Returns the next piece; nil at the end. Throws `URLError`; `URLError.cancelled` if the Swift task was
            /// cancelled.
            public mutating func next() async throws -> Data? { try await bytes.takeChunk().map { Data($0) } }
        }
    }
}

extension URLSession.AsyncBytes.AsyncChunks: CustomStringConvertible {
    public var description: String { described(Self.self, ["": bytes.task]) }
}

extension URLSession.AsyncBytes {
    /// An answer's content as characters (extended grapheme clusters), read as UTF-8. A character is returned when the
    /// scalar after it, or the end, has come.
    public struct AsyncCharacters: AsyncSequence, Sendable {
        /// One character.
        public typealias Element = Character

        /// The limit of ``URLSession/AsyncBytes/characters``, in scalars: a server may send a character without an end,
        /// which would fill the memory.
        public static let limit = 1024

        fileprivate let scalars: AsyncUnicodeScalars
        fileprivate let limit: Int

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
                return URLError(.dataLengthExceedsMaximum, scalars.task.currentRequest?.url, reason)
            }
        }
    }

    /// The content as characters. Octets that are no UTF-8 are repaired; a character of more scalars than
    /// ``AsyncCharacters/limit`` throws.
    public var characters: AsyncCharacters { characters(limit: AsyncCharacters.limit) }

    /// Returns the content as characters, with a limit of the caller's own.
    ///
    /// - Parameter limit: the most scalars of a character; a longer one throws `URLError.dataLengthExceedsMaximum`.
    public func characters(limit: Int) -> AsyncCharacters { AsyncCharacters(scalars: unicodeScalars, limit: limit) }
}

extension URLSession.AsyncBytes.AsyncCharacters: CustomStringConvertible {
    public var description: String { described(Self.self, ["": scalars]) }
}

extension URLSession.AsyncBytes {
    /// An answer's content as Unicode scalars, read as UTF-8. Each sequence of octets that is no UTF-8 becomes U+FFFD,
    /// as in `String(decoding:as:)`.
    public struct AsyncUnicodeScalars: AsyncSequence, Sendable {
        /// One scalar.
        public typealias Element = Unicode.Scalar

        fileprivate let bytes: URLSession.AsyncBytes

        /// Makes the reader. If there are several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes.makeAsyncIterator()) }

        /// Reads the content.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var bytes: URLSession.AsyncBytes.AsyncIterator
            /// An octet that ended a sequence without being part of it.
            fileprivate var held: UInt8?
            var task: URLSessionTask { bytes.task }

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
    public var unicodeScalars: AsyncUnicodeScalars { AsyncUnicodeScalars(bytes: self) }
}

extension URLSession.AsyncBytes.AsyncUnicodeScalars: CustomStringConvertible {
    public var description: String { described(Self.self, ["": bytes.task]) }
}

extension URLSession.AsyncBytes {
    /// An answer's content as lines, as they come. Octets that are no UTF-8 are repaired.
    public struct AsyncLines: AsyncSequence, Sendable {
        /// One line, without its end.
        public typealias Element = String

        /// The limit of ``URLSession/AsyncBytes/lines``, in bytes: a server may send a line without an end, which would
        /// fill the memory.
        public static let usualLimit = 16 << 20

        fileprivate let bytes: URLSession.AsyncBytes
        fileprivate let limit: Int

        /// Makes the reader. If there are several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes.makeAsyncIterator(), limit: limit) }

        /// Reads the content.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var bytes: URLSession.AsyncBytes.AsyncIterator
            private let limit: Int
            private var line: [UInt8] = []
            /// Whether a CR ended the last line: an LF after it is part of that line end.
            private var isBehindCR = false

            init(_ bytes: URLSession.AsyncBytes.AsyncIterator, limit: Int) {
                self.bytes = bytes
                self.limit = limit
            }

            /// Returns the next line; nil at the end. Throws `URLError`: `dataLengthExceedsMaximum` if a line is longer
            /// than its limit, `cancelled` if the Swift task was cancelled.
            public mutating func next() async throws -> String? {
                while true {
                    if bytes.position == bytes.chunk.count {
                        guard try await bytes.takeNextChunk() else { return take() }
                    }
                    if isBehindCR, bytes.chunk[bytes.position] == 0x0A { bytes.position += 1 }
                    isBehindCR = false
                    let end = Self.end(in: bytes.chunk, from: bytes.position)
                    let text = bytes.chunk[bytes.position..<(end ?? bytes.chunk.count)]
                    guard line.count + text.count <= limit else { throw lineTooLong }
                    bytes.position = text.endIndex
                    guard let end else {
                        line += text
                        continue
                    }
                    bytes.position += 1
                    let byte = bytes.chunk[end]
                    isBehindCR = byte == 0x0D
                    if byte < 0x80, line.isEmpty, !text.isEmpty { return String(decoding: text, as: UTF8.self) }
                    line += text
                    if byte >= 0x80 {
                        guard line.count < limit else { throw lineTooLong }
                        line.append(byte)
                        guard endsInUnicodeLineEnd else { continue }
                    }
                    if let line = take() { return line }
                }
            }

            /// Returns the place of the next octet that is a line end, or the last octet of one: LF, VT, FF, CR; NEL,
            /// LINE SEPARATOR and PARAGRAPH SEPARATOR in UTF-8.
            private static func end(in chunk: [UInt8], from start: Int) -> Int? {
                let octets = chunk.span
                var place = start
                while place < octets.count {
                    place = octets.endOfPlainText(from: place)
                    let end = Swift.min(place + 8, octets.count)
                    while place < end {
                        switch octets[place] {
                        case 0x0A...0x0D, 0x85, 0xA8, 0xA9: return place
                        default: place += 1
                        }
                    }
                }
                return nil
            }

            /// Cuts off NEL (C2 85), LINE SEPARATOR or PARAGRAPH SEPARATOR (E2 80 A8, A9). Returns whether there was
            /// one.
            private var endsInUnicodeLineEnd: Bool {
                mutating get {
                    guard let last = line.last else { return false }
                    if last == 0x85, line.dropLast().last == 0xC2 {
                        line.removeLast(2)
                        return true
                    }
                    guard last == 0xA8 || last == 0xA9, line.count >= 3 else { return false }
                    guard line[line.count - 3] == 0xE2, line[line.count - 2] == 0x80 else { return false }
                    line.removeLast(3)
                    return true
                }
            }

            private var lineTooLong: URLError {
                let url = bytes.task.currentRequest?.url
                let reason = "a line is longer than \(limit) bytes; lines(limit:) sets the limit"
                return URLError(.dataLengthExceedsMaximum, url, reason)
            }

            private mutating func take() -> String? {
                guard !line.isEmpty else { return nil }
                defer { line.removeAll(keepingCapacity: true) }
                return String(decoding: line, as: UTF8.self)
            }
        }
    }
}

extension URLSession.AsyncBytes.AsyncLines: CustomStringConvertible {
    public var description: String { described(Self.self, ["": bytes.task]) }
}

extension Span<UInt8> {
    /// Returns the place of the first eight octets that are not all from 0E to 7F, in steps of eight from `start`; less
    /// than eight octets before the end, that place.
    fileprivate func endOfPlainText(from start: Int) -> Int {
        var place = start
        while place + 8 <= count {
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: place, as: UInt64.self)
            guard (word | (word &- 0x0E0E_0E0E_0E0E_0E0E)) & 0x8080_8080_8080_8080 == 0 else { break }
            place += 8
        }
        return place
    }
}
