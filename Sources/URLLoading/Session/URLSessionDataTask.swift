internal import Foundation

/// A task whose answer is told as data.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// A data task that sends content: from memory, a file or a stream.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
