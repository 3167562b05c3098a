public import Uncurl
internal import UncurlText

/// The answer of a stub.
public struct StubResponse: Sendable {
    /// The steps of an answer, in order.
    enum Step: Sendable {
        case wait(Duration)
        case head(status: Int, headers: [String: String])
        case data(Data)
        case fail(any Error)
        /// The answer stops here and never ends.
        case hang
    }

    private let content: @Sendable (StubbedRequest) async throws -> [Step]
    private let delay: Duration

    private init(
        delay: Duration = .zero,
        _ content: @escaping @Sendable (StubbedRequest) async throws -> [Step]
    ) {
        self.content = content
        self.delay = delay
    }

    private init(_ steps: [Step]) { self.init { _ in steps } }

    /// An answer with a status and content. A 3xx with a Location is a redirect: the session decides whether it is
    /// followed.
    public static func status(_ status: Int, headers: [String: String] = [:], data: Data = Data()) -> StubResponse {
        StubResponse([.head(status: status, headers: lengthened(headers, data.count)), .data(data)])
    }

    /// A JSON text as it is given here.
    public static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> StubResponse {
        data(Data(text.utf8), contentType: "application/json", status: status, headers: headers)
    }

    /// A value as JSON.
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

    /// A redirect to this Location, without content. The session decides whether it is followed.
    public static func redirect(to url: String, status: Int = 302) -> StubResponse {
        self.status(status, headers: ["Location": url])
    }

    /// Content in pieces, with a pause before each piece.
    public static func chunks(
        _ chunks: [Data],
        every pause: Duration = .zero,
        status: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        var steps: [Step] = [.head(status: status, headers: headers)]
        for chunk in chunks { steps += [.wait(pause), .data(chunk)] }
        return StubResponse(steps)
    }

    /// Text in pieces, such as lines or server-sent events, with a pause before each.
    public static func chunks(
        _ chunks: [String],
        every pause: Duration = .zero,
        status: Int = 200,
        headers: [String: String] = [:]
    ) -> StubResponse {
        self.chunks(chunks.map { Data($0.utf8) }, every: pause, status: status, headers: headers)
    }

    /// The load fails with this network error, before any answer.
    public static func failure(_ code: URLError.Code) -> StubResponse { failure(URLError(code)) }

    /// The load fails with this error, before any answer.
    public static func failure(_ error: any Error) -> StubResponse { StubResponse([.fail(error)]) }

    /// Sends this part of an answer, then fails.
    public static func broken(after data: Data, _ error: any Error = URLError(.networkConnectionLost)) -> StubResponse {
        let head = Step.head(status: 200, headers: ["Content-Length": "\(data.count + 1)"])
        return StubResponse([head, .data(data), .fail(error)])
    }

    /// Never answers, to test time limits and cancellation.
    public static let hang = StubResponse([.hang])

    /// An answer that the closure makes for each request.
    public static func made(_ make: @escaping @Sendable (StubbedRequest) async throws -> StubResponse) -> StubResponse {
        StubResponse { await (try make($0)).steps(for: $0) }
    }

    /// The same answer after a delay.
    public func delayed(by span: Duration) -> StubResponse { StubResponse(delay: delay + span, content) }

    /// The steps for this request. An error from the closure that makes the answer fails the request.
    func steps(for request: StubbedRequest) async -> [Step] {
        let wait = delay > .zero ? [Step.wait(delay)] : []
        do { return wait + (try await content(request)) } catch { return wait + [.fail(error)] }
    }

    private static func lengthened(_ headers: [String: String], _ count: Int) -> [String: String] {
        let isStated = headers.keys.contains {
            $0.lowercased() == "content-length" || $0.lowercased() == "transfer-encoding"
        }
        return isStated ? headers : headers.merging(["Content-Length": "\(count)"]) { old, _ in old }
    }
}

extension StubResponse: CustomStringConvertible {
    public var description: String { described(Self.self, ["delay": delay]) }
}
