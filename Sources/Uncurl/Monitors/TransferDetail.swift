public import URLLoading

/// What happens within one attempt of a request. Monitors hear of it that ask for it (``EventMonitor/hearsDetails``):
/// each of these costs an attempt a little time.
@frozen public enum TransferDetail: Sendable {
    /// The request could not be built or adapted; nothing was sent.
    case failedBeforeSending(UncurlError)
    /// The task waits for the network.
    case isWaitingForConnectivity
    /// How much of the request's content has been sent, in bytes.
    case sent(TransferProgress)
    /// The server has redirected the task. The request is the one that follows, unless a hook changes that.
    case redirected(HTTPURLResponse, URLRequest)
    /// A server or a proxy asks for trust or for credentials.
    case challenged(URLProtectionSpace)
    /// The head of the answer came.
    case receivedHead(URLResponse)
    /// How much of the answer's content has come, in bytes. Of a stream: has been read.
    case received(TransferProgress)
    /// A part of a stream's content has been read.
    case streamed(Data)
    /// A line, a value or an event has been cut from a stream, for
    /// ``URLSessionManager/start(streaming:validation:as:each:completion:)``.
    case streamedValue(any Sendable)
    /// The answer is about to be stored in the cache, unless a hook changes that.
    case willCache(CachedURLResponse)
    /// A download goes on behind what an earlier one has written, in bytes.
    case resumedAtOffset(ResumedOffset)
    /// The answer was accepted, or refused for this.
    case validated(UncurlError?)
    /// A download is at its place.
    case movedFile(URL)
    /// A download could not be put at its place.
    case failedToMoveFile(UncurlError)
}
