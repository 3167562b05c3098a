import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

/// A delegate that loads something else with the same session, from the same host, before it answers a question.
@Suite("Requests within questions", .timeLimit(.minutes(5)))
struct InnerRequestTests {
    enum Question: CaseIterable {
        case challenge, redirect, response, download, stream, caching

        /// The path of a request whose answer asks this question; the content of that answer has this length.
        func path(_ length: Int) -> String {
            switch self {
            case .challenge: "/basic-auth/u/p?length=\(length)"
            case .redirect: "/redirect-to?url=/get&length=\(length)"
            case .response, .download: "/bytes/\(length)"
            case .stream: "/redirect-to?url=/anything&status_code=307&length=\(length)"
            case .caching: "/cache/60?length=\(length)"
            }
        }
    }

    /// Asks for something else before it answers one kind of question, and answers the others at once.
    private final class Asker: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
        let question: Question
        let inner: URL
        let ends = Counter()
        private let statuses = Mutex<[String]>([])
        private let lengths = Mutex<[Int: Int]>([:])

        init(_ question: Question, _ inner: URL) {
            self.question = question
            self.inner = inner
        }

        /// The status, or the error's code, of each end.
        var told: [String] { statuses.withLock { $0 } }
        /// How much content each task has brought.
        var received: [Int] { lengths.withLock { Array($0.values) } }

        func think(_ asked: Question, _ session: URLSession, _ then: @escaping @Sendable () -> Void) {
            guard asked == question else { return then() }
            session.dataTask(with: inner) { [self] _, response, error in
                if (response as? HTTPURLResponse)?.statusCode != 200 { note("inner \(code(error))") }
                then()
            }.resume()
        }

        private func note(_ end: String) { statuses.withLock { $0.append(end) } }

