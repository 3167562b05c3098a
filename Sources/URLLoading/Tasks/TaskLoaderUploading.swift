internal import Foundation
internal import HTTPSemantics

/// An upload that is resumed.
extension TaskLoader {
    /// Takes the step that the upload's machine has decided.
    func goOnUploading(_ step: UploadStep) {
        guard case .goOn(let delay) = step else {
            let reason = "the server does not say how much of the upload it has"
            return end(.badServerResponse, attempt.request.url, reason)
        }
        observation?.note(.sendsAgain)
        pause { [self] held in
            settle(held) { [self] in
                start(after: delay) { [self] in
                    if let next = attempt.nextUploadRequest() { start(next) }
                }
            }
        }
    }
}
