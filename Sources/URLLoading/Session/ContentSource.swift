package import FoundationEssentials
package import HTTPEngine

/// Where the request's content comes from.
package enum ContentSource: Sendable {
    /// The request's own: its data, its stream, or none.
    case request
    case data(Data)
    case file(URL)
    /// The delegate's, asked for with `needNewBodyStream`, where the request has no stream.
    case stream
    /// Segments that the room above has given the first request along.
    case segments(SegmentedBody)
}
