internal import Foundation
internal import HTTPEngine
internal import Synchronization

/// An `InputStream` of the user's as a request's content. Streams block, so it is read on a thread, a little ahead of the socket and
/// no faster than the server takes it.
final class StreamContent: Sendable {
    /// What the request's own Content-Length says; the content goes chunked without.
    let length: UInt64?
    let body: ThreadedBody

    init(_ stream: InputStream, _ request: URLRequest) {
        length = request.value(forHTTPHeaderField: "Content-Length").flatMap { UInt64($0) }
        let source = StreamSource(stream)
        body = ThreadedBody(length: length) { try source.open() }
    }
}

/// Opens the stream once: what has been read from a stream cannot be read again.
private final class StreamSource: @unchecked Sendable {
    // `@unchecked`: the stream is handed over by its owner, and taken by the one thread that gets it from the lock.
    private let stream: Mutex<Unchecked?>

    private struct Unchecked: @unchecked Sendable {
        let stream: InputStream
    }

    init(_ stream: InputStream) {
        let held = Unchecked(stream: stream)
        self.stream = Mutex(held)
    }

    func open() throws -> any BlockingReader {
        let taken = stream.withLock { stream -> Unchecked? in
            defer { stream = nil }
            return stream
        }
        guard let taken else { throw UnderlyingError("the request's stream has been read already") }
        taken.stream.open()
        if taken.stream.streamStatus == .error {
            throw taken.stream.streamError ?? UnderlyingError("the request's stream cannot be opened")
        }
        return StreamReader(taken.stream)
    }
}

private final class StreamReader: BlockingReader, @unchecked Sendable {
    // `@unchecked`: read by one thread at a time, as `BlockingReader` promises.
    private let stream: InputStream

    init(_ stream: InputStream) { self.stream = stream }

    func read(atMost count: Int) throws -> [UInt8] {
        let stream = stream
        var failure: (any Error)?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            guard let start = buffer.baseAddress else { return }
            let read = unsafe stream.read(start, maxLength: count)
            used = max(0, read)
            if read < 0 { failure = stream.streamError ?? UnderlyingError("the request's stream failed") }
        }
        if let failure { throw failure }
        return bytes
    }

    func close() { stream.close() }
}
