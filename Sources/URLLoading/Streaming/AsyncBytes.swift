internal import Foundation

extension URLSession {
    /// An answer's content as a sequence of bytes, as they come, for one reader. If the last reference is gone before
    /// the end, the task is cancelled.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// One byte.
        public typealias Element = UInt8

        /// The task whose content this is.
        public let task: URLSessionDataTask
        private let channel: ByteChannel
        private let lifetime: Lifetime

        init(_ task: URLSessionDataTask, _ channel: ByteChannel) {
            self.task = task
            self.channel = channel
            lifetime = Lifetime(task, channel)
        }

        /// Makes the reader. If there are several, each gets what the others have not taken.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(channel, lifetime) }

        /// Reads the content. The task is cancelled when the last iterator and the last sequence are gone.
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

            /// Returns the next byte; nil at the end.
            ///
            /// - Throws: `URLError`; `URLError.cancelled` if the Swift task was cancelled.
            public mutating func next() async throws -> UInt8? {
                if position < chunk.count {
                    defer { position += 1 }
                    return chunk[position]
                }
                return try await nextChunk()
            }

            /// Takes the next piece and returns its first byte. Throws as ``next()`` does.
            private mutating func nextChunk() async throws -> UInt8? {
                guard let next = try await takeChunk() else { return nil }
                chunk = next
                position = 1
                return next.first
            }

            /// Returns the next piece as it came.
            func takeChunk() async throws -> [UInt8]? {
                let (channel, lifetime) = (channel, lifetime)
                return try await withTaskCancellationHandler {
                    try await channel.next()
                } onCancel: {
                    lifetime.task.cancel()
                }
            }
        }

        /// Cancels the task when the last reader is gone.
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

        /// The content as lines of UTF-8, without their line ends (LF, CR, CR LF, and Unicode's). Empty lines are left
        /// out, as everywhere in Foundation. A line longer than ``AsyncLines/usualLimit`` throws.
        public var lines: AsyncLines { lines(limit: AsyncLines.usualLimit) }

        /// Returns the content as lines, with a limit of the caller's own.
        ///
        /// - Parameter limit: the most bytes of a line, without its line end; a longer line throws
        ///   `URLError.dataLengthExceedsMaximum`.
        public func lines(limit: Int) -> AsyncLines { AsyncLines(self, limit: limit) }
    }
}
