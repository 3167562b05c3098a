public import URLLoading

extension URLSession {
    /// Sends a form and waits for the answer.
    ///
    /// - Parameters:
    ///   - request: a request whose method allows content. The form's Content-Type replaces its own.
    ///   - form: sent as `multipart/form-data`.
    ///   - delegate: the task's own delegate. It learns of bytes when the socket accepts them.
    /// - Throws: ``MultipartFailure`` for an error of the form, `URLError` otherwise.
    public func upload(
        for request: URLRequest,
        multipart form: MultipartForm,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let request = try form.request(from: request)
        do {
            return try await upload(for: request, delegate: delegate)
        } catch let error as URLError {
            throw MultipartFailure(error) as (any Error)? ?? error
        }
    }

    /// A task that sends a form and reports the answer to the delegate.
    public func uploadTask(
        with request: URLRequest,
        multipart form: MultipartForm
    ) throws(MultipartFailure) -> URLSessionUploadTask {
        uploadTask(withStreamedRequest: try form.request(from: request))
    }

    /// A task that sends a form and passes the whole answer to the handler, on the delegate queue. An error of the form
    /// is a ``MultipartFailure``.
    public func uploadTask(
        with request: URLRequest,
        multipart form: MultipartForm,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) throws(MultipartFailure) -> URLSessionUploadTask {
        uploadTask(with: try form.request(from: request), from: nil) { data, response, error in
            let failure = (error as? URLError).flatMap { MultipartFailure($0) }
            completionHandler(data, response, failure ?? error)
        }
    }
}
