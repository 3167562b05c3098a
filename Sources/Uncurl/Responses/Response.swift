public import URLLoading

/// The outcome of a request: its result, and the facts behind it.
public struct Response<Value: Sendable>: Sendable {
    let facts: ResponseFacts

    init(_ facts: ResponseFacts) { self.facts = facts }

    /// The value, or the reason why there is none.
    public var result: Result<Value, UncurlError> {
        if let error { return .failure(error) }
        guard let made = facts.made else { preconditionFailure("a response without a failure has a value") }
        return .success(SerializedAnswer.value(of: made))
    }

    /// The value of an answer that validation refused, such as an error document.
    public var rejectedValue: Value? { error == nil ? nil : made }

    /// The value that the serializer made, whether or not the answer was accepted.
    private var made: Value? { facts.made.map { SerializedAnswer.value(of: $0) } }

    /// The request that was answered, or would have been; after redirects, the last one. Nil where none could be built.
    public var request: URLRequest? { facts.request }

    /// The head of the answer; nil where none came.
    public var response: HTTPURLResponse? { facts.response }

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
    /// ``URLSessionManager/download(resuming:to:options:)``.
    public var resumeData: Data? { facts.resumeData }

    /// The same response with another value.
    public func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> Response<Other> {
        Response<Other>(ResponseFacts(facts, made: try made.map(transform), error: error))
    }
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
        let subject = request.map { "\($0.httpMethod ?? "GET") \($0.url?.absoluteString ?? "")" } ?? "no request"
        let status = statusCode.map { " → \($0)" } ?? ""
        return "\(subject)\(status), \(length) bytes: \(result)"
    }
}
