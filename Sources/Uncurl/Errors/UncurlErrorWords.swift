public import URLLoading

extension UncurlError: LocalizedError {
    /// What happened, in words for people; URLs are among them.
    public var errorDescription: String? {
        switch self {
        case .invalidURL(let text, let reason): "“\(text)” cannot be loaded: \(reason)"
        case .parameters(let failure): failure.description
        case .header(let name):
            "the header field \(name.debugDescription) cannot be sent: its name or its value is malformed"
        case .multipart(let failure): failure.description
        case .compression(let failure): failure.description
        case .adaptation(let error): "an interceptor kept the request from being sent: \(ErrorText.of(error))"
        case .validation(let failure): failure.description
        case .serialization(let failure): failure.description
        case .trust(let failure): failure.description
        case .challenge(let error): "a hook answered the server's challenge with an error: \(ErrorText.of(error))"
        case .output(let failure): failure.description
        case .file(let failure): failure.description
        case .transport(let error): ErrorText.of(error)
        case .cancelled: "the request was cancelled"
        case .sessionInvalidated: "the manager has been invalidated, and sends nothing more"
        case .retry(let error, let original): "\(ErrorText.of(error)); before that, \(ErrorText.of(original))"
        case .bodyNotReplayable: "the request's content is needed once more, and can be read only once"
        }
    }
}
