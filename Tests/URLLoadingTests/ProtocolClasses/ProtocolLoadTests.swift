import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlTestServer

@testable import URLLoading
@testable import UncurlClient

/// Loads URLs of the scheme "mock" as their paths say.
private final class MockProtocol: URLProtocol {
    static let stopped = Atomic(0)

    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "mock" }

    override func startLoading() {
        guard let url = request.url, let client else { return }
        let response = HTTPURLResponse(
            url: url,
            statusCode: 200,
            httpVersion: "HTTP/1.1",
            headerFields: ["Content-Type": "text/plain"]
        )
        switch url.host {
        case "text":
            if let response { client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
            for word in ["one ", "two ", "three"] { client.urlProtocol(self, didLoad: Data(word.utf8)) }
            client.urlProtocolDidFinishLoading(self)
        case "echo":
            let body = request.httpBody ?? Data()
            if let response { client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
            client.urlProtocol(self, didLoad: body)
            client.urlProtocolDidFinishLoading(self)
        case "fail": client.urlProtocol(self, didFailWithError: MockFailure(number: 7))
        case "failAsURL":
            client.urlProtocol(self, didFailWithError: NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut))
        case "headless": client.urlProtocolDidFinishLoading(self)
        case "twice":
            if let response { client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
            client.urlProtocolDidFinishLoading(self)
            client.urlProtocolDidFinishLoading(self)
            client.urlProtocol(self, didFailWithError: URLError(.badURL))
            client.urlProtocol(self, didLoad: Data("late".utf8))
        case "dataFirst", "dataAlone":
            client.urlProtocol(self, didLoad: Data("early ".utf8))
            if url.host == "dataFirst", let response {
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            }
            client.urlProtocol(self, didLoad: Data("late".utf8))
            client.urlProtocolDidFinishLoading(self)
        case "redirect", "declined":
            guard let next = URL(string: "mock://text/"),
                let answer = HTTPURLResponse(
                    url: url,
                    statusCode: 302,
                    httpVersion: nil,
                    headerFields: ["Location": "mock://text/"]
                )
            else { return }
            client.urlProtocol(self, wasRedirectedTo: URLRequest(url: next), redirectResponse: answer)
            guard url.host == "declined" else { return }
            client.urlProtocol(self, didLoad: Data("moved".utf8))
            client.urlProtocolDidFinishLoading(self)
        case "cached":
            let cached = CachedURLResponse(
                response: response
                    ?? URLResponse(url: url, mimeType: nil, expectedContentLength: 4, textEncodingName: nil),
                data: Data("kept".utf8)
            )
            client.urlProtocol(self, cachedResponseIsValid: cached)
        case "canonical", "stored":
            // Says what it was given.
            let known = cachedResponse.map { String(decoding: $0.data, as: UTF8.self) } ?? "nothing"
            if let response { client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .allowedInMemoryOnly) }
            client.urlProtocol(self, didLoad: Data("\(request.url?.path ?? ""), \(known)".utf8))
            client.urlProtocolDidFinishLoading(self)
        case "twoHeads":
            for word in ["first", "second"] {
                if let response { client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
                client.urlProtocol(self, didLoad: Data(word.utf8))
            }
            client.urlProtocolDidFinishLoading(self)
        case "many":
            if let response { client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
            for _ in 0..<50_000 { client.urlProtocol(self, didLoad: Data([0x61])) }
            client.urlProtocolDidFinishLoading(self)
        case "circle":
            let plain = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            client.urlProtocol(self, wasRedirectedTo: URLRequest(url: url), redirectResponse: plain)
        case "reentrant":
            // A session's task made from within a class's own loading.
            let session = URLSession(configuration: Self.configuration)
            guard let other = URL(string: "mock://text/") else { return }
            let mine = self
            let holder = Holder(mine)
            session.dataTask(with: other) { data, _, error in
                let mine = holder.instance
                if let response {
                    mine.client?.urlProtocol(mine, didReceive: response, cacheStoragePolicy: .notAllowed)
                }
                mine.client?.urlProtocol(mine, didLoad: data ?? Data())
                mine.client?.urlProtocolDidFinishLoading(mine)
            }.resume()
        default: break
        }
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
        guard request.url?.host == "canonical", let url = URL(string: "mock://canonical/made") else { return request }
        return URLRequest(url: url)
    }

    override func stopLoading() { Self.stopped.add(1, ordering: .relaxed) }

    static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [MockProtocol.self]
        return configuration
    }

    private struct Holder: @unchecked Sendable {
        let instance: URLProtocol
        init(_ instance: URLProtocol) { self.instance = instance }
    }
}

/// Reports its answer from another task and from another queue, which Swift 6 allows only to a sendable class.
private final class SendableProtocol: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "sendable" }

    override func startLoading() {
        Task {
            let response = URLResponse(
                url: self.request.url ?? URLRequest.nowhere,
                mimeType: nil,
                expectedContentLength: -1,
                textEncodingName: nil
            )
            self.client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            DispatchQueue.global().async { self.client?.urlProtocolDidFinishLoading(self) }
        }
    }
}

