import Foundation
import Uncurl

/// The errors that tasks may end with here.
enum FittingError {
    struct Verdict {
        /// The error's name in the summary.
        let name: String
        let fits: Bool
        let text: String
    }

    /// The codes that may come, with their names.
    private static let codes: [URLError.Code: String] = [
        .cancelled: "cancelled",
        .timedOut: "timed out",
        .networkConnectionLost: "connection lost",
        .cannotConnectToHost: "cannot connect",
        .secureConnectionFailed: "TLS failed",
        .badServerResponse: "bad answer",
        .cannotParseResponse: "answer not parsed",
        .cannotDecodeContentData: "content not decoded",
        .cannotDecodeRawData: "content not decoded",
        .dataLengthExceedsMaximum: "too much data",
        .httpTooManyRedirects: "too many redirects",
        .redirectToNonExistentLocation: "redirect to nowhere",
        .unsupportedURL: "redirect to another scheme",
        .fileDoesNotExist: "redirect to a file",
        .userAuthenticationRequired: "challenge not answered",
        // Descriptors or the disk are taken away.
        .cannotCreateFile: "file not created",
        .cannotOpenFile: "file not opened",
        .cannotWriteToFile: "file not written",
        .cannotMoveFile: "file not moved",
        .cannotCloseFile: "file not closed",
        .cannotRemoveFile: "file not removed",
        .noPermissionsToReadFile: "file not read",
    ]

    static func judge(_ error: any Error, mayBeCancelled: Bool) -> Verdict {
        if error is CancellationError { return Verdict(name: "cancelled", fits: mayBeCancelled, text: "\(error)") }
        if let error = error as? UncurlError { return judge(error, mayBeCancelled) }
        guard let error = error as? URLError else { return Verdict(name: "foreign", fits: false, text: "\(error)") }
        // The task was made after its session had been invalidated.
        if error.code == .unknown, mayBeCancelled { return Verdict(name: "session invalidated", fits: true, text: "") }
        guard let name = codes[error.code] else {
            return Verdict(name: "code \(error.code.rawValue)", fits: false, text: "\(error)")
        }
        let fits = error.code != .cancelled || mayBeCancelled
        return Verdict(name: name, fits: fits, text: fits ? "" : "cancelled, and nothing has cancelled it: \(error)")
    }

    private static func judge(_ error: UncurlError, _ mayBeCancelled: Bool) -> Verdict {
        switch error {
        case .transport(let error): judge(error, mayBeCancelled: mayBeCancelled)
        case .cancelled, .sessionInvalidated: Verdict(name: "cancelled", fits: mayBeCancelled, text: "\(error)")
        case .validation: Verdict(name: "status not taken", fits: true, text: "")
        case .serialization: Verdict(name: "content not understood", fits: true, text: "")
        case .file: Verdict(name: "file not written", fits: true, text: "")
        case .retry(_, let original): judge(original, mayBeCancelled)
        default: Verdict(name: "Uncurl's", fits: false, text: "\(error)")
        }
    }
}
