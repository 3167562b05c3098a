internal import UncurlHTTP1
internal import UncurlReactor
import UncurlText

/// A virtual user, with which a ``LoadTest/visit`` sends its requests.
///
/// Any task may call it, one call at a time. At the end of the run, the call in progress throws a `CancellationError`,
/// and so does each later one.
public final class LoadUser: Sendable {
    /// The user's number among all users of the test, from 0.
    public let number: Int
    private let visits: LoopBound<UserVisits>

    init(number: Int, _ visits: LoopBound<UserVisits>) { (self.number, self.visits) = (number, visits) }

    /// Sends a request, and returns its response, or a response with ``LoadResponse/error`` where none came.
    ///
    /// - Throws: `CancellationError` at the end of the run; ``LoadTestError`` for a request that cannot be sent.
    public func send(_ request: LoadRequest) async throws -> LoadResponse {
        try await withCheckedThrowingContinuation { continuation in
            ask(continuation) { visits in visits.send(request, continuation) }
        }
    }

    /// Sends a GET: ``send(_:)``.
    public func get(_ url: String) async throws -> LoadResponse { try await send(LoadRequest("GET", url)) }

    /// Sends a POST with that content: ``send(_:)``.
    public func post(_ url: String, _ body: [UInt8]) async throws -> LoadResponse {
        try await send(LoadRequest("POST", url, body: body))
    }

    /// Rests for a time.
    ///
    /// - Throws: `CancellationError` at the end of the run.
    public func pause(_ span: Duration) async throws {
        _ = try await withCheckedThrowingContinuation { (continuation: UserVisits.Continuation) in
            ask(continuation) { visits in visits.rest(UInt64(clamping: span.wholeNanoseconds), continuation) }
        }
    }

    private func ask(_ continuation: UserVisits.Continuation, _ act: @escaping @Sendable (UserVisits) -> Void) {
        let visits = visits
        let isHeard = visits.loop.post { act(visits.value) }
        if !isHeard { continuation.resume(throwing: CancellationError()) }
    }
}

/// One virtual user's visits, each a task that prefers the user's loop. It is confined to that loop.
///
/// ```
///   none ──begin──▶ deciding ──send──▶ under way ──answer──▶ deciding ──end──▶ none
///                      └─────rest────▶ resting ───wake───────┘
/// ```
final class UserVisits {
    typealias Continuation = CheckedContinuation<LoadResponse, any Error>

    /// The actions of a visit that its user's driver carries out: it sends a request, unless the run has no more
    /// requests to send; rests; and ends, having sent nothing or something.
    typealias Orders = (
        send: (LoadRequest) throws(LoadTestError) -> Bool, rest: (UInt64) -> Void, end: (_ isEmpty: Bool) -> Void
    )

    private let loop: EventLoop
    private let body: @Sendable (LoadUser) async throws -> Void
    private let number: Int
    private var orders: Orders?
    private var waiting: Continuation?
    private var task: Task<Void, Never>?
    private var isEmpty = true
    private(set) var isResting = false

    init(on loop: EventLoop, number: Int, _ body: @escaping @Sendable (LoadUser) async throws -> Void) {
        (self.loop, self.number, self.body) = (loop, number, body)
    }

    /// - Parameter orders: The driver's actions, kept until ``stop()``.
    func follow(_ orders: Orders) { self.orders = orders }

    func begin() {
        isEmpty = true
        let bound = LoopBound(self, on: loop)
        let user = LoadUser(number: number, bound)
        let body = body
        task = Task(executorPreference: loop.executor) {
            try? await body(user)
            bound.loop.post { bound.value.ended() }
        }
    }

    func send(_ request: LoadRequest, _ continuation: Continuation) {
        guard let orders, waiting == nil else { return continuation.resume(throwing: CancellationError()) }
        do throws(LoadTestError) {
            waiting = continuation
            if try orders.send(request) {
                isEmpty = false
            } else {
                resume(.failure(CancellationError()))
            }
        } catch {
            resume(.failure(error))
        }
    }

