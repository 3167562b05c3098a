internal import Foundation
internal import HTTPEngine
internal import Reactor

/// An `InputStream` of the program as a request's content. Streams block: so a thread of its own reads it, a little
/// ahead of the socket and no faster than the server takes it.
final class StreamContent: Sendable {
    /// What the request's own Content-Length says; without one the content is sent in chunks.
    let length: UInt64?
    let body: ThreadedBody
    private let source: OneStream
    private let stream: ObjectIdentifier

    /// One thread for each stream that makes its reader wait, started when it is needed: eight silent streams must not
    /// keep a ninth from being read.
    private static let pool = BlockingPool(name: "urlloading-streams", threads: 64, queue: 4096)

    init(_ stream: InputStream, _ request: URLRequest) {
        length = request.value(forHTTPHeaderField: "Content-Length").flatMap { UInt64($0) }
        let source = OneStream(stream)
        self.source = source
        self.stream = ObjectIdentifier(stream)
        body = ThreadedBody(length: length, pool: StreamContent.pool) { try source.open() }
    }

    /// Whether it can still be sent with this request: nothing of it has been read, and the request has no other.
    func isUnread(for request: URLRequest) -> Bool {
        if case .stream(let other) = request.values.body, ObjectIdentifier(other) != stream { return false }
        return source.isUnread
    }
}
