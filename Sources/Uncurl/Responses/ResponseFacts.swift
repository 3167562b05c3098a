internal import URLLoading

/// All of a response except its value. It is an object, so that generic code for responses carries only a reference.
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

    init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data,
        fileURL: URL?,
        error: UncurlError?,
        metrics: URLSessionTaskMetrics?,
        retryCount: Int,
        resumeData: Data?
    ) {
        self.request = request
        self.response = response
        self.data = data
        self.fileURL = fileURL
        self.error = error
        self.metrics = metrics
        self.retryCount = retryCount
        self.resumeData = resumeData
    }

    convenience init(_ facts: ResponseFacts, failing error: UncurlError) {
        self.init(
            request: facts.request,
            response: facts.response,
            data: facts.data,
            fileURL: facts.fileURL,
            error: error,
            metrics: facts.metrics,
            retryCount: facts.retryCount,
            resumeData: facts.resumeData
        )
    }
}
