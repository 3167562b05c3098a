internal import UncurlReactor

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

    /// The actions of a visit that its user's driver carries out.
    struct Orders {
        /// Sends a request. Returns false if the run has no more requests to send.
        var send: (LoadRequest) throws(LoadTestError) -> Bool
        var rest: (UInt64) -> Void
        /// - Parameter isEmpty: Whether the visit has sent nothing.
        var end: (_ isEmpty: Bool) -> Void
    }

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
                fail(CancellationError())
            }
        } catch {
            fail(error)
        }
    }

    func rest(_ span: UInt64, _ continuation: Continuation) {
        guard let orders, waiting == nil else { return continuation.resume(throwing: CancellationError()) }
        (waiting, isResting) = (continuation, true)
        orders.rest(span)
    }

    /// Continues the visit with the response, or after its rest.
    func go(on response: LoadResponse) {
        let continuation = waiting
        (waiting, isResting) = (nil, false)
        continuation?.resume(returning: response)
    }

    private func fail(_ error: any Error) {
        let continuation = waiting
        (waiting, isResting) = (nil, false)
        continuation?.resume(throwing: error)
    }

    private func ended() {
        task = nil
        orders?.end(isEmpty)
    }

    /// Ends the visits with the run.
    func stop() {
        orders = nil
        task?.cancel()
        fail(CancellationError())
    }
}
