public import URLLoading

/// What ends an operation besides the network and the answer.
@frozen public enum OperationFailure: Error {
    /// The output stream accepts no more bytes. The error is the stream's; nil where the stream is full or closed.
    case output((any Error)?, written: Int64)
    /// The server's content has changed since the pause, and the bytes already in the stream cannot be taken back.
    case changedContent(written: Int64)
}

extension OperationFailure: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .output(let error?, let written):
            "the output stream failed after \(written) bytes: \(ErrorText.of(error))"
        case .output(nil, let written): "the output stream is full or closed after \(written) bytes"
        case .changedContent(let written):
            "the server's content has changed since the pause, and \(written) bytes of the old are in the output stream"
        }
    }

    public var errorDescription: String? { description }
}
