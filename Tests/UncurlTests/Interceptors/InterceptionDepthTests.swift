import FacadeTestSupport
import Foundation
import Testing
import Uncurl
import UncurlTestServer

@Suite("Interceptors that send requests", .timeLimit(.minutes(5)))
struct InterceptionDepthTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    /// Sends a request through the manager it belongs to, so often in all.
    private final class Asking: RequestInterceptor {
        let calls = Log<Int>()
        let limit: Int
        let inRetry: Bool
        private let held: @Sendable () -> HTTPSessionManager?
        private var manager: HTTPSessionManager? { held() }

        init(_ manager: HTTPSessionManager, limit: Int = .max, inRetry: Bool = false) {
            held = { [weak manager] in manager }
            self.limit = limit
            self.inRetry = inRetry
        }

        private func ask() async throws {
            calls.add(calls.entries.count)
            guard calls.entries.count <= limit else { return }
            _ = try await manager?.response(to: HTTPRequest("status/500"), serializer: .data).result.get()
        }

        func adapt(_ request: URLRequest, for attempt: RequestAttempt) async throws -> URLRequest {
            if !inRetry { try await ask() }
            return request
        }

        func retry(_ failure: FailedAttempt) async -> RetryDecision {
            guard inRetry else { return .doNotRetry }
            do { try await ask() } catch { return .doNotRetryWithError(error) }
            return .doNotRetry
        }
    }

    @Test("an interceptor that sends through its own manager without end fails with an error that says so")
    func adapting() async {
        let manager = server.manager()
        let asking = Asking(manager)
        manager.interceptors = [asking]
        let response = await manager.response(to: HTTPRequest("get"), serializer: .data)
        guard case .adaptation(InterceptionFailure.tooDeep(limit: 16))? = response.error else {
            Issue.record("\(response.result)")
            return
        }
        #expect(asking.calls.entries.count == 16)
    }

    @Test("a retrier that sends requests without end through its own manager ends with the limit's error")
    func retrying() async {
        let manager = server.manager()
        let asking = Asking(manager, inRetry: true)
        manager.interceptors = [asking]
        let response = await manager.response(to: HTTPRequest("status/500"), serializer: .data)
        guard case .retry(InterceptionFailure.tooDeep(limit: 16), original: .validation)? = response.error else {
            Issue.record("\(response.result)")
            return
        }
        #expect(asking.calls.entries.count == 16)
    }

    @Test("a few requests may wait for each other, and the depth ends with them")
    func shallow() async {
        let manager = server.manager()
        for _ in 0..<10 {
            manager.interceptors = [Asking(manager, limit: 1)]
            let response = await manager.response(to: HTTPRequest("get"), serializer: .data)
            guard case .adaptation(UncurlError.validation)? = response.error else {
                Issue.record("\(response.result)")
                return
            }
        }
    }
}
