public import URLLoading

/// Why a request failed. Each case carries the facts of its failure.
///
/// The facts that programs need most are properties of every case: ``statusCode``, ``responseData``, ``urlError``,
/// ``isCancelled``, ``isTimeout``, ``isConnectivity``. ``nsError`` is the error that AFNetworking and `URLSession`
/// give, with their domains, codes and keys.
@frozen public indirect enum UncurlError: Error, Sendable {
    /// A string is not a URL, or is a URL that this manager does not load. Nothing has been sent.
    case invalidURL(String, reason: String)
    /// The parameters cannot be put into the request; nothing has been sent.
    case parameters(ParameterFailure)
    /// A header field cannot be sent: its name is no token, its value holds CR, LF or NUL, or its value is a negative
    /// length. Nothing has been sent.
    case header(name: String)
    /// The form cannot be sent, or a part of it became unreadable while it was sent.
    case multipart(MultipartFailure)
    /// The content cannot be compressed as the options ask. Nothing has been sent.
    case compression(CompressionFailure)
    /// An adapter threw; nothing has been sent.
    case adaptation(any Error)
    /// The answer came, but its status or its content type is not acceptable, or a check of the program's own refused
    /// it.
    case validation(ValidationFailure)
    /// The answer came, but its content could not be made into a value.
    case serialization(SerializationFailure)
    /// The server's certificate chain was not accepted; the failure names the rule.
    case trust(TrustFailure)
    /// A hook answered a challenge with an error.
    case challenge(any Error)
    /// The content cannot be written to the operation's output stream.
    case output(OperationFailure)
    /// The download is complete, but its file could not be put at its place.
    case file(FileFailure)
    /// A loading class of the program (`URLProtocol`) failed the request with an error of its own.
    case loading(any Error)
    /// The network or this machine failed.
    case transport(URLError)
    /// The program cancelled the request, or the Swift task that waited for it.
    case cancelled
    /// The manager has been invalidated.
    case sessionInvalidated
    /// A retrier returned an error of its own in place of the attempt's.
    case retry(any Error, original: UncurlError)
    /// The content must be sent again and can be read only once.
    case bodyNotReplayable
}
