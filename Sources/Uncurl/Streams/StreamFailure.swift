public import URLLoading

/// Why a stream of content cannot be read.
@frozen public enum StreamFailure: Error, Sendable {
    /// A line has more bytes than the limit.
    case lineTooLong(limit: Int)
    /// An event has more bytes than the limit.
    case eventTooLong(limit: Int)
    /// This many attempts in a row brought no event.
    case noEvent(attempts: Int)
    /// A line (counted from 1) is not a document of the expected kind.
    case undecodableLine(number: Int, line: Data, underlying: any Error)
}

extension StreamFailure: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .lineTooLong(let limit):
            "a line is longer than \(limit) bytes; lines(limit:) and jsonLines(limit:) set the limit"
        case .eventTooLong(let limit):
            "an event is longer than \(limit) bytes; events(limit:) and serverSentEvents(limit:) set the limit"
        case .noEvent(let attempts): "the stream ended without an event in each of \(attempts) attempts"
        case .undecodableLine(let number, _, let underlying):
            "line \(number) cannot be decoded: \(ErrorText.of(underlying))"
        }
    }
}
