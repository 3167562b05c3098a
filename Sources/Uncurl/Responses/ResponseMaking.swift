internal import URLLoading
internal import UncurlEngine

/// Makes a response of a task's outcome. May be called on any thread.
extension TaskOutcome {
    /// - Parameters:
    ///   - validation: replaces the serializer's own validation.
    ///   - reason: why the task failed; nil where it did not.
    ///   - download: the validated and moved file of a download; nil for any other task.
    ///   - resumeData: the resume data of an earlier attempt, where this one has none of its own.
    func response(
        by serializer: any ResponseSerializer,
        validation: ResponseValidation? = nil,
        reason: UncurlError?,
        download: DownloadedFile?,
        retryCount: Int = 0,
        resumeData: Data? = nil
    ) -> ResponseFacts {
        let request = task.currentRequest ?? task.originalRequest
        var answer = ReceivedResponse(request: request, response: response, data: data, fileURL: file)
        let result: SerializedAnswer
        switch (reason, download) {
        case (let reason?, _): result = SerializedAnswer(error: reason)
        case (nil, .stranded(let failure)?): result = SerializedAnswer(error: failure)
        case (nil, .placed(let place)?), (nil, .left(let place)?):
            answer.fileURL = place
            result = serializer.serialized(answer, refusal: nil)
        case (nil, .refused(let refusal)?):
            (answer.data, answer.fileURL) = (refusal.data, refusal.fileURL)
            result = serializer.serialized(answer, refusal: refusal)
        case (nil, nil):
            let refusal = (validation ?? serializer.validation).failure(of: answer)
            result = serializer.serialized(answer, refusal: refusal)
        }
        return ResponseFacts(
            request: request,
            response: response as? HTTPURLResponse,
            data: answer.data,
            fileURL: answer.fileURL,
            error: result.error,
            metrics: metrics,
            retryCount: retryCount,
            resumeData: error?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data ?? resumeData,
            made: result.made
        )
    }
}

extension UncurlError {
    /// - Parameters:
    ///   - request: the request that the task began with.
    ///   - refusal: why this manager refused the host; nil where it did not.
    init(_ error: URLError, of request: URLRequest?, refusal: UncurlError?) {
        if request?.parts != nil, let failure = MultipartFailure(error) {
            self = .multipart(failure)
            return
        }
        if let own = error.ofClass {
            self = .loading(own)
            return
        }
        switch error.code {
        // This manager's refusal of a certificate is a challenge that its delegate has cancelled.
        case .cancelled: self = (error.isOfRefusedHandshake ? refusal : nil) ?? .cancelled
        // The same for a task whose own delegate was not asked.
        case .serverCertificateUntrusted, .clientCertificateRejected: self = refusal ?? .transport(error)
        // An upload that its server keeps can be resumed from the data in its error.
        case .requestBodyStreamExhausted where error.uploadTaskResumeData == nil && !error.isContentBroken:
            self = .bodyNotReplayable
        default: self = .transport(error)
        }
    }
}

extension URLError {
    /// Whether the content was read, but broke off or did not have its declared length.
    fileprivate var isContentBroken: Bool {
        switch cause as? EngineError {
        case .bodySourceFailed(let source): !(source.underlying is ContentUsedUp)
        case .bodyLengthMismatch, .bodyFailed: true
        default: false
        }
    }
}
