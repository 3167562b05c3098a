import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("A manager and the program's own loading classes", .timeLimit(.minutes(5)))
struct LoadingClassTests {
    /// Fails each request with an error of its own.
    private final class Failing: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "failing" }

        override func startLoading() {
            client?.urlProtocol(self, didFailWithError: NSError(domain: "Mine", code: 42, userInfo: ["key": "value"]))
        }
    }

    @Test("a loading class's own error keeps its domain, its code and its user info through a manager")
    func ownError() async throws {
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [Failing.self]
        let manager = HTTPSessionManager(baseURL: URL(string: "failing://host/"), configuration: configuration)
        let told = Word<NSError>()
        manager.hooks.didComplete = { _, _, error in if let error { told.give(error as NSError) } }
        let error = await #expect(throws: UncurlError.self) { _ = try await manager.get("x", as: JSONValue.self) }
        let made = try #require(error)
        for error in [made.nsError, made as NSError] {
            #expect(error.code == 42 && error.userInfo["key"] as? String == "value", "\(error)")
        }
        #expect(made.nsError.domain == "Mine" && (made.underlying as NSError?)?.domain == "Mine")
        #expect(made.urlError == nil && !made.isConnectivity && !made.isTimeout)
        let heard = await told.wait("the end")
        #expect(heard?.domain == "Mine" && heard?.code == 42)
    }
}
