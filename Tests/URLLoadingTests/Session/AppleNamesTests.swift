import Foundation
import TestSupport
import Testing
import URLLoading
import UncurlTestServer

/// What code for Apple's platforms uses beyond FoundationNetworking.
@Suite("Apple's smaller names", .timeLimit(.minutes(5)))
struct AppleNamesTests {
    @Test("an error returns the values in its userInfo, and nil if they are missing or of other types")
    func errorFacts() {
        let data = Data([1])
        let error = URLError(
            .cancelled,
            userInfo: [
                NSURLSessionDownloadTaskResumeData: data, NSURLSessionUploadTaskResumeData: data,
                "NSURLErrorBackgroundTaskCancelledReasonKey": 2, "NSURLErrorNetworkUnavailableReasonKey": 1,
            ]
        )
        #expect(error.downloadTaskResumeData == data)
        #expect(error.uploadTaskResumeData == data)
        #expect(error.backgroundTaskCancelledReason == .insufficientSystemResources)
        #expect(error.networkUnavailableReason == .expensive)
        let other = URLError(.cancelled, userInfo: ["NSURLErrorNetworkUnavailableReasonKey": 99])
        #expect(other.networkUnavailableReason == nil)
        #expect(other.backgroundTaskCancelledReason == nil)
        #expect(other.downloadTaskResumeData == nil)
        #expect(other.uploadTaskResumeData == nil)
    }

    @Test("properties that have no effect here keep their values, also in copies")
    func stored() throws {
        let configuration = URLSessionConfiguration.ephemeral
        #expect(configuration.sessionSendsLaunchEvents)
        #expect(configuration.multipathServiceType == .none)
        configuration.sessionSendsLaunchEvents = false
        configuration.sharedContainerIdentifier = "group"
        configuration.multipathServiceType = .handover
        configuration.usesClassicLoadingMode = false
        configuration.enablesEarlyData = true
        let copy = try #require(configuration.copy() as? URLSessionConfiguration)
        #expect(!copy.sessionSendsLaunchEvents)
        #expect(copy.sharedContainerIdentifier == "group")
        #expect(copy.multipathServiceType == .handover)
        #expect(!copy.usesClassicLoadingMode)
        #expect(copy.enablesEarlyData)
    }

    /// Stands in for a session in a test of a program, and for its tasks.
    private final class MockSession: URLSession, @unchecked Sendable {
        private let content: Data

        init(_ content: Data) {
            self.content = content
            super.init()
        }

        override func dataTask(
            with request: URLRequest,
            completionHandler: @escaping (Data?, URLResponse?, (any Error)?) -> Void
        ) -> URLSessionDataTask {
            let mock = MockTask()
            mock.resumed = { [content] in completionHandler(content, nil, nil) }
            return mock
        }
    }

    private final class MockTask: URLSessionDataTask, @unchecked Sendable {
        var resumed: (() -> Void)?

        override func resume() { resumed?() }
    }

    @Test("sessions and tasks have subclasses that are made without a configuration, and stand in for them")
    func mocks() async throws {
        let found = Word<Data?>()
        let session: URLSession = MockSession(Data("mock".utf8))
        session.dataTask(with: try #require(URL(string: "http://h/"))) { data, _, _ in found.give(data) }.resume()
        #expect(await found.wait("the mock's answer") == Data("mock".utf8))
        session.invalidateAndCancel()
    }

    @Test("stores and sessions have asynchronous functions")
    func waiting() async throws {
        let server = try TestServer.start()
        let configuration = URLSessionConfiguration.isolated
        let cookies = try #require(configuration.httpCookieStorage)
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let session = URLSession(configuration: configuration)
        let url = try #require(URL(string: server.url("/cache/60")))
        let task = session.dataTask(with: url)
        _ = try await session.data(from: url)
        let cookie = try #require(
            HTTPCookie(properties: [.name: "a", .value: "b", .domain: url.host ?? "", .path: "/"])
        )
        cookies.setCookie(cookie)
        #expect(await cookies.cookies(for: task)?.map(\.name) == ["a"])
        #expect(await configuration.urlCache?.cachedResponse(for: task) != nil)
        let credentials = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "a",
            port: 80,
            protocol: "http",
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        credentials.setDefaultCredential(URLCredential(user: "u", password: "p", persistence: .forSession), for: space)
        #expect(await credentials.credentials(for: space, task: task)?.keys.sorted() == ["u"])
        #expect(await credentials.defaultCredential(for: space, task: task)?.user == "u")
        await session.flush()
        await session.reset()
        #expect(await cookies.cookies(for: task)?.isEmpty == true)
        #expect(await configuration.urlCache?.cachedResponse(for: task) == nil)
        task.cancel()
    }
}
