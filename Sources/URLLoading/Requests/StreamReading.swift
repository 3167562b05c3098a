package import Foundation
internal import Synchronization
package import UncurlEngine
internal import UncurlReactor

/// A stream of the program, which can be read once.
package final class OneStream: @unchecked Sendable {
    // `@unchecked`: the owner hands the stream over, and only the thread that takes it from the lock uses it.
    private let stream: Mutex<Unchecked?>

    private struct Unchecked: @unchecked Sendable {
        let stream: InputStream
    }

    package init(_ stream: InputStream) {
        let held = Unchecked(stream: stream)
        self.stream = Mutex(held)
    }

    var isUnread: Bool { stream.withLock { $0 != nil } }

    /// Whether the stream was opened, here or elsewhere.
    var isOpen: Bool { stream.withLock { $0?.stream.streamStatus != .notOpen } }

    /// The stream; nil once it has a reader.
    var unread: InputStream? { stream.withLock { $0 }?.stream }

    /// - Throws: ``ContentUsedUp`` for a second reader, or the stream's error if it does not open.
    package func open() throws -> any BlockingReader {
        let taken = stream.withLock { stream -> Unchecked? in
            defer { stream = nil }
            return stream
        }
        guard let taken else { throw ContentUsedUp() }
        return try OneStream.reader(of: taken.stream)
    }

    /// Opens a stream. One that the program has opened is read on from where it stands.
    ///
    /// - Throws: ``ContentUsedUp`` for a stream that was read to its end or closed, or is being read by another reader;
    ///   the stream's error if it does not open.
    package static func reader(of stream: InputStream) throws -> any BlockingReader { try StreamReader(stream) }
}

extension Stream {
    /// The stream's own error; nil for none. Foundation's `streamError` ends the process in every status but `.error`,
    /// also for a stream that is closed.
    package var failure: (any Error)? { streamStatus == .error ? streamError : nil }
}

private final class StreamReader: BlockingReader, @unchecked Sendable {
    // `@unchecked`: read by one thread at a time, as `BlockingReader` promises.
    private let stream: InputStream

    /// The streams that have a reader: a second one would take octets from the first.
    private static let taken = Mutex<Set<ObjectIdentifier>>([])

    init(_ stream: InputStream) throws {
        let isFree = StreamReader.taken.withLock { $0.insert(ObjectIdentifier(stream)).inserted }
        guard isFree else { throw ContentUsedUp() }
        self.stream = stream
        do {
            guard stream.streamStatus != .atEnd, stream.streamStatus != .closed else { throw ContentUsedUp() }
            stream.open()
            guard stream.streamStatus != .error else {
                throw stream.failure ?? UnderlyingError("the content's stream cannot be opened")
            }
        } catch {
            release()
            throw error
        }
    }

    private func release() { _ = StreamReader.taken.withLock { $0.remove(ObjectIdentifier(stream)) } }

    func read(atMost count: Int) throws -> [UInt8] {
        let stream = stream
        var failure: (any Error)?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            guard let start = buffer.baseAddress else { return }
            let read = unsafe stream.read(start, maxLength: count)
            used = max(0, read)
            if read < 0 { failure = stream.failure ?? UnderlyingError("the content's stream failed") }
        }
        if let failure { throw failure }
        return bytes
    }

    func close() {
        stream.close()
        release()
    }
}

/// An `InputStream` of the program as a request's content. Streams block, so a separate thread reads them, a little
/// ahead of the socket and no faster than the server accepts the content.
final class StreamContent: Sendable {
    /// The request's own Content-Length; without one the content is sent in chunks.
    let length: UInt64?
    let body: ThreadedBody
    private let source: OneStream
    private let stream: ObjectIdentifier

    /// Up to one thread for each stream that blocks its reader, started on demand, so that eight silent streams do not
    /// keep a ninth from being read.
    private static let pool = BlockingPool(name: "urlloading-streams", threads: 64, queue: 4096)

    init(_ stream: InputStream, _ request: URLRequest) {
        length = request.value(forHTTPHeaderField: "Content-Length").flatMap { UInt64($0) }
        let source = OneStream(stream)
        self.source = source
        self.stream = ObjectIdentifier(stream)
        body = ThreadedBody(length: length, pool: StreamContent.pool) { try source.open() }
    }

    /// The stream, which its reader shares with a loading class; nil once it has a reader.
    var unread: InputStream? { source.unread }

    /// Whether the stream can still be sent with this request: none of it has been read, and the request has no other
    /// stream.
    func isUnread(for request: URLRequest) -> Bool {
        if case .stream(let other) = request.values.body, ObjectIdentifier(other) != stream { return false }
        return source.isUnread
    }

    /// Whether its reader has opened the stream.
    var isOpen: Bool { source.isOpen }
}
