import FacadeTestSupport
import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import Uncurl

@Suite("Authentication", .ownThread, .timeLimit(.minutes(5)))
struct AuthenticationInterceptorTests {
    /// Tokens are numbers, and the server accepts one of them.
    final class Tokens: Authenticator {
        let refreshes = Log<Int>()
        let gate: Gate?
        let failures: Mutex<Int>
        let expires: Bool

        init(gate: Gate? = nil, failures: Int = 0, expires: Bool = false) {
            self.gate = gate
            self.failures = Mutex(failures)
            self.expires = expires
        }

        func apply(_ credential: Int, to request: inout URLRequest) {
            request.setValue("Bearer \(credential)", forHTTPHeaderField: "Authorization")
        }

        func refresh(_ credential: Int) async throws -> Int {
            refreshes.add(credential)
            await gate?.pass()
            let fails = failures.withLock { failures in
                failures -= 1
                return failures >= 0
            }
            if fails { throw URLError(.userAuthenticationRequired) }
            return credential + 1
        }

        func needsRefresh(_ credential: Int) -> Bool { expires && credential == 1 }

        func isRequest(_ request: URLRequest, authenticatedWith credential: Int) -> Bool {
            request.value(forHTTPHeaderField: "Authorization") == "Bearer \(credential)"
        }
    }

    /// Holds every caller until it is opened.
    actor Gate {
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func pass() async {
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
        }

        func open() {
            isOpen = true
            for one in waiting { one.resume() }
            waiting = []
        }
    }

    @Test("the credential is put into each request, and refreshed first where it is about to expire", .rows("B10"))
    func applied() async throws {
        let server = try TestServer.start()
        let tokens = Tokens(expires: true)
        let interceptor = AuthenticationInterceptor(authenticator: tokens, credential: 1)
        let manager = server.manager()
        manager.interceptors = [interceptor]
        let seen = await manager.response(to: HTTPRequest("headers"), serializer: .string)
        #expect(seen.value?.contains("Bearer 2") == true)
        #expect(tokens.refreshes.entries == [1])
        #expect(interceptor.credential == 2)
    }

    @Test("many requests that are refused at once wait for one refresh, and then all succeed", .rows("B10", "D20"))
    func singleFlight() async throws {
        let refusal = "HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
        let count = 6
        // A request that begins during a refresh would wait: all must be under way before.
        let arrived = RawGate()
        let refusing = RawScript([.receive(.headEnd), .wait(arrived), .send(Array(refusal.utf8)), .finish])
        let answered = RawScript([.receive(.headEnd), .send(Array(ok.utf8)), .finish])
        let raw = try RawServer.start(Array(repeating: refusing, count: count), otherwise: answered)
        let gate = Gate()
        let tokens = Tokens(gate: gate)
        let interceptor = AuthenticationInterceptor(authenticator: tokens, credential: 1)
        let manager = raw.manager()
        let refused = Log<Bool>()
        manager.interceptors = [
            .retrying { failure in
                refused.add(true)
                return .doNotRetry
            }, interceptor,
        ]
        async let all = withTaskGroup(of: Int?.self) { group in
            for _ in 0..<count {
                group.addTask { await manager.response(to: HTTPRequest("x"), serializer: .data).statusCode }
            }
            return await group.reduce(into: [Int?]()) { $0.append($1) }
        }
        for index in 0..<count { try raw.wait(for: index, "a request") { $0.receivedText.contains("\r\n\r\n") } }
        arrived.open()
        await refused.wait(for: count)
        await gate.open()
        #expect(await all == Array(repeating: 200, count: count))
        #expect(tokens.refreshes.entries == [1])
    }

    @Test("a refusal of another origin, which a redirect has led to, begins a refresh and not an endless loop")
    func otherOrigin() async throws {
        let refusal = "HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
        let scripts = [refusal, refusal, ok].map { RawScript([.receive(.headEnd), .send(Array($0.utf8)), .finish]) }
        let other = try RawServer.start(scripts)
        let server = try TestServer.start()
        let manager = server.manager()
        let tokens = Tokens()
        let window = AuthenticationInterceptor<Tokens>.RefreshWindow(interval: .seconds(3600), limit: 1)
        manager.interceptors = [AuthenticationInterceptor(authenticator: tokens, credential: 1, window: window)]
        let request = HTTPRequest("redirect-to?url=\(query: other.url("/"))")
        let response = await manager.response(to: request, serializer: .data)
        // The other origin got no credential, as after any redirect to another origin.
        #expect(other.connections.count == 2)
        #expect(!String(decoding: other.received(0), as: UTF8.self).contains("Bearer"))
        #expect(tokens.refreshes.entries == [1])
        guard case .retry(AuthenticationFailure.excessiveRefresh, _)? = response.error else {
            Issue.record("\(response)")
            return
        }
    }

