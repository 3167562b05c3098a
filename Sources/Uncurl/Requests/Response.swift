public import URLLoading

/// What a request came to: one result, and everything it was made of.
public struct Response<Value: Sendable>: Sendable {
    /// The request that was answered, or would have been: after a redirect, the last. Nil where none could be built.
    public let request: URLRequest?
    public let response: HTTPURLResponse?
    /// The content as it came; of a failed request what had come. Empty for a download.
    public let data: Data
    /// Where a download lies. It is the caller's.
    public let fileURL: URL?
    public let result: Result<Value, UncurlError>
    /// What the serializer made of an answer that validation refused: an error document, for instance.
    public let rejectedValue: Value?
    /// Of the last attempt; nil unless the manager collects them.
    public let metrics: URLSessionTaskMetrics?
    /// How often the request was sent again after a retrier's word.
    public let retryCount: Int

    public var value: Value? { try? result.get() }

    public var error: UncurlError? {
        if case .failure(let error) = result { error } else { nil }
    }

    public var statusCode: Int? { response?.statusCode }

    /// What a cut or cancelled download goes on with: ``HTTPSessionManager/download(resuming:to:options:)``.
    public let resumeData: Data?

    /// Another value in place of this one's.
    public func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> Response<Other> {
        Response<Other>(
            request: request,
            response: response,
            data: data,
            fileURL: fileURL,
            result: try result.map(transform),
            rejectedValue: try rejectedValue.map(transform),
            metrics: metrics,
            retryCount: retryCount,
            resumeData: resumeData
        )
    }
}

extension Response {
    /// The same with another failure.
    func failing(_ error: UncurlError) -> Response {
        Response(
            request: request,
            response: response,
            data: data,
            fileURL: fileURL,
            result: .failure(error),
            rejectedValue: rejectedValue,
            metrics: metrics,
            retryCount: retryCount,
            resumeData: resumeData
        )
    }
}

extension Result {
    fileprivate func map<Other>(_ transform: (Success) throws -> Other) rethrows -> Result<Other, Failure> {
        switch self {
        case .success(let value): .success(try transform(value))
        case .failure(let error): .failure(error)
        }
    }
}

extension Response: CustomStringConvertible {
    public var description: String {
        let subject = request.map { "\($0.httpMethod ?? "GET") \($0.url?.absoluteString ?? "")" } ?? "no request"
        let status = statusCode.map { " → \($0)" } ?? ""
        return "\(subject)\(status), \(data.count) bytes: \(result)"
    }
}
