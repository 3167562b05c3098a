internal import URLLoading

extension UncurlError {
    /// A description for shared logs. It contains no URLs, because URLs may hold secrets.
    var words: String {
        switch self {
        case .invalidURL(_, let reason): "no URL to load: \(reason)"
        case .parameters(let failure): "\(failure)"
        case .header(let name): "header field \(name.debugDescription) cannot be sent"
        case .multipart(let failure): "\(failure)"
        case .compression(let failure): "\(failure)"
        case .adaptation(let error): "an adapter threw: \(Self.words(of: error))"
        case .validation(let failure): failure.words
        case .serialization(let failure): failure.words
        case .trust(let failure): "\(failure)"
        case .challenge(let error): "a challenge was answered with an error: \(Self.words(of: error))"
        case .output(let failure): "\(failure)"
        case .file(let failure): "the download could not be put in its place: \(failure.cause)"
        case .loading(let error): "a loading class failed: \(Self.words(of: error))"
        case .transport(let error): Self.words(of: error)
        case .cancelled: "cancelled"
        case .sessionInvalidated: "the manager has been invalidated"
        case .retry(let error, let original): "\(Self.words(of: error)), after: \(original.words)"
        case .bodyNotReplayable: "the content must be sent again and can be read only once"
        }
    }

    /// The kind of error, for the label of a metric: each distinct value is a metric of its own.
    func type(_ status: Int?) -> String {
        switch self {
        case .validation: status.map(String.init) ?? "none"
        case .cancelled: "cancelled"
        case .transport: "transport"
        case .trust: "trust"
        default: "other"
        }
    }

    /// A description without a URL: the user info of a network error, which contains the URL, is left out.
    private static func words(of error: any Error) -> String {
        switch error {
        case let error as UncurlError: error.words
        case let error as URLError: "\(ErrorText.of(error)) (\(error.code.rawValue))"
        default: "\(error)"
        }
    }
}
