public import URLLoading

/// Why a request did not give what was asked of it. Each case carries the facts that it was decided on.
///
/// What programs ask most is a property of every case: ``statusCode``, ``responseData``, ``urlError``, ``isCancelled``,
/// ``isTimeout``, ``isConnectivity``. ``nsError`` is the error that AFNetworking and `URLSession` give, with their
/// domains, codes and keys.
@frozen public enum UncurlError: Error, Sendable {
    /// A string that is no URL, or a URL that this manager does not load. Nothing has been sent.
    case invalidURL(String, reason: String)
    /// The parameters cannot be put into the request; nothing has been sent.
    case parameters(ParameterFailure)
    /// A header field whose name is no token, or whose value holds CR, LF or NUL or is a negative length. Nothing has
    /// been sent.
    case header(name: String)
    /// The form cannot be sent, or stopped being readable while it was.
    case multipart(MultipartFailure)
    /// The content cannot be compressed as it should be; nothing has been sent.
    case compression(CompressionFailure)
    /// An adapter threw; nothing has been sent.
    case adaptation(any Error)
    /// The response came, and its status or its content type is not acceptable.
    case validation(ValidationFailure)
    /// The response came, and its content is not what it should be.
    case serialization(SerializationFailure)
    /// The server's certificate chain was not accepted, by the policy's reason.
    case trust(TrustFailure)
    /// A hook answered a challenge with an error.
    case challenge(any Error)
    /// The content cannot go where it was to go.
    case output(OperationFailure)
    /// The download is here, and could not be put where it belongs.
    case file(FileFailure)
    /// The network, or this machine.
    case transport(URLError)
    /// The program cancelled the request, or the Swift task that waited for it.
    case cancelled
    /// The manager has been invalidated.
    case sessionInvalidated
    /// A retrier gave another error than the one it was asked about.
    indirect case retry(any Error, original: UncurlError)
    /// The content has been read, is needed once more, and cannot be had again.
    case bodyNotReplayable
}
