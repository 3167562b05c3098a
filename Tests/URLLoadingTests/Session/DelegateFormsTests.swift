import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

/// A task's delegate that lacks a method, and a session's that answers twice or not at all.
@Suite("Delegates' two forms", .timeLimit(.minutes(5)))
struct DelegateFormsTests {
    private final class Silent: NSObject, URLSessionDataDelegate {}

    private final class Careless: NSObject, URLSessionDataDelegate {
        private let calls: Int
        init(_ calls: Int) { self.calls = calls }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            for _ in 0..<calls { completionHandler(request) }
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            for _ in 0..<calls { completionHandler(.allow) }
        }
    }

    @Test(
        "a question passed on to the session's delegate is answered once; if that releases the handler, the task fails",
        arguments: [1, 2, 0],
        ["/redirect/1", "/bytes/3"]
    )
    func forwarded(calls: Int, path: String) async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated, delegate: Careless(calls), delegateQueue: nil)
        let task = session.dataTask(with: try url(server.url(path)))
        task.delegate = Silent()
        task.resume()
        await until { task.state == .completed }
        #expect((task.error == nil) == (calls > 0))
        session.invalidateAndCancel()
    }

    @Test("the events that a delegate hears of are told apart")
    func interests() {
        let all: [TaskInterests] = [
            .creation, .delay, .connectivity, .redirect, .challenge, .bodyStream, .sent, .informational, .response,
            .content, .caching, .written, .metrics, .received, .socket, .stream,
        ]
        #expect(Set(all.map(\.rawValue)).count == all.count)
    }
}
