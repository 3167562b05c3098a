extension URLSession.AsyncBytes {
    /// An answer's content as lines, as they come. Octets that are no UTF-8 are repaired.
    public struct AsyncLines: AsyncSequence, Sendable {
        /// One line, without its end.
        public typealias Element = String

        /// The limit of ``URLSession/AsyncBytes/lines``, in bytes: a server may send a line without an end, which would
        /// fill the memory.
        public static let usualLimit = 16 << 20

        private let bytes: URLSession.AsyncBytes
        private let limit: Int

        init(_ bytes: URLSession.AsyncBytes, limit: Int) {
            self.bytes = bytes
            self.limit = limit
        }

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
                return ErrorTranslation.urlError(.dataLengthExceedsMaximum, url, reason)
            }

            private mutating func take() -> String? {
                guard !line.isEmpty else { return nil }
                defer { line.removeAll(keepingCapacity: true) }
                return String(decoding: line, as: UTF8.self)
            }
        }
    }
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
