internal import Synchronization
public import Uncurl

/// Answers for a session's requests, in place of the network.
///
/// ```swift
/// let stubs = Stubs()
/// stubs.add(.get("https://api.test/users/1"), .json(#"{"id": 1}"#))
/// stubs.add(.post("https://api.test/users"), [.status(503), .status(201)])
///
/// let configuration = URLSessionConfiguration.ephemeral
/// stubs.install(in: configuration)
/// let manager = HTTPSessionManager(baseURL: url, configuration: configuration)
/// …
/// #expect(stubs.requests.map(\.method) == ["GET"] && stubs.unmatched.isEmpty)
/// ```
///
/// The stubs apply only to sessions made with that configuration, so tests can run in parallel. The stub that was added
/// last is tried first. A request that no stub matches fails and is listed in ``unmatched``. Every member may be used
/// on any thread.
public final class Stubs: Sendable {
    /// What happens to a request that no stub matches.
    @frozen public enum Unmatched: Hashable, Sendable {
        /// The request fails with `URLError.resourceUnavailable` and a description that names the request and the
        /// stubs.
        case fails
        /// The request is sent to its server. Whether a stub matches is decided before a file or stream is read: a
        /// request with such content fails if it matches a stub but for the stub's content.
        case loads
    }

    private struct Stub {
        let number: Int
        let matcher: RequestMatcher
        let responses: [StubResponse]
        /// Whether the last answer is repeated.
        let repeats: Bool
        /// How many answers have been given.
        var given = 0

        var isUsedUp: Bool { given >= responses.count }
    }

    private struct State {
        var stubs: [Stub] = []
        var last = 0
        var requests: [StubbedRequest] = []
        var unmatched: [StubbedRequest] = []

        mutating func add(_ matcher: RequestMatcher, _ responses: [StubResponse], repeats: Bool) {
            last += 1
            stubs.append(Stub(number: last, matcher: matcher, responses: responses, repeats: repeats))
        }

        /// Nil where no answer is left, or the stub has been removed.
        mutating func answer(of number: Int) -> StubResponse? {
            guard let index = stubs.firstIndex(where: { $0.number == number && !$0.isUsedUp }) else { return nil }
            let answer = stubs[index].responses[stubs[index].given]
            if !stubs[index].repeats { stubs[index].given += 1 }
            return answer
        }
    }

    private let state = Mutex(State())
    private let policy: Unmatched
    let clock: any Clock<Duration>

    /// A set of stubs, empty at first.
    ///
    /// - Parameters:
    ///   - unmatched: what happens to a request that no stub matches.
    ///   - clock: measures delays. With a ``TestClock`` no test has to wait.
    public init(unmatched: Unmatched = .fails, clock: any Clock<Duration> = ContinuousClock()) {
        policy = unmatched
        self.clock = clock
    }

    /// Adds a stub that gives the same answer to every matching request.
    public func add(_ matcher: RequestMatcher, _ response: StubResponse) {
        state.withLock { $0.add(matcher, [response], repeats: true) }
    }

    /// Adds a stub that gives each of these answers once, in order. Then it matches no request.
    public func add(_ matcher: RequestMatcher, _ responses: [StubResponse]) {
        state.withLock { $0.add(matcher, responses, repeats: false) }
    }

    /// Removes every stub. ``requests`` and ``unmatched`` keep their entries.
    public func removeAll() { state.withLock { $0.stubs = [] } }

    /// All requests in their order, also those that no stub matched.
    public var requests: [StubbedRequest] { state.withLock { $0.requests } }

    /// The requests that no stub matched.
    public var unmatched: [StubbedRequest] { state.withLock { $0.unmatched } }

    /// Makes later sessions with this configuration use the stubs.
    public func install(in configuration: URLSessionConfiguration) {
        TestKitProtocol.install(self, in: configuration)
    }

    /// A new session that uses the stubs.
    public func session(delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        install(in: configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    // MARK: Answering

    private var open: [Stub] { state.withLock { $0.stubs.filter { !$0.isUsedUp } } }

    private func take(_ request: StubbedRequest) -> StubResponse {
        state.withLock { $0.requests.append(request) }
        // A condition is the user's code, so it runs outside the lock. Another request may take the last answer
        // meanwhile; then the next stub is tried.
        for stub in open.reversed() where stub.matcher.matches(request) {
            if let answer = state.withLock({ $0.answer(of: stub.number) }) { return answer }
        }
        state.withLock { $0.unmatched.append(request) }
        let known = state.withLock { $0.stubs.map { "\($0.matcher)\($0.isUsedUp ? " (used up)" : "")" } }
        let list = known.isEmpty ? "there are no stubs" : "the stubs are " + known.joined(separator: "; ")
        let words = "No stub matches \(request); \(list)."
        return .failure(URLError(.resourceUnavailable, userInfo: [NSLocalizedDescriptionKey: words]))
    }
}

extension Stubs: TestKitSource {
    /// - Parameter request: the request without its content, which has not been read yet.
    func takes(_ request: URLRequest) -> Bool {
        switch policy {
        case .fails: true
        case .loads where request.httpBodyStream != nil: open.contains { $0.matcher.mayMatch(StubbedRequest(request)) }
        case .loads: open.contains { $0.matcher.matches(StubbedRequest(request)) }
        }
    }

    func steps(for request: StubbedRequest) async -> [StubResponse.Step] {
        await take(request).steps(for: request)
    }
}
