import FacadeTestSupport
import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import Uncurl

@Suite("Retries", .timeLimit(.minutes(5)))
struct RetryPolicyTests {
    private func server(_ answers: [String]) throws -> RawServer {
        try RawServer.start(answers.map { RawScript([.receive(.headEnd), .send(Array($0.utf8)), .finish]) })
    }

    private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

    private func refusal(_ status: Int, _ field: String = "") -> String {
        "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\nConnection: close\r\n\(field)\r\n"
    }

    @Test("a temporary failure is retried up to the limit, with growing delays", .rows("B9"))
    func retries() async throws {
        let raw = try server([refusal(503), refusal(500), ok])
        let manager = raw.manager()
        let clock = ImmediateClock()
        manager.clock = clock
        manager.interceptors = [RetryPolicy(jitter: .none)]
        let response = await manager.response(to: HTTPRequest("x"), serializer: .data)
        #expect(response.value == Data("ok".utf8))
        #expect(response.retryCount == 2)
        #expect(clock.slept == [.milliseconds(500), .seconds(1)])
    }

    @Test("after the limit the last failure is the response", .rows("B9"))
    func limit() async throws {
        let raw = try server([refusal(503), refusal(503), refusal(504)])
        let manager = raw.manager()
        manager.clock = ImmediateClock()
        manager.interceptors = [RetryPolicy()]
        let response = await manager.response(to: HTTPRequest("x"), serializer: .data)
        #expect(response.statusCode == 504)
        #expect(response.retryCount == 2)
    }

    @Test("a request that is not idempotent is not retried", .rows("D28"))
    func post() async throws {
        let raw = try server([refusal(503)])
        let manager = raw.manager()
        manager.clock = ImmediateClock()
        manager.interceptors = [RetryPolicy()]
        let response = await manager.response(to: HTTPRequest(.post, "x"), serializer: .data)
        #expect(response.statusCode == 503)
        #expect(response.retryCount == 0)
    }

