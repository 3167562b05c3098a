internal import HTTPEngine
internal import URLLoading

/// Makes the response of a task's outcome. Any thread may call it.
extension TaskOutcome {
    /// - Parameters:
    ///   - validation: in place of the serializer's own.
    ///   - reason: what the task failed for; nil where it did not.
    ///   - download: what has become of the file of one, which has been validated by then.
    func response<Serializer: ResponseSerializer>(
        by serializer: Serializer,
        validation: ResponseValidation? = nil,
        reason: UncurlError?,
        download: DownloadedFile?,
        retryCount: Int = 0
    ) -> Response<Serializer.Value> {
        let request = task.currentRequest ?? task.originalRequest
        var answer = ReceivedResponse(request: request, response: response, data: data, fileURL: file)
        var rejected: Serializer.Value?
        let result: Result<Serializer.Value, UncurlError>
        switch (reason, download) {
        case (let reason?, _): result = .failure(reason)
        case (nil, .stranded(let failure)?): result = .failure(failure)
        case (nil, .placed(let place)?):
            answer.fileURL = place
            (result, rejected) = serializer.outcome(of: answer, refusal: nil)
        case (nil, .refused(let refusal)?):
            (answer.data, answer.fileURL) = (refusal.data, refusal.fileURL)
            (result, rejected) = serializer.outcome(of: answer, refusal: refusal)
        case (nil, nil):
            let refusal = (validation ?? serializer.validation).failure(of: answer)
            (result, rejected) = serializer.outcome(of: answer, refusal: refusal)
        }
        let facts = ResponseFacts(
            request: request,
            response: response as? HTTPURLResponse,
            data: answer.data,
            fileURL: answer.fileURL,
            error: result.failure,
            metrics: metrics,
            retryCount: retryCount,
            resumeData: error?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
        )
        return Response(facts, result, rejected)
    }
}

extension Response {
    /// The response of a request that never became a task.
    init(failing error: UncurlError, _ request: URLRequest?, retryCount: Int = 0) {
        let facts = ResponseFacts(
            request: request,
            response: nil,
            data: Data(),
            fileURL: nil,
            error: error,
            metrics: nil,
            retryCount: retryCount,
            resumeData: nil
        )
        self.init(facts, .failure(error), nil)
    }
}

extension UncurlError {
    /// - Parameters:
    ///   - request: the one that the task began with.
    ///   - refusal: why the host was refused, if it was.
    init(_ error: URLError, of request: URLRequest?, refusal: UncurlError?) {
        if request?.segments != nil, let failure = MultipartFailure(error) {
            self = .multipart(failure)
            return
        }
        switch error.code {
        case .cancelled: self = .cancelled
        // The session's error for a server, or for a client certificate, that this manager refused.
        case .serverCertificateUntrusted, .clientCertificateRejected: self = refusal ?? .transport(error)
        case .requestBodyStreamExhausted: self = error.isContentBroken ? .transport(error) : .bodyNotReplayable
        default: self = .transport(error)
        }
    }
}

extension URLError {
    /// Whether the content was read, and was not as long as declared or broke off.
    fileprivate var isContentBroken: Bool {
        switch cause as? EngineError {
        case .bodySourceFailed(let source): !(source.underlying is ContentUsedUp)
        case .bodyLengthMismatch, .bodyFailed: true
        default: false
        }
    }
}
