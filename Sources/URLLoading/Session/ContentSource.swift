package import FoundationEssentials
package import UncurlEngine

/// The source of the request's content.
package enum ContentSource: Sendable {
    /// The request itself: its data, its stream, or none.
    case request
    case data(Data)
    case file(URL)
    /// The request's stream; if it has none, the delegate is asked for one (`needNewBodyStream`).
    case stream
    /// Content that Uncurl has given to the first request.
    case content(Content)
}
