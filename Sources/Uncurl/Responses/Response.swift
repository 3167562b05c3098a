public import URLLoading

/// The outcome of a request: one result, and everything that it was made of.
public struct Response<Value: Sendable>: Sendable {
    let facts: ResponseFacts
    /// The value, or why there is none.
    public let result: Result<Value, UncurlError>
    /// What the serializer made of an answer that validation refused: an error document, for instance.
    public let rejectedValue: Value?

    /// Inline: the caller knows the type of the result, and need not look it up again.
    @inline(__always)
    init(_ facts: ResponseFacts, _ result: Result<Value, UncurlError>, _ rejectedValue: Value?) {
        self.facts = facts
        self.result = result
        self.rejectedValue = rejectedValue
    }

    /// The request that was answered, or would have been: after a redirect, the last. Nil where none could be built.
    public var request: URLRequest? { facts.request }

    /// The head of the answer; nil where there was none.
    public var response: HTTPURLResponse? { facts.response }

    /// The content as it came; of a failed request what had come. Empty for a download.
    public var data: Data { facts.data }

    /// Where a download lies. It is the caller's.
    public var fileURL: URL? { facts.fileURL }

    /// The metrics of the last attempt; nil unless the manager collects metrics.
    public var metrics: URLSessionTaskMetrics? { facts.metrics }

    /// How often an interceptor sent the request again.
    public var retryCount: Int { facts.retryCount }

    /// The value; nil for a failure.
    public var value: Value? { try? result.get() }

    /// Why there is no value; nil where there is one.
    public var error: UncurlError? { facts.error }

    /// The answer's status; nil where there was no answer.
    public var statusCode: Int? { response?.statusCode }

    /// The resume data of a cut or cancelled download, for ``URLSessionManager/download(resuming:to:options:)``.
    public var resumeData: Data? { facts.resumeData }

    /// Another value in place of this one's.
    public func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> Response<Other> {
        Response<Other>(facts, try result.map(transform), try rejectedValue.map(transform))
    }
}

extension Response {
    /// The same with another failure.
    func failing(_ error: UncurlError) -> Response {
        Response(ResponseFacts(facts, failing: error), .failure(error), rejectedValue)
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }

    fileprivate func map<Other>(_ transform: (Success) throws -> Other) rethrows -> Result<Other, Failure> {
        switch self {
        case .success(let value): .success(try transform(value))
        case .failure(let error): .failure(error)
        }
    }
}

extension Response: CustomStringConvertible {
    /// Of the file, where the content lies in one.
    private var length: Int {
        guard let fileURL else { return data.count }
        return (try? fileURL.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? data.count
    }

    public var description: String {
        let subject = request.map { "\($0.httpMethod ?? "GET") \($0.url?.absoluteString ?? "")" } ?? "no request"
        let status = statusCode.map { " → \($0)" } ?? ""
        return "\(subject)\(status), \(length) bytes: \(result)"
    }
}