    func rest(_ span: UInt64, _ continuation: Continuation) {
        guard let orders, waiting == nil else { return continuation.resume(throwing: CancellationError()) }
        (waiting, isResting) = (continuation, true)
        orders.rest(span)
    }

    /// Continues the visit with the response, or after its rest.
    func go(on response: LoadResponse) { resume(.success(response)) }

    private func resume(_ result: Result<LoadResponse, any Error>) {
        let continuation = waiting
        (waiting, isResting) = (nil, false)
        continuation?.resume(with: result)
    }

    private func ended() {
        task = nil
        orders?.end(isEmpty)
    }

    func stop() {
        orders = nil
        task?.cancel()
        resume(.failure(CancellationError()))
    }
}

/// A request of a visit.
public struct LoadRequest: Hashable, Sendable {
    /// The method, such as `GET`: a token of RFC 9110 §5.6.2.
    public var method: String
    /// A path for the test's own host, or a whole URL.
    public var url: String
    /// Fields beside those that the test gives to every request. A field here replaces the test's of the same name.
    public var headers: [(name: String, value: String)] {
        get { fields.map { ($0.name, $0.value) } }
        set { fields = newValue.map { Pair(name: $0.name, value: $0.value) } }
    }
    /// The content; nil for none.
    public var body: [UInt8]?
    /// The name of the request in the figures: one of ``LoadTest/names``, or nil.
    public var name: String?
    private var fields: [Pair]

    /// A request. If its URL, method or field cannot be sent, it counts as a failed connection, and
    /// ``LoadUser/send(_:)`` throws.
    public init(
        _ method: String = "GET",
        _ url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil,
        name: String? = nil
    ) {
        (self.method, self.url, self.body, self.name) = (method, url, body, name)
        fields = headers.map { Pair(name: $0.name, value: $0.value) }
    }

    package var draft: RequestDraft {
        RequestDraft(
            method: method,
            url: url,
            headers: fields.map { "\($0.name): \($0.value)" },
            body: body,
            place: InputPlace(file: "", line: 0),
            name: name
        )
    }
}

/// The response to a visit's request, or why there is none.
public struct LoadResponse: Sendable {
    /// The status code; 0 if no response came.
    public internal(set) var status = 0
    /// The response's fields in their order.
    public var headers: [(name: String, value: String)] {
        (0..<fields.count).map { (name: fields.name(at: $0), value: fields.value(at: $0)) }
    }
    /// The same, with their octets.
    var fields = HTTPFields()
    /// The content as it was sent, up to ``bodyLimit``.
    public internal(set) var body: [UInt8] = []
    /// The time from the first byte sent to the last byte received.
    public internal(set) var latency = Duration.zero
    /// Why there is no response; nil if there is one.
    public internal(set) var error: String?

    /// How many bytes of a response's content are kept for a visit: 1 MiB. This is enough for tokens and links, while
    /// a whole download would be kept once for each user.
    public static let bodyLimit = 1 << 20

    /// The value in the content, which is JSON, that a pointer such as `/items/0/id` refers to (RFC 6901). A string is
    /// returned without quotes, any other value as JSON. Nil if there is none.
    public func json(_ pointer: String) -> String? {
        guard let pointer = JSONPointer(pointer), let document = try? JSONReader.read(body) else { return nil }
        let value = pointer.value(in: document)
        return value?.string ?? value?.line()
    }

    /// The value of the first field of that name, whose case does not matter; nil if there is none.
    public func header(_ name: String) -> String? { fields[name] }
}

extension LoadRequest: CustomStringConvertible {
    /// The method, and the URL without its user information and its query.
    public var description: String {
        let shown = url.prefix { $0 != "?" && $0 != "#" }.replacing(/\/\/[^\/@]*@/, with: "//")
        return described(Self.self, ["": "\(method) \(shown)", "name": name])
    }
}

extension LoadResponse: CustomStringConvertible {
    public var description: String {
        described(Self.self, ["": status, "bytes": body.count, "latency": latency, "error": error])
    }
}