private struct MockFailure: Error, Equatable {
    let number: Int
}

/// Takes everything, and says nothing of how.
private final class EmptyProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "empty" }
}

@Suite("URLProtocol classes", .timeLimit(.minutes(5)))
struct ProtocolLoadTests {
    private let session = URLSession(configuration: MockProtocol.configuration)

    private func mock(_ name: String) throws -> URL { try url("mock://\(name)/") }

    @Test("a class that a program inserts into the classes of a new configuration loads its requests")
    func inserted() async throws {
        for configuration in [URLSessionConfiguration.default, .ephemeral, .background(withIdentifier: "inserted")] {
            #expect(configuration.protocolClasses?.isEmpty == true)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses?.insert(MockProtocol.self, at: 0)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try url("mock://text/"))
        #expect(data == Data("one two three".utf8))
    }

    @Test("a handler, a delegate and a function that waits get what the class reports")
    func data() async throws {
        let (data, response) = try await session.data(from: mock("text"))
        #expect(data == Data("one two three".utf8) && (response as? HTTPURLResponse)?.statusCode == 200)
        let target = try mock("text")
        let told = await withCheckedContinuation { continuation in
            session.dataTask(with: target) { data, _, _ in continuation.resume(returning: data) }.resume()
        }
        #expect(told == data)
        let recorder = Recorder()
        let other = URLSession(configuration: MockProtocol.configuration, delegate: recorder, delegateQueue: nil)
        other.dataTask(with: target).resume()
        await recorder.end()
        #expect(recorder.events == ["created", "response 200", "data", "metrics", "end"])
        #expect(recorder.told.data == data)
        other.finishTasksAndInvalidate()
    }

    @Test("a class gets the content of uploads, fills the files of downloads, and its bytes are read")
    func kinds() async throws {
        var request = URLRequest(url: try mock("echo"))
        request.httpMethod = "POST"
        request.httpBody = Data("content".utf8)
        #expect(try await session.data(for: request).0 == Data("content".utf8))
        let (file, _) = try await session.download(from: mock("text"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("one two three".utf8))
        let (bytes, _) = try await session.bytes(from: mock("text"))
        var all: [UInt8] = []
        for try await byte in bytes { all.append(byte) }
        #expect(all == Array("one two three".utf8))
        let recorder = Recorder()
        let other = URLSession(configuration: MockProtocol.configuration, delegate: recorder, delegateQueue: nil)
        other.downloadTask(with: try mock("text")).resume()
        await recorder.end()
        #expect(recorder.events.filter { $0 != "wrote" } == ["created", "metrics", "file", "end"])
        other.finishTasksAndInvalidate()
    }

    /// Takes requests without its mark, and loads them marked in a session that has it too.
    private final class Marking: URLProtocol {
        static let key = "Marking"
        static let taken = Counter()

        override class func canInit(with request: URLRequest) -> Bool {
            property(forKey: key, in: request) == nil
        }

        static var session: URLSession {
            let configuration = URLSessionConfiguration.isolated
            configuration.protocolClasses = [Marking.self]
            return URLSession(configuration: configuration)
        }

        private struct Holder: @unchecked Sendable {
            let instance: Marking
        }

        override func startLoading() {
            Self.taken.add()
            // Without the mark, it would take its own requests for ever.
            guard Self.taken.value < 5, let url = request.url else {
                client?.urlProtocol(self, didFailWithError: URLError(.badURL))
                return
            }
            let marked = NSMutableURLRequest(url: url)
            Self.setProperty(true, forKey: Self.key, in: marked)
            let (holder, session) = (Holder(instance: self), Self.session)
            session.dataTask(with: marked as URLRequest) { data, response, error in
                let mine = holder.instance
                if let error { mine.client?.urlProtocol(mine, didFailWithError: error) }
                if let response {
                    mine.client?.urlProtocol(mine, didReceive: response, cacheStoragePolicy: .notAllowed)
                }
                mine.client?.urlProtocol(mine, didLoad: data ?? Data())
                mine.client?.urlProtocolDidFinishLoading(mine)
            }.resume()
            session.finishTasksAndInvalidate()
        }
    }

    @Test("a class knows its own requests by a property, also in another session, until the property is removed")
    func properties() async throws {
        let server = try TestServer.start()
        let session = Marking.session
        defer { session.invalidateAndCancel() }
        let target = try url(server.url("/bytes/10"))
        #expect(try await session.data(from: target).0.count == 10)
        #expect(server.requestCount == 1 && Marking.taken.value == 1)
        let request = NSMutableURLRequest(url: target)
        Marking.setProperty(true, forKey: Marking.key, in: request)
        Marking.setProperty(1, forKey: "other", in: request)
        #expect(try await session.data(for: request as URLRequest).0.count == 10)
        #expect(server.requestCount == 2 && Marking.taken.value == 1)
        Marking.removeProperty(forKey: Marking.key, in: request)
        #expect(Marking.property(forKey: "other", in: request as URLRequest) as? Int == 1)
        #expect(try await session.data(for: request as URLRequest).0.count == 10)
        #expect(server.requestCount == 3 && Marking.taken.value == 2)
    }

    @Test("an upload task's own data is what the class sees")
    func upload() async throws {
        var request = URLRequest(url: try mock("echo"))
        request.httpMethod = "PUT"
        #expect(try await session.upload(for: request, from: Data("uploaded".utf8)).0 == Data("uploaded".utf8))
    }

    @Test(
        "a stream that the delegate gives is in the request that the class gets, and another one after its redirect",
        arguments: [("echo", 1), ("copied", 2), ("fresh", 2)]
    )
    func delegatesStream(host: String, streams: Int) async throws {
        final class Streaming: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "streaming" }

            override func startLoading() {
                guard let url = request.url, let next = URL(string: "streaming://echo/") else { return }
                let data = content()
                let status = url.host == "echo" ? 200 : 307
                let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
                guard let response else { return }
                if status == 200 {
                    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                    client?.urlProtocol(self, didLoad: data)
                    client?.urlProtocolDidFinishLoading(self)
                } else {
                    var following = url.host == "copied" ? request : URLRequest(url: next)
                    following.url = next
                    following.httpMethod = "POST"
                    client?.urlProtocol(self, wasRedirectedTo: following, redirectResponse: response)
                }
            }

            private func content() -> Data {
                var (data, buffer) = (Data(), [UInt8](repeating: 0, count: 1024))
                guard let stream = request.httpBodyStream else { return data }
                stream.open()
                defer { stream.close() }
                while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 {
                    data.append(contentsOf: buffer[..<count])
                }
                return data
            }
        }
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [Streaming.self]
        let content = Data(repeating: 7, count: 5_000)
        var answers = Recorder.Answers()
        answers.stream = { InputStream(data: content) }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url("streaming://\(host)/"))
        request.httpMethod = "POST"
        session.uploadTask(withStreamedRequest: request).resume()
        await recorder.end()
        #expect(recorder.told.error == nil && recorder.told.data == content)
        #expect(recorder.events.count { $0 == "stream" } == streams)
    }

    @Test("the content of an upload does not follow its class's redirect to a GET", arguments: [true, false])
    func redirectedUpload(staysWithClasses: Bool) async throws {
        final class Moving: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "moving" }

            override func startLoading() {
                guard let url = request.url, let next = request.value(forHTTPHeaderField: "X-Next"),
                    let target = URL(string: next),
                    let response = HTTPURLResponse(url: url, statusCode: 303, httpVersion: nil, headerFields: nil)
                else { return }
                client?.urlProtocol(self, wasRedirectedTo: URLRequest(url: target), redirectResponse: response)
            }
        }
        let fine = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let server = try RawServer.start([[.receive(.request), .send(fine)]])
        let configuration = MockProtocol.configuration
        configuration.protocolClasses?.append(Moving.self)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url("moving://x/"))
        request.httpMethod = "POST"
        request.setValue(staysWithClasses ? "mock://echo/" : server.url("/next"), forHTTPHeaderField: "X-Next")
        let (data, response) = try await session.upload(for: request, from: Data("content".utf8))
        #expect(data.isEmpty && (response as? HTTPURLResponse)?.statusCode == 200)
        if !staysWithClasses {
            #expect(server.connections[0].receivedText.hasPrefix("GET /next HTTP/1.1\r\n"))
            #expect(server.connections[0].receivedText.hasSuffix("\r\n\r\n"))
        }
    }

    @Test("a class is asked with the session's additional fields, which the request's own replace, and sees them")
    func additionalFields() async throws {
        final class Reading: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool {
                request.value(forHTTPHeaderField: "X-Session") == "session"
            }
            override func startLoading() {
                guard let url = request.url else { return }
                let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
                let both = request.value(forHTTPHeaderField: "X-Both") ?? "none"
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: Data(both.utf8))
                client?.urlProtocolDidFinishLoading(self)
            }
        }
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [Reading.self]
        configuration.httpAdditionalHeaders = ["x-session": "session", "X-Both": "session"]
        var request = URLRequest(url: try url("reading://x/"))
        request.setValue("request", forHTTPHeaderField: "x-both")
        #expect(try await URLSession(configuration: configuration).data(for: request).0 == Data("request".utf8))
    }

    @Test("a redirect is followed by another instance, after the delegate was asked")
    func redirected() async throws {
        #expect(try await session.data(from: mock("redirect")).0 == Data("one two three".utf8))
        let recorder = Recorder()
        let other = URLSession(configuration: MockProtocol.configuration, delegate: recorder, delegateQueue: nil)
        other.dataTask(with: try mock("redirect")).resume()
        await recorder.end()
        #expect(recorder.events.contains("redirect 302") && recorder.told.data == Data("one two three".utf8))
        other.finishTasksAndInvalidate()
    }

    @Test("a class's redirect that the delegate declines is the answer, with what the class loads")
    func declined() async throws {
        var answers = Recorder.Answers()
        answers.redirect = { _ in nil }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: MockProtocol.configuration, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: try mock("declined")).resume()
        await recorder.end()
        #expect(recorder.events == ["created", "redirect 302", "response 302", "data", "metrics", "end"])
        #expect(recorder.told.data == Data("moved".utf8))
        session.finishTasksAndInvalidate()
    }

    @Test("a class hears how its challenge was answered on its own queue, not on the session's loop")
    func challenged() async throws {
        final class Sender: NSObject, URLAuthenticationChallengeSender {
            static let isOnLoop = Word<Bool>()
            private let task: URLSessionTask?

            init(_ task: URLSessionTask?) { self.task = task }

            private func note() { Self.isOnLoop.give(task?.session?.home.isOnLoop ?? true) }

            func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) { note() }
            func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { note() }
            func cancel(_ challenge: URLAuthenticationChallenge) { note() }
            func performDefaultHandling(for challenge: URLAuthenticationChallenge) { note() }
            func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { note() }
        }
        final class Challenging: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "challenging" }
            override func startLoading() {
                let challenge = URLAuthenticationChallenge(
                    protectionSpace: URLProtectionSpace(
                        host: "h",
                        port: 80,
                        protocol: "http",
                        realm: "r",
                        authenticationMethod: NSURLAuthenticationMethodHTTPBasic
                    ),
                    proposedCredential: nil,
                    previousFailureCount: 0,
                    failureResponse: nil,
                    error: nil,
                    sender: Sender(task)
                )
                client?.urlProtocol(self, didReceive: challenge)
            }
        }
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [Challenging.self]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: try url("challenging://x/")).resume()
        #expect(await Sender.isOnLoop.wait("the answer to the challenge") == false)
    }

    @Test("a cached answer that the class calls valid is the answer")
    func cached() async throws {
        #expect(try await session.data(from: mock("cached")).0 == Data("kept".utf8))
    }

    @Test("a class's own error is the task's error unchanged, however the task reports it")
    func failed() async throws {
        let target = try mock("fail")
        let expected = MockFailure(number: 7)
        await #expect(throws: expected) { try await session.data(from: target) }
        await #expect(throws: expected) { try await session.download(from: target) }
        await #expect(throws: expected) { try await session.bytes(from: target) }
        let told = await withCheckedContinuation { continuation in
            session.dataTask(with: target) { continuation.resume(returning: $2) }.resume()
        }
        #expect(told as? MockFailure == expected)
        let recorder = Recorder()
        let other = URLSession(configuration: MockProtocol.configuration, delegate: recorder, delegateQueue: nil)
        let task = other.dataTask(with: target)
        task.resume()
        await recorder.end()
        #expect(recorder.told.error as? MockFailure == expected && task.error as? MockFailure == expected)
        other.finishTasksAndInvalidate()
    }

    @Test("a class's error in the domain of URL errors is the task's, with the failing URL")
    func failedAsURL() async throws {
        let target = try mock("failAsURL")
        await #expect { try await session.data(from: target) } throws: { error in
            let error = error as? URLError
            return error?.code == .timedOut && error?.failingURL == target
        }
    }

    @Test(
        "a loading class that misuses its client does no harm: an end without a head is an error, and what it tells after the end is ignored"
    )
    func misused() async throws {
        await #expect(throws: URLError.self) { try await session.data(from: mock("headless")) }
        #expect(try await session.data(from: mock("twice")).0.isEmpty)
        await #expect(throws: URLError.self) { try await session.data(from: url("empty://x/")) }
    }

    @Test(
        "content that a class reports before the head, or without one, is the answer's content",
        arguments: ["dataFirst", "dataAlone"]
    )
    func headLate(host: String) async throws {
        let (target, whole) = (try mock(host), Data("early late".utf8))
        let (data, response) = try await session.data(from: target)
        #expect(data == whole && response.url == target && (response is HTTPURLResponse) == (host == "dataFirst"))
        let (file, _) = try await session.download(from: target)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == whole)
        let (bytes, _) = try await session.bytes(from: target)
        #expect(try await bytes.reduce(into: Data()) { $0.append($1) } == whole)
        let told = await withCheckedContinuation { continuation in
            session.dataTask(with: target) { continuation.resume(returning: ($0, $2)) }.resume()
        }
        #expect(told.0 == whole && told.1 == nil)
        let recorder = Recorder()
        let other = URLSession(configuration: MockProtocol.configuration, delegate: recorder, delegateQueue: nil)
        other.dataTask(with: target).resume()
        await recorder.end()
        #expect(recorder.told.data == whole && recorder.told.error == nil)
        other.finishTasksAndInvalidate()
    }

    @Test("a class that is declared sendable reports its answer from other threads")
    func sendable() async throws {
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [SendableProtocol.self]
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        #expect(try await session.data(from: url("sendable://host/")).0.isEmpty)
    }

    @Test("a class may make tasks of its own in startLoading")
    func reentrant() async throws {
        #expect(try await session.data(from: mock("reentrant")).0 == Data("one two three".utf8))
    }

    @Test("a class loads its canonical request, gets its stored response, and decides whether its answer is stored")
    func canonical() async throws {
        #expect(try await session.data(from: mock("canonical")).0 == Data("/made, nothing".utf8))
        let recorder = Recorder()
        let other = URLSession(configuration: MockProtocol.configuration, delegate: recorder, delegateQueue: nil)
        other.dataTask(with: try mock("stored")).resume()
        await recorder.end()
        #expect(recorder.events == ["created", "response 200", "data", "cache", "metrics", "end"])
        #expect(try await other.data(from: mock("stored")).0 == Data("/, /, nothing".utf8))
        let fresh = URLRequest(url: try mock("stored"), cachePolicy: .reloadIgnoringLocalCacheData)
        #expect(try await other.data(for: fresh).0 == Data("/, nothing".utf8))
        let text = other.configuration.urlCache?.cachedResponse(for: URLRequest(url: try mock("text")))
        #expect(text == nil)
        other.invalidateAndCancel()
    }

    @Test("of a class's two answers the second counts; a class that redirects in circles is stopped")
    func odd() async throws {
        let (file, _) = try await session.download(from: mock("twoHeads"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("second".utf8))
        await #expect { try await session.data(from: mock("circle")) } throws: {
            ($0 as? URLError)?.code == .httpTooManyRedirects
        }
    }

    @Test("what a class reports while its task is suspended is delivered after that, however much it is")
    func held() async throws {
        let recorder = Recorder()
        let other = URLSession(configuration: MockProtocol.configuration, delegate: recorder, delegateQueue: nil)
        let task = other.dataTask(with: try mock("many"))
        task.resume()
        await until { recorder.events.contains("response 200") }
        task.suspend()
        task.resume()
        await recorder.end()
        #expect(recorder.told.data == Data(repeating: 0x61, count: 50_000))
        other.invalidateAndCancel()
    }

    @Test("a class that has finished is told to stop, though its answer became a stream of which nothing is read yet")
    func finishedBeforeReader() async throws {
        final class Short: URLProtocol {
            static let stopped = Word<Bool>()

            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "short" }
            override func startLoading() {
                guard let url = request.url else { return }
                let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 2, textEncodingName: nil)
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: Data("ok".utf8))
                client?.urlProtocolDidFinishLoading(self)
            }
            override func stopLoading() { Self.stopped.give(true) }
        }
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [Short.self]
        let recorder = StreamRecorder()
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        session.dataTask(with: try url("short://x/")).resume()
        #expect(await Short.stopped.wait("the word to stop") == true)
        await recorder.milestone()
        let stream = try #require(recorder.told.streamTask)
        let (data, isEnd) = try await stream.readData(ofMinLength: 2, maxLength: 9, timeout: 10)
        #expect(data == Data("ok".utf8) && isEnd)
        session.invalidateAndCancel()
    }

    @Test("a task that is suspended while its class is asked sends nothing before it is resumed")
    func suspendedWhileAsked() async throws {
        final class Suspending: URLProtocol {
            override class func canInit(with task: URLSessionTask) -> Bool {
                task.suspend()
                return false
            }
        }
        let server = try RawServer.start(otherwise: .answering(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)))
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [Suspending.self]
        let session = URLSession(configuration: configuration)
        let task = session.dataTask(with: try url(server.url("/")))
        task.resume()
        // The class has been asked, and the loop has heard that it does not load the request.
        await until {
            await withCheckedContinuation { continuation in
                session.post { _ in
                    var isAsked = false
                    if case .loading(let load as TaskLoader) = task.stage {
                        isAsked = !(load.load.source is ProtocolLoad)
                    }
                    continuation.resume(returning: isAsked)
                }
            }
        }
        let statistics = await withCheckedContinuation { continuation in
            session.post { continuation.resume(returning: $0.engine.statistics) }
        }
        #expect(task.state == .suspended && statistics == EngineStatistics() && server.connections.isEmpty)
        task.resume()
        await until { task.state == .completed }
        #expect(task.error == nil && server.connections.count == 1)
        session.finishTasksAndInvalidate()
    }

    @Test("a task that is cancelled stops its class")
    func cancelled() async throws {
        let before = MockProtocol.stopped.load(ordering: .relaxed)
        let task = session.dataTask(with: try mock("silent"))
        task.resume()
        task.cancel()
        await until { task.state == .completed }
        #expect((task.error as? URLError)?.code == .cancelled)
        // The class may not have been asked yet, or it is told to stop.
        #expect(MockProtocol.stopped.load(ordering: .relaxed) >= before)
    }

    @Test("a class that was stopped keeps its client for other threads, whose reports are ignored")
    func reportsAfterStop() async throws {
        struct Holder: @unchecked Sendable {
            let instance: URLProtocol
        }
        final class LateProtocol: URLProtocol {
            static let (started, stopped) = (Word<Holder>(), Word<Bool>())
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "late" }
            override func startLoading() { Self.started.give(Holder(instance: self)) }
            override func stopLoading() { Self.stopped.give(true) }
        }
        let configuration = URLSessionConfiguration.isolated
        configuration.protocolClasses = [LateProtocol.self]
        // The class reports nothing before it is stopped, however long that takes.
        configuration.timeoutIntervalForRequest = 0
        let recorder = Recorder()
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try url("late://x/"))
        task.resume()
        let holder = try #require(await LateProtocol.started.wait("the class to start"))
        let found = Word<ProtocolLoad>()
        session.post { _ in
            guard case .loading(let loader as TaskLoader) = task.stage,
                let load = loader.load.source as? ProtocolLoad
            else { return }
            found.give(load)
        }
        let load = try #require(await found.wait("the class's load"))
        task.cancel()
        _ = await LateProtocol.stopped.wait("the class to stop")
        // Behind what stops the class.
        let isOver = Word<Bool>()
        load.onClassQueue { isOver.give(true) }
        _ = await isOver.wait("the end of the stop")
        let told = Word<Bool>()
        DispatchQueue(label: "reports").async {
            let instance = holder.instance
            let client = instance.client
            client?.urlProtocol(instance, didLoad: Data("late".utf8))
            client?.urlProtocolDidFinishLoading(instance)
            told.give(client != nil)
        }
        #expect(await told.wait("the late report") == true)
        await recorder.end()
        #expect(recorder.events.filter { $0 != "metrics" && $0 != "created" } == ["end -999"])
    }

    @Test("registered classes serve every session until unregistered; a class that takes no request is skipped")
    func registered() async throws {
        final class Registered: URLProtocol {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "registered" }
            override func startLoading() {
                guard let url = request.url else { return }
                let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 2, textEncodingName: nil)
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: Data("ok".utf8))
                client?.urlProtocolDidFinishLoading(self)
            }
        }
        let plain = URLSession(configuration: .isolated)
        let target = try url("registered://x/")
        #expect(URLProtocol.registerClass(Registered.self))
        #expect(!URLProtocol.registerClass(NSObject.self))
        #expect(try await plain.data(from: target).0 == Data("ok".utf8))
        let server = try TestServer.start()
        #expect(try await plain.data(from: try url(server.url("/bytes/10"))).0.count == 10)
        URLProtocol.unregisterClass(Registered.self)
        await #expect(throws: URLError.self) { try await plain.data(from: target) }
    }
}
