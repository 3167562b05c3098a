public import Foundation

extension URLSession {
    /// Makes a task that resumes a cancelled or failed upload (``URLSessionConfiguration/resumableUploads``).
    ///
    /// The task asks the server how much it has. The upload starts over if the server no longer has it, or if the file
    /// has changed. The resume data holds content that was in memory. A file must still be at its path. For a stream,
    /// the delegate is asked for the rest. If the data is not resume data, or was changed, the task fails.
    ///
    /// Resume data says which file is sent where. Its checksum detects damage, not forgery, so that data from another
    /// source must not be used.
    public func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(uploadResumingFrom: resumeData, .delegate)) }
    }

    /// Makes the same task with a handler, as ``dataTask(with:completionHandler:)-(URLRequest,_)``.
    public func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        add { URLSessionUploadTask(self, $0, TaskSpec(uploadResumingFrom: resumeData, .data(completionHandler))) }
    }

    /// Resumes a cancelled or failed upload (``uploadTask(withResumeData:)``), and waits for the answer.
    public func upload(
        resumeFrom resumeData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let spec = TaskSpec(uploadResumingFrom: resumeData, .awaitedData)
        return try await data(of: add { URLSessionUploadTask(self, $0, spec) }, delegate)
    }
}
