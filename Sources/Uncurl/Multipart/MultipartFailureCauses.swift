internal import URLLoading
internal import UncurlEngine

extension MultipartFailure {
    /// The failure of the form that a task's error carries; nil for any other error.
    init?(_ error: URLError) {
        switch error.cause {
        case is ContentUsedUp: self = .notReplayable
        case let cause as EngineError:
            guard let failure = MultipartFailure(cause) else { return nil }
            self = failure
        default: return nil
        }
    }

    /// Streams in a form check their own lengths, so a wrong length is that of a file.
    init?(_ error: EngineError) {
        switch error {
        case .bodySourceFailed(let source):
            if source.underlying is ContentUsedUp {
                self = .notReplayable
            } else if let failure = source.underlying as? MultipartFailure {
                self = failure
            } else {
                return nil
            }
        case .bodyLengthMismatch, .bodyFileReplaced, .bodyUnreadable:
            self = .fileChanged(reason: "\(error)")
        default:
            return nil
        }
    }
}
