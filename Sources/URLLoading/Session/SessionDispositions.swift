internal import Foundation

extension URLSession {
    /// How to answer a challenge.
    @frozen public enum AuthChallengeDisposition: Int, Sendable {
        /// Use the given credential; if there is none, continue without credentials.
        case useCredential
        /// Handle the challenge as if there were no delegate.
        case performDefaultHandling
        /// End the task as cancelled.
        case cancelAuthenticationChallenge
        /// Continue with the response's next challenge, if there is one; otherwise take the response as the answer.
        case rejectProtectionSpace
    }

    /// How to handle an answer's content.
    @frozen public enum ResponseDisposition: Int, Sendable {
        /// End the task as cancelled.
        case cancel
        /// Deliver the content.
        case allow
        /// Deliver the content to a file: the task becomes a download task.
        @available(*, deprecated, message: "Make a download task instead")
        case becomeDownload
        /// Make the task a stream task, which reads the content as it is asked for. After 101 (Switching Protocols) to
        /// a request with an Upgrade field, the stream task reads and writes the connection; after any other answer it
        /// can only read.
        case becomeStream
    }

    /// How to begin a task whose date has come.
    @frozen public enum DelayedRequestDisposition: Sendable {
        /// Load the task's own request.
        case continueLoading
        /// Load the given request, or the task's own if none is given.
        case useNewRequest
        /// End the task as cancelled.
        case cancel
    }
}
