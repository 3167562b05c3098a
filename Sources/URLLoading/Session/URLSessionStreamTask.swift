public import Foundation

/// Bytes both ways over TCP, in the clear or under TLS; or the content of an answer that was told to become a stream.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    /// What comes, until it is read.
    let channel = ByteChannel()
}
