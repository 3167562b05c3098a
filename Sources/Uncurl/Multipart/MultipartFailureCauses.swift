internal import HTTPEngine
internal import URLLoading

extension MultipartFailure {
    /// What of a form made the task fail that sent it; nil if it was something else.
    init?(_ error: URLError) {
        switch error.cause {
        case is ContentUsedUp: self = .notReplayable
        case let cause as EngineError:
            guard let failure = MultipartFailure(cause) else { return nil }
            self = failure
        default: return nil
        }
    }

    /// Streams in a form hold themselves to what they declared, so a wrong length is a file's.
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
