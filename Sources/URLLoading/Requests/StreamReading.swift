package import Foundation
package import HTTPEngine
internal import Synchronization

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

    /// Opens a stream that has no other reader.
    package static func reader(of stream: InputStream) throws -> any BlockingReader {
        stream.open()
        if stream.streamStatus == .error {
            throw stream.streamError ?? UnderlyingError("the content's stream cannot be opened")
        }
        return StreamReader(stream)
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
            if read < 0 { failure = stream.streamError ?? UnderlyingError("the content's stream failed") }
        }
        if let failure { throw failure }
        return bytes
    }

    func close() { stream.close() }
}
