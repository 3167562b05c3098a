public import Foundation

extension URLSession {
    /// A task that goes on where a cancelled or failed upload stopped (``URLSessionConfiguration/resumableUploads``).
    ///
    /// The server is asked how much it has. Where it has forgotten the upload, and where the file has changed since, it
    /// begins again. Content in memory is in the resume data; a file must still be where it was; of a stream the
    /// delegate is asked for the rest. Data that is no resume data makes a task that fails.
    public func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(uploadResumingFrom: resumeData, .delegate)) }
    }

    /// The same with a handler, as with ``dataTask(with:completionHandler:)-(URLRequest,_)``.
    public func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(uploadResumingFrom: resumeData, .data(completionHandler))) }
    }

    /// Goes on where a cancelled or failed upload stopped (``uploadTask(withResumeData:)``), and waits for the answer.
    public func upload(
        resumeFrom resumeData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let spec = TaskSpec(uploadResumingFrom: resumeData, .awaitedData)
        return try await data(of: add { URLSessionUploadTask(self, $0, spec) }, delegate)
    }
}