        private func code(_ error: (any Error)?) -> String { "\((error as? URLError)?.errorCode ?? 0)" }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            think(.challenge, session) {
                completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
            }
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            think(.redirect, session) { completionHandler(request) }
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            think(.stream, session) { completionHandler(InputStream(data: Data("content".utf8))) }
        }

        @available(*, deprecated)
        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            let asked = question == .download ? Question.download : .response
            think(asked, session) { completionHandler(asked == .download ? .becomeDownload : .allow) }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            lengths.withLock { $0[dataTask.taskIdentifier, default: 0] += data.count }
        }

        func urlSession(
            _ session: URLSession,
            downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) {
            let length = (try? Data(contentsOf: location))?.count ?? -1
            lengths.withLock { $0[downloadTask.taskIdentifier] = length }
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            willCacheResponse proposed: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            think(.caching, session) { completionHandler(proposed) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            note(error == nil ? "\((task.response as? HTTPURLResponse)?.statusCode ?? 0)" : code(error))
            ends.add()
        }
    }

    private func session(_ delegate: any URLSessionDelegate, places: Int = 6) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        configuration.httpMaximumConnectionsPerHost = places
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    @Test(
        "tasks whose delegate loads from the same host before it answers all end, whatever the limit of connections is",
        arguments: Question.allCases,
        [(0, 6), (100, 6), (3_000_000, 6), (0, 1), (100, 1), (3_000_000, 1)]
    )
    func table(question: Question, size: (length: Int, places: Int)) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        for count in [1, 6, 12] {
            let asker = Asker(question, try url(server.url("/get")))
            let session = session(asker, places: size.places)
            defer { session.invalidateAndCancel() }
            let clock = ContinuousClock.now
            for number in 0..<count {
                var request = URLRequest(url: try url(server.url(question.path(size.length)) + "#\(number)"))
                if question == .stream {
                    request.httpMethod = "POST"
                    session.uploadTask(withStreamedRequest: request).resume()
                } else {
                    session.dataTask(with: request).resume()
                }
            }
            await asker.ends.reaches(count)
            #expect(asker.told == Array(repeating: "200", count: count), "\(count) tasks")
            if question == .response || question == .download {
                let whole = Array(repeating: size.length, count: size.length > 0 || question == .download ? count : 0)
                #expect(asker.received == whole)
            }
            print("inner requests: \(question) \(size) \(count): \(ContinuousClock.now - clock)")
        }
    }

    /// Loads something else before it answers the first questions of handshakes.
    private final class HandshakeAsker: NSObject, URLSessionDataDelegate {
        let method: String
        let identity: URLCredential
        let inner: URL
        let ends = Counter()
        private let left: Mutex<Int>
        private let statuses = Mutex<[String]>([])

        init(_ method: String, of count: Int, _ identity: URLCredential, _ inner: URL) {
            self.method = method
            self.identity = identity
            self.inner = inner
            left = Mutex(count)
        }

        var told: [String] { statuses.withLock { $0 } }

        func urlSession(
            _ session: URLSession,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            let answer: @Sendable () -> Void = { [identity] in
                completionHandler(.useCredential, space.serverTrust.map { URLCredential(trust: $0) } ?? identity)
            }
            let asks = left.withLock { left in
                guard space.authenticationMethod == method, left > 0 else { return false }
                left -= 1
                return true
            }
            guard asks else { return answer() }
            session.dataTask(with: inner) { _, _, _ in answer() }.resume()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let status = (task.response as? HTTPURLResponse)?.statusCode ?? (error as? URLError)?.errorCode ?? 0
            statuses.withLock { $0.append("\(status)") }
            ends.add()
        }
    }

    @Test(
        "handshakes whose delegate loads from the same server before it answers all end",
        arguments: [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate],
        [(1, 1), (6, 6), (12, 6)]
    )
    func handshakes(method: String, tasks: (count: Int, places: Int)) async throws {
        let client = try TestCertificates.client
        var configuration = TLSServerConfiguration(try TestCertificates.localhost)
        configuration.clientCertificate = .required(Array(client.authorityPEM.utf8))
        let server = try TestServer.start(tls: TLSServerContext(configuration))
        defer { server.stop() }
        let identity = try URLClientIdentity(pem: Data((client.chainPEM + client.keyPEM).utf8))
        let asker = HandshakeAsker(
            method,
            of: tasks.places,
            URLCredential(identity: identity, persistence: .forSession),
            try url(server.url("/get", host: "localhost"))
        )
        let session = session(asker, places: tasks.places)
        defer { session.invalidateAndCancel() }
        for number in 0..<tasks.count {
            session.dataTask(with: try url(server.url("/get?\(number)", host: "localhost"))).resume()
        }
        await asker.ends.reaches(tasks.count)
        #expect(asker.told == Array(repeating: "200", count: tasks.count))
    }

    @Test("a request behind the question of another one fails by its own limit if the question stays open")
    func openQuestion() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let configuration = URLSessionConfiguration.isolated
        configuration.httpMaximumConnectionsPerHost = 1
        configuration.timeoutIntervalForRequest = 0.5
        let asked = Word<Void>()
        let silent = SilentDelegate(asked)
        let session = URLSession(configuration: configuration, delegate: silent, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: try url(server.url("/bytes/3000000"))).resume()
        _ = await asked.wait("the question")
        // Its connection is held by the question alone, which holds it no longer than the limit.
        #expect(await silent.end.wait("the end") == .timedOut)
        let (data, _) = try await session.data(from: try url(server.url("/bytes/7")))
        #expect(data.count == 7)
    }

    /// Never answers what to do with a response.
    private final class SilentDelegate: NSObject, URLSessionDataDelegate {
        let asked: Word<Void>
        let end = Word<URLError.Code?>()
        private let answers = Mutex<[@Sendable (URLSession.ResponseDisposition) -> Void]>([])

        init(_ asked: Word<Void>) { self.asked = asked }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            answers.withLock { $0.append(completionHandler) }
            asked.give(())
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            end.give((error as? URLError)?.code)
        }
    }
}
