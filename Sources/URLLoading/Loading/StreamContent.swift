internal import Foundation
internal import HTTPEngine

/// An `InputStream` of the user's as a request's content. Streams block, so it is read on a thread, a little ahead of the socket and
/// no faster than the server takes it.
final class StreamContent: Sendable {
    /// What the request's own Content-Length says; the content goes chunked without.
    let length: UInt64?
    let body: ThreadedBody

    init(_ stream: InputStream, _ request: URLRequest) {
        length = request.value(forHTTPHeaderField: "Content-Length").flatMap { UInt64($0) }
        let source = OneStream(stream)
        body = ThreadedBody(length: length) { try source.open() }
    }
}
