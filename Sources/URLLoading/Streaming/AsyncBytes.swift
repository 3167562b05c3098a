internal import Foundation

extension URLSession {
    /// An answer's content, byte by byte, as it comes, for one reader. If the last reference goes before the end, the
    /// task is cancelled.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// Content comes byte by byte.
        public typealias Element = UInt8

        /// Where the content comes from.
        public let task: URLSessionDataTask
        private let channel: ByteChannel
        private let lifetime: Lifetime

        init(_ task: URLSessionDataTask, _ channel: ByteChannel) {
            self.task = task
            self.channel = channel
            lifetime = Lifetime(task, channel)
        }

        /// The reader: of several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(channel, lifetime) }

        /// Reads the content. The task is cancelled when the last of these and of their sequences goes.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let channel: ByteChannel
            private let lifetime: Lifetime
            var task: URLSessionTask { lifetime.task }
            private var chunk: [UInt8] = []
            private var position = 0

            init(_ channel: ByteChannel, _ lifetime: Lifetime) {
                self.channel = channel
                self.lifetime = lifetime
            }

            /// The next byte; nil at the end.
            ///
            /// - Throws: `URLError`; `URLError.cancelled` where the Swift task was cancelled.
            public mutating func next() async throws -> UInt8? {
                if position < chunk.count {
                    defer { position += 1 }
                    return chunk[position]
                }
                return try await nextChunk()
            }

            /// Throws `URLError`; `URLError.cancelled` where the Swift task was cancelled.
            private mutating func nextChunk() async throws -> UInt8? {
                guard let next = try await takeChunk() else { return nil }
                chunk = next
                position = 1
                return next.first
            }

            /// The next piece as it came.
            func takeChunk() async throws -> [UInt8]? {
                let (channel, lifetime) = (channel, lifetime)
                return try await withTaskCancellationHandler {
                    try await channel.next()
                } onCancel: {
                    lifetime.task.cancel()
                }
            }
        }

        /// Ends with the last reader.
        final class Lifetime: Sendable {
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
        }

        /// The content as lines of UTF-8, without their ends (LF, CR, CR LF, and Unicode's); empty lines are left out,
        /// as everywhere in Foundation. A line longer than ``AsyncLines/usualLimit`` throws.
        public var lines: AsyncLines { lines(limit: AsyncLines.usualLimit) }

        /// The same with a limit of the caller's own.
        ///
        /// - Parameter limit: bytes of a line, without its end; one that is longer throws
        ///   `URLError.dataLengthExceedsMaximum`.
        public func lines(limit: Int) -> AsyncLines { AsyncLines(self, limit: limit) }
    }
}
