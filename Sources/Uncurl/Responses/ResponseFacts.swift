internal import URLLoading

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

    init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data,
        fileURL: URL?,
        error: UncurlError?,
        metrics: URLSessionTaskMetrics?,
        retryCount: Int,
        resumeData: Data?,
        made: (any Sendable)? = nil
    ) {
        self.request = request
        self.response = response
        self.data = data
        self.fileURL = fileURL
        self.error = error
        self.metrics = metrics
        self.retryCount = retryCount
        self.resumeData = resumeData
        self.made = made
    }

    convenience init(_ facts: ResponseFacts, made: (any Sendable)?, error: UncurlError?) {
        self.init(
            request: facts.request,
            response: facts.response,
            data: facts.data,
            fileURL: facts.fileURL,
            error: error,
            metrics: facts.metrics,
            retryCount: facts.retryCount,
            resumeData: facts.resumeData,
            made: made
        )
    }

    /// The facts of a request that never became a task.
    convenience init(
        failing error: UncurlError,
        _ request: URLRequest?,
        retryCount: Int = 0,
        resumeData: Data? = nil
    ) {
        self.init(
            request: request,
            response: nil,
            data: Data(),
            fileURL: nil,
            error: error,
            metrics: nil,
            retryCount: retryCount,
            resumeData: resumeData
        )
    }

    var statusCode: Int? { response?.statusCode }

    /// The same facts with another failure, and without the value of an accepted answer.
    func failing(_ error: UncurlError) -> ResponseFacts {
        ResponseFacts(self, made: self.error == nil ? nil : made, error: error)
    }
}
