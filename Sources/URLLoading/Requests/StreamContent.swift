internal import Foundation
internal import UncurlEngine
internal import UncurlReactor

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

    /// Whether the stream was opened, by whoever reads it.
    var isOpen: Bool { source.isOpen }
}
