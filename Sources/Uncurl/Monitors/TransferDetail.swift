public import URLLoading

/// A step within one attempt of a request. Only monitors with ``EventMonitor/hearsDetails`` receive it, because each of
/// these costs an attempt a little time.
@frozen public enum TransferDetail: Sendable {
    /// The request could not be built or adapted; nothing was sent.
    case failedBeforeSending(UncurlError)
    /// The task waits for the network.
    case isWaitingForConnectivity
    /// The progress of the request's content.
    case sent(TransferProgress)
    /// The server redirected the task. The request is the one that follows, unless a hook changes it.
    case redirected(HTTPURLResponse, URLRequest)
    /// A server or a proxy asks for trust or for credentials.
    case challenged(URLProtectionSpace)
    /// The head of the answer came.
    case receivedHead(URLResponse)
    /// The progress of the answer's content. For a stream, the part that has been read.
    case received(TransferProgress)
    /// A part of a stream's content has been read.
    case streamed(Data)
    /// A line, a value or an event has been cut from a stream of
    /// ``URLSessionManager/start(streaming:validation:as:each:completion:)``.
    case streamedValue(any Sendable)
    /// The answer is about to be stored in the cache, unless a hook changes that.
    case willCache(CachedURLResponse)
    /// A resumed download continues after the bytes of an earlier one.
    case resumedAtOffset(ResumedOffset)
    /// The answer was accepted, or was refused with this error.
    case validated(UncurlError?)
    /// A download is at its place.
    case movedFile(URL)
    /// A download could not be put at its place.
    case failedToMoveFile(UncurlError)
}
