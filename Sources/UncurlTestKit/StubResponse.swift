public import Uncurl

/// The answer of a stub.
public struct StubResponse: Sendable {
    /// What happens, one after the other.
    enum Step: Sendable {
        case wait(Duration)
        case head(status: Int, headers: [String: String])
        case data(Data)
        case fail(any Error)
        /// Nothing more, and no end.
        case hang
    }

    enum Content: Sendable {
        case steps([Step])
        case made(@Sendable (StubbedRequest) async throws -> StubResponse)
    }

    let content: Content
    private let delay: Duration

    private init(_ content: Content, delay: Duration = .zero) {
        self.content = content
        self.delay = delay
    }

    /// A status with content. A 3xx with a Location is a redirect: the session's rules decide whether it is followed.
    public static func status(_ status: Int, headers: [String: String] = [:], data: Data = Data()) -> StubResponse {
        StubResponse(.steps([.head(status: status, headers: lengthened(headers, data.count)), .data(data)]))
    }

    /// JSON as it is written.
    public static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> StubResponse {
        data(Data(text.utf8), contentType: "application/json", status: status, headers: headers)
    }

    /// JSON of a value.
    public static func json(
        encoding value: some Encodable,
        encoder: JSONEncoder = JSONEncoder(),
        status: Int = 200
    ) throws -> StubResponse {
        data(try encoder.encode(value), contentType: "application/json", status: status)
    }

    /// Text in UTF-8, with the content type `text/plain`.
    public static func text(_ text: String, status: Int = 200) -> StubResponse {
        data(Data(text.utf8), contentType: "text/plain; charset=utf-8", status: status)
    }

    /// Content with a content type. `headers` replace fields of the same name.
    public static func data(
        _ data: Data,
        contentType: String = "application/octet-stream",
        status: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        self.status(status, headers: ["Content-Type": contentType].merging(headers) { $1 }, data: data)
    }

    /// An answer with this Location and no content. The session's rules decide whether it is followed.
    public static func redirect(to url: String, status: Int = 302) -> StubResponse {
        self.status(status, headers: ["Location": url])
    }

    /// Content in pieces, with a pause before each.
    public static func chunks(
        _ chunks: [Data],
        every pause: Duration = .zero,
        status: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        var steps: [Step] = [.head(status: status, headers: headers)]
        for chunk in chunks { steps += [.wait(pause), .data(chunk)] }
        return StubResponse(.steps(steps))
    }

    /// The same, in text: lines, or server-sent events.
    public static func chunks(
        _ chunks: [String],
        every pause: Duration = .zero,
        status: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        self.chunks(chunks.map { Data($0.utf8) }, every: pause, status: status, headers: headers)
    }

    /// Fails as the network does.
    public static func failure(_ code: URLError.Code) -> StubResponse { failure(URLError(code)) }

    /// The load fails with this error, before any answer.
    public static func failure(_ error: any Error) -> StubResponse { StubResponse(.steps([.fail(error)])) }

    /// Begins an answer, and fails before it is whole.
    public static func broken(after data: Data, _ error: any Error = URLError(.networkConnectionLost)) -> StubResponse {
        let head = Step.head(status: 200, headers: ["Content-Length": "\(data.count + 1)"])
        return StubResponse(.steps([head, .data(data), .fail(error)]))
    }

    /// Never answers: for time limits, and for cancelling.
    public static let hang = StubResponse(.steps([.hang]))

    /// Made for each request.
    public static func made(_ make: @escaping @Sendable (StubbedRequest) async throws -> StubResponse) -> StubResponse {
        StubResponse(.made(make))
    }

    /// The same, so much later.
    public func delayed(by span: Duration) -> StubResponse { StubResponse(content, delay: delay + span) }

    /// What to do for this request. What throws while it is made fails the request.
    func steps(for request: StubbedRequest) async -> [Step] {
        let wait = delay > .zero ? [Step.wait(delay)] : []
        switch content {
        case .steps(let steps): return wait + steps
        case .made(let make):
            do { return wait + (await (try make(request)).steps(for: request)) } catch { return wait + [.fail(error)] }
        }
    }

    private static func lengthened(_ headers: [String: String], _ count: Int) -> [String: String] {
        let isStated = headers.keys.contains {
            $0.lowercased() == "content-length" || $0.lowercased() == "transfer-encoding"
        }
        return isStated ? headers : headers.merging(["Content-Length": "\(count)"]) { old, _ in old }
    }
}
