public import URLLoading

/// Why a stream of content cannot be read.
@frozen public enum StreamFailure: Error, Sendable {
    /// More bytes than `limit` without a line's end.
    case lineTooLong(limit: Int)
    /// An event of more bytes than `limit`.
    case eventTooLong(limit: Int)
    /// As many streams in a row ended without an event.
    case noEvent(attempts: Int)
    /// The line, counted from 1, is no document of the kind asked for.
    case undecodableLine(number: Int, line: Data, underlying: any Error)
}

extension StreamFailure: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .lineTooLong(let limit): "a line is longer than \(limit) bytes"
        case .eventTooLong(let limit): "an event is longer than \(limit) bytes"
        case .noEvent(let attempts): "the stream ended without an event in each of \(attempts) attempts"
        case .undecodableLine(let number, _, let underlying):
            "line \(number) cannot be decoded: \(ErrorText.of(underlying))"
        }
    }
}
