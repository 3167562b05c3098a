public import URLLoading
internal import UncurlEngine

/// The outcome of a request: its result, and the facts behind it.
public struct Response<Value: Sendable>: Sendable {
    let facts: ResponseFacts

    init(_ facts: ResponseFacts) { self.facts = facts }

    /// The value, or the reason why there is none.
    public var result: Result<Value, UncurlError> {
        if let error { return .failure(error) }
        guard let made = facts.made else { preconditionFailure("a response without a failure has a value") }
        return .success(SerializedResponse.exact(made))
    }

    /// The value of an answer that validation refused, such as an error document.
    public var rejectedValue: Value? { error == nil ? nil : made }

    /// The value that the serializer made, whether or not the answer was accepted.
    private var made: Value? { facts.made.map { SerializedResponse.exact($0) } }

    /// The request that was answered, or would have been; after redirects, the last one. Nil where none could be built.
    public var request: URLRequest? { facts.request }

    /// The head of the answer; nil where none came.
    public var response: HTTPURLResponse? { facts.response }

    /// The headers of the response, as of `HTTPURLResponse.headers`; empty where none came.
    public var headers: HTTPHeaders { response?.headers ?? HTTPHeaders() }

    /// The content. For a failed request, the part that came; for a download, empty.
    public var data: Data { facts.data }

    /// The file of a download. It belongs to the caller.
    public var fileURL: URL? { facts.fileURL }

    /// The metrics of the last attempt; nil unless the manager collects metrics.
    public var metrics: URLSessionTaskMetrics? { facts.metrics }

    /// How often an interceptor sent the request again.
    public var retryCount: Int { facts.retryCount }

    /// The value; nil for a failure.
    public var value: Value? { error == nil ? made : nil }

    /// Why there is no value; nil where there is one.
    public var error: UncurlError? { facts.error }

    /// The answer's status; nil where there was no answer.
    public var statusCode: Int? { facts.statusCode }

    /// The resume data of an interrupted or cancelled download, for
    /// ``URLSessionManager/download(resuming:to:options:progress:)``.
    public var resumeData: Data? { facts.resumeData }

    /// The same response with another value.
    public func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> Response<Other> {
        Response<Other>(facts.with(made: try made.map(transform), error: error))
    }
}

extension HTTPURLResponse {
    /// The headers, sorted by name: `response.headers["content-type"]` finds one in any case. Several values of one
    /// name are joined by ", ", as in `allHeaderFields`. Made anew each time.
    public var headers: HTTPHeaders { HTTPHeaders(allHeaderFields as? [String: String] ?? [:]) }
}

extension Response {
    /// The same response with another failure.
    func failing(_ error: UncurlError) -> Response {
        Response(facts.failing(error))
    }
}

extension Response: CustomStringConvertible {
    /// The length of the content, which may be in a file.
    private var length: Int {
        guard let fileURL else { return data.count }
        return (try? fileURL.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? data.count
    }

    public var description: String {
        let subject = request.map { "\($0.httpMethod ?? "GET") \($0.url?.redacted ?? "")" } ?? "no request"
        let status = statusCode.map { " → \($0)" } ?? ""
        return "\(subject)\(status), \(length) bytes: \(result)"
    }
}

/// All of a response. It is an object that does not depend on the type of the value: generic code, which looks types
/// up at run time, would take a fifth of the time of a small request.
final class ResponseFacts: Sendable {
    let request: URLRequest?
    let response: HTTPURLResponse?
    let data: Data
    let fileURL: URL?
    /// The error of the result.
    let error: UncurlError?
    let metrics: URLSessionTaskMetrics?
    let retryCount: Int
    let resumeData: Data?
    /// What the serializer made. If there is an error, the value of an answer that validation refused.
    let made: (any Sendable)?

    /// What is not given is what a request has that never became a task.
    init(
        _ request: URLRequest?,
        _ response: HTTPURLResponse? = nil,
        data: Data = Data(),
        fileURL: URL? = nil,
        error: UncurlError?,
        metrics: URLSessionTaskMetrics? = nil,
        retryCount: Int = 0,
        resumeData: Data? = nil,
        made: (any Sendable)? = nil
    ) {
        (self.request, self.response, self.data, self.fileURL) = (request, response, data, fileURL)
        (self.error, self.metrics, self.retryCount) = (error, metrics, retryCount)
        (self.resumeData, self.made) = (resumeData, made)
    }

    var statusCode: Int? { response?.statusCode }

