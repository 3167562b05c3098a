import FacadeTestSupport
import Foundation
import Testing
import Uncurl
import UncurlTestServer

/// The managers of a program on a server stand for different users.
@Suite("Cookies of managers", .timeLimit(.minutes(5)))
struct ManagerCookiesTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func manager(_ configuration: URLSessionConfiguration) -> HTTPSessionManager {
        HTTPSessionManager(baseURL: URL(string: server.url("/")), configuration: configuration)
    }

    /// A default configuration, but for the proxies of the environment.
    private var usual: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.connectionProxyDictionary = [:]
        return configuration
    }

    private func cookies(of manager: HTTPSessionManager) async throws -> String {
        try #require(await manager.response(to: "cookies", serializer: .string).value)
    }

    @Test("a cookie that one manager gets is sent by no other, also not by a copy, and not by the shared session")
    func own() async throws {
        let name = "own\(UUID().uuidString)"
        let (first, second) = (manager(usual), manager(usual))
        _ = await first.response(to: "cookies/set/\(component: name)/1", serializer: .string)
        #expect(try await cookies(of: first).contains(name))
        let configured = manager(first.configuration)
        for other in [second, configured, HTTPSessionManager(copying: first)] {
            #expect(try await !cookies(of: other).contains(name))
        }
        #expect(HTTPCookieStorage.shared.cookies?.contains { $0.name == name } == false)
        let jars = [first, second, configured].map { $0.configuration.httpCookieStorage.map { ObjectIdentifier($0) } }
        #expect(
            Set(jars).count == 3 && !jars.contains(nil) && !jars.contains(ObjectIdentifier(HTTPCookieStorage.shared))
        )
    }

    @Test("the cookies of a manager outlive its session")
    func reset() async throws {
        let manager = manager(usual)
        _ = await manager.response(to: "cookies/set/a/1", serializer: .string)
        manager.invalidate(cancellingTasks: true, resettingSession: true)
        #expect(try await cookies(of: manager).contains("\"a\""))
    }

    @Test("managers share the jar that their configurations name, the shared one too, and have none where it is nil")
    func named() async throws {
        let (mine, shared, none) = (usual, usual, usual)
        mine.httpCookieStorage = HTTPCookieStorage()
        shared.httpCookieStorage = .shared
        none.httpCookieStorage = nil
        _ = await manager(mine).response(to: "cookies/set/a/1", serializer: .string)
        #expect(try await cookies(of: manager(mine)).contains("\"a\""))
        #expect(manager(shared).configuration.httpCookieStorage === HTTPCookieStorage.shared)
        #expect(manager(none).configuration.httpCookieStorage == nil)
        let manager = manager(mine)
        #expect(HTTPSessionManager(copying: manager).configuration.httpCookieStorage === mine.httpCookieStorage)
    }
}
