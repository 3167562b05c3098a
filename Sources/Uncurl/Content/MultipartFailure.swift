public import URLLoading
internal import UncurlEngine

/// Why a form cannot be built or sent, or could not be read to its end while it was sent.
@frozen public enum MultipartFailure: Error, Hashable, Sendable {
    /// The boundary does not follow RFC 2046 §5.1.1: 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, and no space
    /// at the end.
    case invalidBoundary(String)
    /// The name of a part or of its file has a NUL, which servers misread.
    case nulInName(String)
    /// A part's header field is malformed: its name is no token, or its value has control characters.
    case invalidField(name: String, value: String)
    /// The URL names no file of this machine.
    case notFileURL(URL)
    /// The file does not exist, or the process may not search its folder.
    case fileUnreachable(URL, reason: String)
    /// The path is that of a folder.
    case fileIsDirectory(URL)
    /// The path is a pipe, a socket or a device. Send it as a stream.
    case fileNotRegular(URL)
    /// The file reports a size of zero and has content, as files in /proc do. Send it as a stream without a length.
    case fileSizeUnknown(URL)
    /// The file cannot be opened or read.
    case fileUnreadable(URL, reason: String)
    /// The file has been replaced, or its length has changed.
    case fileChanged(reason: String)
    /// The part's stream cannot be opened.
    case streamUnopenable(part: String, reason: String)
    /// The part's stream failed while it was read.
    case streamFailed(part: String, reason: String)
    /// The stream had more or fewer bytes than it declared. The connection was reset, so the server cannot take the
    /// form for complete.
    case lengthMismatch(part: String, declared: UInt64, given: UInt64)
    /// The form had to be sent again, after a redirect, a challenge or a lost connection, but one of its streams can be
    /// read only once.
    case notReplayable
    /// The sum of the lengths does not fit into 63 bits.
    case tooLong
    /// The encoded form is longer than the limit for memory.
    case overLimit(Int)
    /// A file exists at the place to write to; it is left as it is.
    case outputExists(URL)
    /// The URL to write to names no file of this machine.
    case outputNotFileURL(URL)
    /// The file could not be written, for example because the disk is full. The part that was written has been removed.
    case outputFailed(URL, reason: String)
    /// GET and HEAD carry no content.
    case methodWithoutContent(String)
}

extension MultipartFailure: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .invalidBoundary(let boundary): "“\(boundary)” cannot be a form's boundary (RFC 2046 §5.1.1)"
        case .nulInName(let name): "the name “\(name)” holds a NUL"
        case .invalidField(let name, _): "the field “\(name)” of a part cannot be sent"
        case .notFileURL(let url): "\(url.absoluteString) is not a file of this machine"
        case .fileUnreachable(let url, let reason): "\(url.path) cannot be reached: \(reason)"
        case .fileIsDirectory(let url): "\(url.path) is a directory"
        case .fileNotRegular(let url): "\(url.path) is not a regular file"
        case .fileSizeUnknown(let url): "the size of \(url.path) is unknown"
        case .fileUnreadable(let url, let reason): "\(url.path) cannot be read: \(reason)"
        case .fileChanged(let reason): "a file of the form has changed since it was added: \(reason)"
        case .streamUnopenable(let part, let reason): "the stream of part “\(part)” cannot be opened: \(reason)"
        case .streamFailed(let part, let reason): "the stream of part “\(part)” failed: \(reason)"
        case .lengthMismatch(let part, let declared, let given):
            "the stream of part “\(part)” declared \(declared) bytes and gave \(given)\(given > declared ? " or more" : "")"
        case .notReplayable: "the form has to be sent again, and a stream in it can be read only once"
        case .tooLong: "the form is longer than 2^63 bytes"
        case .overLimit(let limit):
            "the form is longer than the \(limit) bytes allowed in memory; encoded(limit:) sets the limit"
        case .outputExists(let url): "\(url.path) exists already"
        case .outputNotFileURL(let url): "\(url.absoluteString) does not name a file of this machine"
        case .outputFailed(let url, let reason): "\(url.path) could not be written: \(reason)"
        case .methodWithoutContent(let method): "a \(method) request cannot carry a form"
        }
    }
}

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