    func with(made: (any Sendable)?, error: UncurlError?) -> ResponseFacts {
        ResponseFacts(
            request,
            response,
            data: data,
            fileURL: fileURL,
            error: error,
            metrics: metrics,
            retryCount: retryCount,
            resumeData: resumeData,
            made: made
        )
    }

    /// The same facts with another failure, and without the value of an accepted answer.
    func failing(_ error: UncurlError) -> ResponseFacts { with(made: self.error == nil ? nil : made, error: error) }
}

/// What follows the end of a task: its own end is told, then a download's file is put at its place, a response is made,
/// and the end of the task is reported after its handlers.
extension TaskDelegate {
    /// Calls the hooks for the end of a task on the delegate queue, if there are any, and tells the monitors.
    func ended(_ task: URLSessionTask, _ error: URLError?, _ metrics: URLSessionTaskMetrics?, in session: URLSession) {
        if core.hooks.didComplete != nil || didComplete != nil {
            let reason = error?.ofClass ?? error
            session.delegateQueue.addLasting { [self] in
                core.hooks.didComplete?(session, task, reason)
                didComplete?(session, task, reason)
            }
        }
        watchers?.tell(.completedTask(task, error))
        if let metrics { watchers?.tell(.collectedMetrics(metrics)) }
    }

    /// Makes the response of an ended task. May be called on any thread.
    ///
    /// - Parameters:
    ///   - validation: says which answers are acceptable, whatever the serializer's own validation says.
    ///   - failure: why the request failed, where the task does not know it.
    ///   - download: the validated and moved file of a download; nil for any other task.
    ///   - resumeData: the resume data of an earlier attempt, where this one has none of its own.
    func response(
        to outcome: TaskOutcome,
        by serializer: any ResponseSerializer,
        _ validation: ResponseValidation,
        failure: UncurlError? = nil,
        download: DownloadedFile? = nil,
        retryCount: Int = 0,
        resumeData: Data? = nil
    ) -> ResponseFacts {
        let task = outcome.task
        let request = task.currentRequest ?? task.originalRequest
        var answer = ReceivedResponse(
            request: request,
            response: outcome.response,
            data: outcome.data,
            fileURL: outcome.file
        )
        let result: SerializedResponse<any Sendable>
        switch (failure ?? reason(for: outcome.error, of: task), download) {
        case (let reason?, _): result = SerializedResponse(value: nil, error: reason)
        case (nil, .stranded(let failure)?): result = SerializedResponse(value: nil, error: failure)
        case (nil, .placed(let place)?), (nil, .left(let place)?):
            answer.fileURL = place
            result = serializer.serialized(answer, refusal: nil)
        case (nil, .refused(let refusal)?):
            (answer.data, answer.fileURL) = (refusal.data, refusal.fileURL)
            result = serializer.serialized(answer, refusal: refusal)
        case (nil, nil): result = serializer.serialized(answer, refusal: validation.failure(of: answer))
        }
        let facts = ResponseFacts(
            request,
            outcome.response as? HTTPURLResponse,
            data: answer.data,
            fileURL: answer.fileURL,
            error: result.error,
            metrics: outcome.metrics,
            retryCount: retryCount,
            resumeData: outcome.error?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data ?? resumeData,
            made: result.value
        )
        note(facts)
        return facts
    }

    /// Tells the monitors of a response: where the file is, whether the answer is acceptable, what was made of it.
    func tellResponse(_ response: ResponseFacts, _ download: DownloadedFile? = nil) {
        tellDetails(of: download, response.error)
        watchers?.tell(.serialized(statusCode: response.statusCode, response.error))
    }

    /// Tells the monitors of a download's move and of the validation's result, for a task that had an answer.
    func tellDetails(of download: DownloadedFile?, _ error: UncurlError?) {
        switch download {
        case .placed(let place)?, .left(let place)?: tellDetail(.movedFile(place))
        case .stranded(let failure)?: tellDetail(.failedToMoveFile(failure))
        case .refused?, nil: break
        }
        switch error {
        case .validation?: tellDetail(.validated(error))
        case nil, .serialization?: tellDetail(.validated(nil))
        default: break
        }
    }
}

extension UncurlError {
    /// - Parameters:
    ///   - request: the request that the task began with.
    ///   - refusal: why this manager refused the host; nil where it did not.
    init(_ error: URLError, of request: URLRequest?, refusal: UncurlError?) {
        if request?.content != nil, let failure = MultipartFailure(error) {
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
