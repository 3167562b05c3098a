// Tests without sockets: stubs, recordings, and a clock that the test advances.

internal import Synchronization
@_exported public import Uncurl

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
        return .failure(URLError(.resourceUnavailable, words: words))
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

/// A source of answers that replaces the network.
protocol TestKitSource: Sendable {
    var clock: any Clock<Duration> { get }
    func takes(_ request: URLRequest) -> Bool
    func steps(for request: StubbedRequest) async -> [StubResponse.Step]
}

/// The loading class that takes answers from the source of its session's configuration. All configurations share the
/// class; each has its own source.
final class TestKitProtocol: URLProtocol {
    /// `@unchecked`: the methods of an instance are called one after the other. After that, its Swift task uses only
    /// its request, which does not change, and its client, which any thread may use.
    private struct Loading: @unchecked Sendable {
        let instance: TestKitProtocol
    }

    private let loading = Mutex<Task<Void, Never>?>(nil)

    static func install(_ source: any TestKitSource, in configuration: URLSessionConfiguration) {
        configuration.protocolContext = source
        let others = (configuration.protocolClasses ?? []).filter { $0 != TestKitProtocol.self }
        configuration.protocolClasses = [TestKitProtocol.self] + others
    }

    private static func source(of task: URLSessionTask?) -> (any TestKitSource)? {
        task?.protocolContext as? any TestKitSource
    }

    override class func canInit(with task: URLSessionTask) -> Bool {
        guard let source = source(of: task), let request = task.currentRequest else { return false }
        return source.takes(task.addingCookies(to: request))
    }

    override func startLoading() {
        guard let task, let source = Self.source(of: task), let client else { return }
        let asked: StubbedRequest
        do {
            asked = StubbedRequest(task.addingCookies(to: request), body: try request.readContent())
        } catch {
            return client.urlProtocol(self, didFailWithError: error)
        }
        let me = Loading(instance: self)
        let playing = Task {
            await me.instance.play(await source.steps(for: asked), source.clock, task, client)
        }
        loading.withLock { $0 = playing }
    }

    override func stopLoading() { loading.withLock { $0 }?.cancel() }

    private func play(
        _ steps: [StubResponse.Step],
        _ clock: any Clock<Duration>,
        _ task: URLSessionTask,
        _ client: any URLProtocolClient
    ) async {
        for step in steps {
            switch step {
            case .wait(let span):
                if span > .zero {
                    do { try await clock.sleep(for: span.bounded) } catch { return }
                }
            case .head(let status, let headers):
                guard let response = response(status, headers) else {
                    let words = "A stub cannot have the status \(status)."
                    let error = URLError(.badServerResponse, words: words)
                    return client.urlProtocol(self, didFailWithError: error)
                }
                task.keepCookies(of: response, to: request)
                if let next = task.request(following: response, to: request) {
                    return client.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
                }
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .allowed)
            case .data(let data): client.urlProtocol(self, didLoad: data)
            case .fail(let error): return client.urlProtocol(self, didFailWithError: error)
            case .hang: return
            }
            if Task.isCancelled { return }
        }
        client.urlProtocolDidFinishLoading(self)
    }

    private func response(_ status: Int, _ headers: [String: String]) -> HTTPURLResponse? {
        guard let url = request.url else { return nil }
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
    }
}