    @Test("a POST that a redirect continued as a GET is not sent again when that GET fails", .rows("B9", "D28"))
    func redirectedPost() async throws {
        let redirect = "HTTP/1.1 303 See\r\nLocation: /made\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let raw = try RawServer.start(
            [redirect, refusal(503)].map { RawScript([.receive(.headEnd), .send(Array($0.utf8)), .finish]) },
            otherwise: RawScript([.receive(.headEnd), .send(Array(ok.utf8)), .finish])
        )
        let manager = raw.manager()
        manager.clock = ImmediateClock()
        let seen = Log<String?>()
        manager.interceptors = [
            .retrying { failure in
                seen.add(failure.request?.httpMethod)
                return .doNotRetry
            }, RetryPolicy(),
        ]
        let response = await manager.response(to: HTTPRequest(.post, "make"), serializer: .data)
        #expect(response.statusCode == 503 && response.retryCount == 0)
        #expect(response.request?.url?.path == "/made")
        #expect(seen.entries == ["POST"])
    }

    @Test("an operation's POST that a redirect continued as a GET is not sent again when that GET fails", .rows("D28"))
    func redirectedOperation() async throws {
        let redirect = "HTTP/1.1 303 See\r\nLocation: /made\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let raw = try RawServer.start(
            [redirect, refusal(503)].map { RawScript([.receive(.headEnd), .send(Array($0.utf8)), .finish]) },
            otherwise: RawScript([.receive(.headEnd), .send(Array(ok.utf8)), .finish])
        )
        let manager = raw.manager()
        manager.clock = ImmediateClock()
        manager.interceptors = [RetryPolicy()]
        let operation = try HTTPRequestOperation(HTTPRequest(.post, "make"), manager: manager, serializer: .data)
        let response = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            operation.start()
        }
        #expect(response.statusCode == 503 && response.retryCount == 0)
    }

    @Test("Retry-After is obeyed, in seconds or as a date; one that is too long ends the retries", .rows("W14"))
    func retryAfter() async throws {
        let raw = try server([refusal(429, "Retry-After: 7\r\n"), refusal(503, "Retry-After: 3600\r\n")])
        let manager = raw.manager()
        let clock = ImmediateClock()
        manager.clock = clock
        manager.interceptors = [RetryPolicy(jitter: .none)]
        let response = await manager.response(to: HTTPRequest("x"), serializer: .data)
        #expect(response.statusCode == 503)
        #expect(clock.slept == [.seconds(7)])
        var policy = RetryPolicy()
        policy.now = { Date(timeIntervalSince1970: 784_111_770) }
        let dated = try #require(
            HTTPURLResponse(
                url: URL(string: "http://example.com/")!,
                statusCode: 503,
                httpVersion: nil,
                headerFields: ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"]
            )
        )
        let failure = FailedAttempt(
            attempt: RequestAttempt(transfer: 1, retryCount: 0),
            request: URLRequest(url: URL(string: "http://example.com/")!),
            response: dated,
            data: Data(),
            error: .validation(
                ValidationFailure([.status(503)], answer: ReceivedResponse(response: dated, data: Data()))
            ),
            isReplayable: true
        )
        guard case .retryAfter(.seconds(7)) = await policy.retry(failure) else {
            Issue.record("another delay")
            return
        }
    }

    @Test("a Retry-After that is shorter than the policy's own delay does not shorten it", .rows("W14"))
    func shortRetryAfter() async throws {
        let raw = try server([refusal(503, "Retry-After: 0\r\n"), ok])
        let manager = raw.manager()
        let clock = ImmediateClock()
        manager.clock = clock
        manager.interceptors = [RetryPolicy(jitter: .none)]
        #expect(await manager.response(to: HTTPRequest("x"), serializer: .data).value == Data("ok".utf8))
        #expect(clock.slept == [.milliseconds(500)])
    }

    private func retries(_ policy: RetryPolicy, after error: UncurlError) async -> Bool {
        let failure = FailedAttempt(
            attempt: RequestAttempt(transfer: 1, retryCount: 0),
            request: URLRequest(url: URL(string: "http://example.com/")!),
            response: nil,
            data: Data(),
            error: error,
            isReplayable: true
        )
        guard case .doNotRetry = await policy.retry(failure) else { return true }
        return false
    }

    @Test("of the network errors those are retried that may pass, or those that the policy names", .rows("B9"))
    func codes() async {
        for code in [URLError.Code.timedOut, .networkConnectionLost, .cannotFindHost] {
            #expect(await retries(RetryPolicy(), after: .transport(URLError(code))), "\(code)")
        }
        for code in [URLError.Code.serverCertificateUntrusted, .cancelled, .badURL] {
            #expect(await !retries(RetryPolicy(), after: .transport(URLError(code))), "\(code)")
        }
        #expect(await !retries(RetryPolicy(), after: .cancelled))
        let refusal = ValidationFailure([.status(503)], answer: answer("", status: 503))
        #expect(await retries(RetryPolicy(), after: .validation(refusal)))
        let more = RetryPolicy(retryableStatusCodes: RetryPolicy.defaultRetryableStatusCodes.union([425]))
        let early = ValidationFailure([.status(425)], answer: answer("", status: 425))
        #expect(await retries(more, after: .validation(early)))
        #expect(await !retries(RetryPolicy(), after: .validation(early)))
        #expect(await retries(more, after: .validation(refusal)))
        let lost = RetryPolicy.connectionLost()
        #expect(await retries(lost, after: .transport(URLError(.networkConnectionLost))))
        #expect(await !retries(lost, after: .transport(URLError(.timedOut))))
        #expect(await !retries(lost, after: .validation(refusal)))
    }

    @Test("jitter stays within its bounds, and no delay is longer than the longest", .rows("W14"))
    func jitter() {
        var policy = RetryPolicy(jitter: .full)
        policy.random = { 0.25 }
        #expect(policy.delay(0) == .milliseconds(125))
        policy.jitter = .half
        #expect(policy.delay(0) == .milliseconds(312.5))
        policy.jitter = .none
        #expect(policy.delay(3) == .seconds(4))
        #expect(policy.delay(1_000_000) == .seconds(30))
    }

    @Test("a cancelled request is not tried again, and a wait ends at once", .rows("B6"))
    func cancelled() async throws {
        let raw = try server([refusal(503)])
        let manager = raw.manager()
        let asked = Log<Bool>()
        manager.interceptors = [
            .retrying { _ in
                asked.add(true)
                return .retryAfter(.seconds(3600))
            }
        ]
        let transfer = manager.start(HTTPRequest("x"), serializer: .data)
        await asked.wait(for: 1)
        transfer.cancel()
        guard case .cancelled? = await transfer.response.error else {
            Issue.record("not cancelled")
            return
        }
        #expect(transfer.control.state == .cancelled)
    }

    @Test("adapters run in order before each attempt; the first that throws ends the request", .rows("B8", "A9", "A11"))
    func adapters() async throws {
        struct Mine: Error {}
        let server = try TestServer.start()
        let manager = server.manager()
        manager.interceptors = [
            .adapting { request, _ in
                var request = request
                request.setValue("1", forHTTPHeaderField: "X-Order")
                return request
            }
        ]
        var request = HTTPRequest("headers")
        request.options.interceptors = [
            .adapting { request, _ in
                var request = request
                request.setValue(
                    (request.value(forHTTPHeaderField: "X-Order") ?? "") + "2",
                    forHTTPHeaderField: "X-Order"
                )
                return request
            }
        ]
        let seen = await manager.response(to: request, serializer: .string)
        #expect(seen.value?.contains("\"12\"") == true)
        request.options.interceptors.append(.adapting { _, _ in throw Mine() })
        let before = server.requestCount
        guard case .adaptation(let error)? = await manager.response(to: request, serializer: .data).error else {
            Issue.record("no error")
            return
        }
        #expect(error is Mine)
        #expect(server.requestCount == before)
    }

    @Test("a retrier's own error replaces the failure and keeps the original", .rows("B8"))
    func otherError() async throws {
        struct Mine: Error {}
        let raw = try server([refusal(500)])
        let manager = raw.manager()
        manager.interceptors = [.retrying { _ in .doNotRetryWithError(Mine()) }]
        let response = await manager.response(to: HTTPRequest("x"), serializer: .data)
        guard case .retry(let error, original: .validation(let failure))? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(error is Mine)
        #expect(failure.status == 500)
    }

    @Test("a Retry-After with more digits than an integer counts as too long", .rows("W14"))
    func absurdRetryAfter() async throws {
        for text in ["99999999999", "18446744073709551616", String(repeating: "9", count: 400)] {
            let response = HTTPURLResponse(
                url: URL(string: "http://example.com/")!,
                statusCode: 503,
                httpVersion: nil,
                headerFields: ["Retry-After": text]
            )
            let failure = FailedAttempt(
                attempt: RequestAttempt(transfer: 1, retryCount: 0),
                request: URLRequest(url: URL(string: "http://example.com/")!),
                response: response,
                data: Data(),
                error: .validation(
                    ValidationFailure([.status(503)], answer: ReceivedResponse(response: response, data: Data()))
                ),
                isReplayable: true
            )
            guard case .doNotRetry = await RetryPolicy().retry(failure) else {
                Issue.record("asked again after \(text)")
                return
            }
        }
    }
}
