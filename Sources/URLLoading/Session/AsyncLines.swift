extension URLSession.AsyncBytes {
    /// Lines of an answer's content as they come. Octets that are no UTF-8 are repaired.
    public struct AsyncLines: AsyncSequence, Sendable {
        public typealias Element = String

        private let bytes: URLSession.AsyncBytes

        init(_ bytes: URLSession.AsyncBytes) { self.bytes = bytes }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes.makeAsyncIterator()) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            private var bytes: URLSession.AsyncBytes.AsyncIterator
            private var line: [UInt8] = []
            /// A CR ended the last line: an LF behind it is part of that end.
            private var isBehindCR = false

            init(_ bytes: URLSession.AsyncBytes.AsyncIterator) { self.bytes = bytes }

            public mutating func next() async throws -> String? {
                while let byte = try await bytes.next() {
                    switch byte {
                    case 0x0A where isBehindCR: isBehindCR = false
                    case 0x0A, 0x0B, 0x0C, 0x0D:
                        isBehindCR = byte == 0x0D
                        if let line = take() { return line }
                    default:
                        isBehindCR = false
                        line.append(byte)
                        if endsInUnicodeLineEnd, let line = take() { return line }
                    }
                }
                return take()
            }

            /// NEL (C2 85), LINE SEPARATOR and PARAGRAPH SEPARATOR (E2 80 A8, A9), cut off.
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

            private mutating func take() -> String? {
                guard !line.isEmpty else { return nil }
                defer { line.removeAll(keepingCapacity: true) }
                return String(decoding: line, as: UTF8.self)
            }
        }
    }
}
