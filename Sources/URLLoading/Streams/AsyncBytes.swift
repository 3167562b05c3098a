public import Foundation

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
            /// The piece that is being read. It and the position in it are open to callers' modules, in which
            /// ``next(isolation:)`` is compiled: a call for each byte would cost ten times what the byte does.
            @usableFromInline private(set) var chunk: [UInt8] = []
            @usableFromInline var position = 0

            init(_ channel: ByteChannel, _ lifetime: Lifetime) {
                self.channel = channel
                self.lifetime = lifetime
            }

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
                    guard let next = try await takeChunk() else { return false }
                    (chunk, position) = (next, 0)
                } while chunk.isEmpty
                return true
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
