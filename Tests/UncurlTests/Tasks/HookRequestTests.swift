import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

/// Hooks that load something else with the same manager, from the same host, before they answer.
@Suite("Requests within hooks", .timeLimit(.minutes(5)))
struct HookRequestTests {
    enum Question: CaseIterable {
        case challenge, redirect, response, caching

        /// The path of a request whose answer asks this question; the content of that answer has this length.
        func path(_ length: Int) -> String {
            switch self {
            case .challenge: "basic-auth/u/p?length=\(length)"
            case .redirect: "redirect-to?url=/get&length=\(length)"
            case .response: "bytes/\(length)"
            case .caching: "cache/60?length=\(length)"
            }
        }

        /// Hooks that load `get` before they answer this question.
        func hooks(_ manager: HTTPSessionManager) -> TaskHooks {
            var hooks = TaskHooks()
            let think: @Sendable () async -> Void = { [weak manager] in
                let answer = await manager?.response(to: HTTPRequest("get"), serializer: .data)
                #expect(answer?.error == nil)
            }
            switch self {
            case .challenge:
                hooks.didReceiveChallenge = { _, _, _ in
                    await think()
                    return .useCredential(URLCredential(user: "u", password: "p", persistence: .none))
                }
            case .redirect:
                hooks.willPerformRedirection = { _, _, _, next in
                    await think()
                    return next
                }
            case .response:
                hooks.didReceiveResponse = { _, _, _ in
                    await think()
                    return .allow
                }
            case .caching:
                hooks.willCacheResponse = { _, _, proposed in
                    await think()
                    return proposed
                }
            }
            return hooks
        }
    }

    @Test(
        "requests whose hook loads from the same host before it answers all end, whatever the limit of connections is",
        arguments: Question.allCases,
        [(0, 6), (100, 6), (3_000_000, 6), (0, 1), (100, 1), (3_000_000, 1)]
    )
    func table(question: Question, size: (length: Int, places: Int)) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let configuration = URLSessionConfiguration.isolated
        configuration.httpMaximumConnectionsPerHost = size.places
        let manager = HTTPSessionManager(baseURL: server.location("/"), configuration: configuration)
        manager.notificationCenter = nil
        for count in [1, 6, 12] {
            let clock = ContinuousClock.now
            let failures = await withTaskGroup(of: UncurlError?.self, returning: [String].self) { group in
                for number in 0..<count {
                    var request = HTTPRequest(question.path(size.length) + "#\(number)")
                    request.options.hooks = question.hooks(manager)
                    group.addTask { [request] in await manager.response(to: request, serializer: .data).error }
                }
                return await group.reduce(into: []) { if let failure = $1 { $0.append("\(failure)") } }
            }
            #expect(failures == [], "\(count) requests")
            print("requests within hooks: \(question) \(size) \(count): \(ContinuousClock.now - clock)")
        }
    }
}
