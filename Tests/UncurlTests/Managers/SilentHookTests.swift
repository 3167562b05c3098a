import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTLS
import UncurlTestServer

@Suite("Hooks that do not answer", .timeLimit(.minutes(5)))
struct SilentHookTests {
    enum Question: CaseIterable, Sendable { case redirect, challenge, head, storing }

    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func url(of question: Question) -> String {
        let path =
            switch question {
            case .redirect: "/redirect/1"
            case .challenge: "/basic-auth/me/secret"
            case .head: "/bytes/4"
            case .storing: "/cache/60"
            }
        return server.url(path)
    }

    /// On a busy machine the limit may pass before the hook is asked; the request is then sent again.
    private func response(
        to request: HTTPRequest,
        by manager: HTTPSessionManager,
        _ asked: Log<Bool>
    ) async -> Response<Data> {
        while true {
            let response = await manager.response(to: request, serializer: .data)
            if !asked.entries.isEmpty { return response }
        }
    }

    /// Has an entry when the test is over. The hooks answer then: one that never did would keep all of its request.
    private let over = Log<Bool>()

    @Test(
        "a manager's hook that does not answer within the request's limit fails the request as timed out",
        arguments: Question.allCases
    )
    func hook(question: Question) async {
        defer { over.add(true) }
        let manager = HTTPSessionManager(configuration: .isolated)
        let asked = Log<Bool>()
        let ask: @Sendable () async -> Void = {
            asked.add(true)
            await over.wait(for: 1)
        }
        switch question {
        case .redirect:
            manager.hooks.willPerformRedirection = { _, _, _, request in
                await ask()
                return request
            }
        case .challenge:
            manager.hooks.didReceiveChallenge = { _, _, _ in
                await ask()
                return .performDefaultHandling
            }
        case .head:
            manager.hooks.didReceiveResponse = { _, _, _ in
                await ask()
                return .allow
            }
        case .storing:
            manager.hooks.willCacheResponse = { _, _, proposed in
                await ask()
                return proposed
            }
        }
        let request = HTTPRequest(url(of: question), options: RequestOptions(timeout: .seconds(0.5)))
        let response = await response(to: request, by: manager, asked)
        #expect(response.error?.isTimeout == true && asked.entries == [true], "\(response)")
    }

    enum Ending: CaseIterable, Sendable { case limit, tag, deadline }

    @Test(
        "a stream whose hook does not answer about the head ends by its limits and by its tag",
        arguments: Ending.allCases
    )
    func headOfStream(ending: Ending) async {
        defer { over.add(true) }
        let manager = server.manager()
        let asked = Log<Bool>()
        manager.hooks.didReceiveResponse = { _, _, _ in
            asked.add(true)
            await over.wait(for: 1)
            return .allow
        }
        var request = HTTPRequest("bytes/4")
        request.options.tag = "one"
        if ending == .limit { request.options.timeout = .seconds(0.5) }
        // It may pass before the hook is asked.
        if ending == .deadline { request.options.deadline = .milliseconds(500) }
        let stream = Task { [request] in try await manager.stream(request) }
        if ending == .tag {
            await asked.wait(for: 1)
            manager.cancelAll(tagged: "one")
        }
        let error = await #expect(throws: UncurlError.self) { _ = try await stream.value }
        #expect(ending == .tag ? error?.isCancelled == true : error?.isTimeout == true)
        #expect(manager.transfers.isEmpty)
    }

    @Test(
        "a hook that does not answer about a certificate fails the request at the limit of the most patient request",
        arguments: [false, true]
    )
    func certificate(isOfSession: Bool) async throws {
        defer { over.add(true) }
        let server = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(TestCertificates.localhost)))
        let manager = HTTPSessionManager(configuration: .isolated)
        let asked = Log<Bool>()
        if isOfSession {
            manager.sessionHooks.didReceiveChallenge = { _, _ in
                asked.add(true)
                await over.wait(for: 1)
                return .performDefaultHandling
            }
        } else {
            manager.hooks.didReceiveChallenge = { _, _, _ in
                asked.add(true)
                await over.wait(for: 1)
                return .performDefaultHandling
            }
        }
        let request = HTTPRequest(server.url("/bytes/4"), options: RequestOptions(timeout: .seconds(0.5)))
        let response = await response(to: request, by: manager, asked)
        #expect(response.error?.isTimeout == true && asked.entries == [true], "\(response)")
    }
}
