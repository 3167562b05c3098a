internal import Foundation

extension URLSession {
    /// What to do about a challenge.
    @frozen public enum AuthChallengeDisposition: Int, Sendable {
        /// With the credential given; without one, on without credentials.
        case useCredential
        /// As if there were no delegate.
        case performDefaultHandling
        /// The task ends as cancelled.
        case cancelAuthenticationChallenge
        /// The next challenge of the answer, if there is one; else the answer is what it is.
        case rejectProtectionSpace
    }

    /// What to do about an answer's content.
    @frozen public enum ResponseDisposition: Int, Sendable {
        /// The task ends as cancelled.
        case cancel
        /// The content is delivered.
        case allow
        /// Into a file.
        @available(*, deprecated, message: "Make a download task instead")
        case becomeDownload
        /// A stream task, which reads the content as it is asked for. After 101 (Switching Protocols) to a request with
        /// an Upgrade field it has the whole connection, both ways; after any other answer there is nothing to write
        /// to.
        case becomeStream
    }

    /// What to do about a task whose date has come.
    @frozen public enum DelayedRequestDisposition: Sendable {
        /// The task loads its own request.
        case continueLoading
        /// The task loads the request that is given, or its own where none is.
        case useNewRequest
        /// The task ends as cancelled.
        case cancel
    }
}