    @Test("a request refused with an older credential is sent again without a refresh", .rows("B10"))
    func older() async throws {
        let tokens = Tokens()
        let interceptor = AuthenticationInterceptor(authenticator: tokens, credential: 5)
        var old = URLRequest(url: URL(string: "http://example.com/")!)
        tokens.apply(4, to: &old)
        guard case .retry = await interceptor.retry(failure(old)) else {
            Issue.record("no retry")
            return
        }
        #expect(tokens.refreshes.entries.isEmpty)
    }

    @Test("a failed refresh ends its requests; the next request tries again, within the window", .rows("B10"))
    func triesAgain() async throws {
        let tokens = Tokens(failures: 2)
        let window = AuthenticationInterceptor<Tokens>.RefreshWindow(interval: .seconds(3600), limit: 3)
        let interceptor = AuthenticationInterceptor(authenticator: tokens, credential: 1, window: window)
        var request = URLRequest(url: URL(string: "http://example.com/")!)
        tokens.apply(1, to: &request)
        for _ in 0..<2 {
            guard
                case .doNotRetryWithError(AuthenticationFailure.refreshFailed) = await interceptor.retry(
                    failure(request)
                )
            else {
                Issue.record("another decision")
                return
            }
            // The old credential may still be valid for other requests.
            let adapted = try await interceptor.adapt(request, for: failure(nil).attempt)
            #expect(adapted.value(forHTTPHeaderField: "Authorization") == "Bearer 1")
        }
        guard case .retry = await interceptor.retry(failure(request)) else {
            Issue.record("another decision")
            return
        }
        #expect(tokens.refreshes.entries == [1, 1, 1] && interceptor.credential == 2)
        tokens.apply(2, to: &request)
        guard
            case .doNotRetryWithError(AuthenticationFailure.excessiveRefresh) = await interceptor.retry(
                failure(request)
            )
        else {
            Issue.record("another decision")
            return
        }
    }

