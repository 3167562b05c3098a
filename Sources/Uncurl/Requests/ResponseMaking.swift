internal import URLLoading

/// Makes one response of what a task came to. Any thread.
struct ResponseMaking<Serializer: ResponseSerializer>: Sendable {
    let serializer: Serializer
    /// In place of the serializer's own.
    var validation: ResponseValidation?
    var retryCount = 0

    /// - Parameters:
    ///   - reason: what the task failed for; nil where it did not.
    ///   - moved: where a download has come to.
    func response(
        to outcome: TaskOutcome,
        reason: UncurlError?,
        moved: Result<URL, UncurlError>?
    ) -> Response<Serializer.Value> {
        let request = outcome.task.currentRequest ?? outcome.task.originalRequest
        var file = outcome.file
        if case .success(let place)? = moved { file = place }
        var rejected: Serializer.Value?
        let result: Result<Serializer.Value, UncurlError>
        if let reason {
            result = .failure(reason)
        } else if case .failure(let failure)? = moved {
            result = .failure(failure)
        } else {
            let answer = ReceivedResponse(
                request: request,
                response: outcome.response,
                data: outcome.data,
                fileURL: file
            )
            (result, rejected) = serializer.outcome(of: answer, by: validation ?? serializer.validation)
        }
        return Response(
            request: request,
            response: outcome.response as? HTTPURLResponse,
            data: outcome.data,
            fileURL: file,
            result: result,
            rejectedValue: rejected,
            metrics: outcome.metrics,
            retryCount: retryCount,
            resumeData: outcome.error?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
        )
    }

    /// Of a request that never became a task.
    func response(failing error: UncurlError, _ request: URLRequest?) -> Response<Serializer.Value> {
        Response(
            request: request,
            response: nil,
            data: Data(),
            fileURL: nil,
            result: .failure(error),
            rejectedValue: nil,
            metrics: nil,
            retryCount: retryCount,
            resumeData: nil
        )
    }
}

extension UncurlError {
    /// - Parameter refusal: why the host was refused, if it was.
    init(_ error: URLError, refusal: UncurlError?) {
        if let failure = MultipartFailure(error) {
            self = .multipart(failure)
            return
        }
        switch error.code {
        case .cancelled: self = .cancelled
        // What the session calls a server, or a wish of its for a certificate, that somebody here refused.
        case .serverCertificateUntrusted, .clientCertificateRejected: self = refusal ?? .transport(error)
        case .requestBodyStreamExhausted: self = .bodyNotReplayable
        default: self = .transport(error)
        }
    }
}
