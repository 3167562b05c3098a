public import URLLoading

extension UncurlError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    /// A description for people. It may contain URLs.
    public var description: String {
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
        case .loading(let error): ErrorText.of(error)
        case .transport(let error): ErrorText.of(error)
        case .cancelled: "the request was cancelled"
        case .sessionInvalidated: "the manager has been invalidated and sends nothing more"
        case .retry(let error, let original): "\(ErrorText.of(error)); before that, \(ErrorText.of(original))"
        case .bodyNotReplayable: "the request's content has to be sent again and can be read only once"
        }
    }

    /// Where the request stopped: before it was sent, on the network, or at its answer.
    public var failureReason: String? {
        switch self {
        case .invalidURL, .parameters, .header, .compression, .adaptation:
            "The request could not be built; nothing was sent."
        case .multipart: "The form could not be sent."
        case .validation: "The server answered, and the answer is not acceptable."
        case .serialization: "The server answered, and its content is not what was asked for."
        case .trust: "The server's certificate was not accepted; no request was sent to it."
        case .challenge: "The program refused the server's challenge."
        case .output: "The content could not be written to the output stream."
        case .file: "The download is complete and could not be moved to its place."
        case .loading: "A loading class of the program failed the request."
        case .transport(let error) where error.file != nil: "The file could not be read."
        case .transport(let error) where error.isUnsent: "The server could not be connected to; nothing was sent."
        case .transport: "The request or its answer was lost on the network."
        case .cancelled: "The program cancelled the request."
        case .sessionInvalidated: "The manager's session is closed."
        case .retry: "The request failed, and the interceptor that was asked for a retry gave an error of its own."
        case .bodyNotReplayable: "The request had to be sent again, after a redirect, a challenge or a lost connection."
        }
    }

    /// What helps, where that is certain; nil elsewhere.
    public var recoverySuggestion: String? {
        switch self {
        case .invalidURL:
            "Write characters that a URL may not have as %XX, and give the manager a base URL for relative references."
        case .bodyNotReplayable:
            "Give the content as data, as a file, or as a closure that makes a new stream each time."
        case .sessionInvalidated: "Make a new manager, or invalidate the old one with resettingSession: true."
        case .file(let failure) where failure.obstacle == .file:
            "Choose another place, or allow the replacement of a file with removePreviousFile."
        case .parameters(let failure):
            if case .notKeyed = failure.reason { "Give the parameters names, or send them as JSON." } else { nil }
        case .retry(_, let original): original.recoverySuggestion
        case .transport where isTimeout: "Try again later, or allow a longer time."
        case .transport where isConnectivity: "Check the network connection, and try again."
        case .header, .multipart, .compression, .adaptation, .validation, .serialization, .trust, .challenge, .output,
            .file, .loading,
            .transport, .cancelled:
            nil
        }
    }
}