    @Test("more refreshes than the window allows end it; without a credential nothing is sent", .rows("B10"))
    func limits() async throws {
        let tokens = Tokens()
        let interceptor = AuthenticationInterceptor(
            authenticator: tokens,
            credential: 1,
            window: .init(interval: .seconds(3600), limit: 2)
        )
        for round in 1...3 {
            var request = URLRequest(url: URL(string: "http://example.com/")!)
            tokens.apply(interceptor.credential ?? 0, to: &request)
            let decision = await interceptor.retry(failure(request))
            switch decision {
            case .retry: #expect(round < 3)
            case .doNotRetryWithError(AuthenticationFailure.excessiveRefresh): #expect(round == 3)
            default: Issue.record("\(decision)")
            }
        }
        let none = AuthenticationInterceptor(authenticator: tokens)
        await #expect(throws: AuthenticationFailure.self) {
            _ = try await none.adapt(
                URLRequest(url: URL(string: "http://example.com/")!),
                for: failure(nil).attempt
            )
        }
    }

    /// Replaces the credential while a request is inspected, as another request's refresh does.
    final class Overtaken: Authenticator {
        let interceptor = Mutex<AuthenticationInterceptor<Overtaken>?>(nil)
        let refreshes = Log<Int>()

        func apply(_ credential: Int, to request: inout URLRequest) {
            request.setValue("Bearer \(credential)", forHTTPHeaderField: "Authorization")
        }

        func refresh(_ credential: Int) async throws -> Int {
            refreshes.add(credential)
            return credential + 1
        }

        private func overtake(_ credential: Int) -> Bool {
            guard credential == 1 else { return false }
            interceptor.withLock { $0 }?.credential = 2
            return true
        }

        func needsRefresh(_ credential: Int) -> Bool { overtake(credential) }

        func isRequest(_ request: URLRequest, authenticatedWith credential: Int) -> Bool { overtake(credential) }
    }

    @Test("a credential that was refreshed meanwhile is not refreshed by the one it replaced", .rows("B10"))
    func overtaken() async throws {
        let authenticator = Overtaken()
        let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: 1)
        authenticator.interceptor.withLock { $0 = interceptor }
        defer { authenticator.interceptor.withLock { $0 = nil } }
        let request = URLRequest(url: URL(string: "http://example.com/")!)
        guard case .retry = await interceptor.retry(failure(request)) else {
            Issue.record("no retry")
            return
        }
        interceptor.credential = 1
        let adapted = try await interceptor.adapt(request, for: failure(nil).attempt)
        #expect(adapted.value(forHTTPHeaderField: "Authorization") == "Bearer 2")
        #expect(authenticator.refreshes.entries.isEmpty)
    }

    @Test("a request that is cancelled during a refresh ends at once, and the refresh goes on", .rows("B10"))
    func cancelledWaiter() async throws {
        let gate = Gate()
        let tokens = Tokens(gate: gate, expires: true)
        let interceptor = AuthenticationInterceptor(authenticator: tokens, credential: 1)
        let request = URLRequest(url: URL(string: "http://example.com/")!)
        let attempt = failure(nil).attempt
        let waiting = Task { try await interceptor.adapt(request, for: attempt) }
        await tokens.refreshes.wait(for: 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { _ = try await waiting.value }
        await gate.open()
        let adapted = try await interceptor.adapt(request, for: attempt)
        #expect(adapted.value(forHTTPHeaderField: "Authorization") == "Bearer 2")
        #expect(tokens.refreshes.entries == [1])
    }

    @Test(
        "a request that waits for a refresh gets the credential that is set meanwhile, even if the refresh fails",
        .rows("B10"),
        arguments: [0, 1]
    )
    func replaced(failures: Int) async throws {
        let gate = Gate()
        let tokens = Tokens(gate: gate, failures: failures, expires: true)
        let interceptor = AuthenticationInterceptor(authenticator: tokens, credential: 1)
        let (request, attempt) = (URLRequest(url: URL(string: "http://example.com/")!), failure(nil).attempt)
        let waiting = Task { try await interceptor.adapt(request, for: attempt) }
        await tokens.refreshes.wait(for: 1)
        interceptor.credential = 7
        await gate.open()
        let adapted = try await waiting.value
        #expect(adapted.value(forHTTPHeaderField: "Authorization") == "Bearer 7")
        #expect(interceptor.credential == 7 && tokens.refreshes.entries == [1])
    }

    /// Requests each credential through the manager whose requests need it.
    final class Fetching: Authenticator {
        let manager: HTTPSessionManager

        init(_ manager: HTTPSessionManager) { self.manager = manager }

        func apply(_ credential: String, to request: inout URLRequest) {
            request.setValue(credential, forHTTPHeaderField: "Authorization")
        }

        func refresh(_ credential: String) async throws -> String {
            try await manager.response(to: HTTPRequest(.post, "token"), serializer: .string).result.get()
        }

        func isRequest(_ request: URLRequest, authenticatedWith credential: String) -> Bool {
            request.value(forHTTPHeaderField: "Authorization") == credential
        }
    }

    @Test(
        "an authenticator may refresh through the manager that it serves; a refusal of that request ends the others",
        .rows("B10"),
        arguments: [true, false]
    )
    func sameManager(isGiven: Bool) async throws {
        let refusal = "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"
        func ok(_ content: String) -> String { "HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n\(content)" }
        let raw = try RawServer.answering([refusal, isGiven ? ok("new") : refusal, ok("content")])
        let manager = raw.manager()
        manager.interceptors = [AuthenticationInterceptor(authenticator: Fetching(manager), credential: "old")]
        defer { manager.interceptors = [] }
        var request = HTTPRequest("x")
        request.options.deadline = .seconds(60)
        let response = await manager.response(to: request, serializer: .string)
        let sent = String(decoding: raw.received(0), as: UTF8.self).components(separatedBy: "\r\n\r\n")
        try #require(sent.count > 2, "\(sent)")
        #expect(sent[1].hasPrefix("POST /token ") && !sent[1].contains("Authorization"), "\(sent)")
        if isGiven {
            #expect(response.value == "content" && sent[2].contains("Authorization: new\r\n"), "\(response)")
        } else if case .retry(AuthenticationFailure.refreshFailed, _)? = response.error {
            #expect(response.statusCode == 401)
        } else {
            Issue.record("\(response)")
        }
    }

    private func failure(_ request: URLRequest?) -> FailedAttempt {
        let response = HTTPURLResponse(
            url: URL(string: "http://example.com/")!,
            statusCode: 401,
            httpVersion: nil,
            headerFields: nil
        )
        let answer = ReceivedResponse(response: response, data: Data())
        return FailedAttempt(
            attempt: RequestAttempt(transfer: 1, retryCount: 0),
            request: request,
            response: response,
            data: Data(),
            error: .validation(ValidationFailure([.status(401)], answer: answer)),
            isReplayable: true
        )
    }

    @Test("a refresh that hangs ends its requests after the limit, and the next request begins another", .rows("B10"))
    func hangingRefresh() async throws {
        let server = try TestServer.start()
        let gate = Gate()
        let tokens = Tokens(gate: gate, expires: true)
        let interceptor = AuthenticationInterceptor(
            authenticator: tokens,
            credential: 1,
            refreshLimit: .milliseconds(100)
        )
        #expect(AuthenticationInterceptor(authenticator: tokens).refreshLimit == .seconds(60))
        let manager = server.manager()
        manager.interceptors = [interceptor]
        for count in 1...2 {
            let response = await manager.response(to: "headers", serializer: .string)
            guard case .adaptation(AuthenticationFailure.refreshFailed(let error as URLError))? = response.error else {
                Issue.record("\(response)")
                return
            }
            #expect(error.code == .timedOut)
            #expect(tokens.refreshes.entries.count == count)
        }
        #expect(server.requestCount == 0)
        // What it still returns is used: the server may have taken the old credential out of service.
        await gate.open()
        #expect(await Sightings<Void>.eventually { interceptor.credential == 2 })
        let response = await manager.response(to: "headers", serializer: .string)
        #expect(response.value?.contains("Bearer 2") == true)
    }
}
