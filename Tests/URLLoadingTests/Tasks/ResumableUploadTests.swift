import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

/// Uploads that go on where they were cut, over real connections that the server resets by plan.
@Suite("Resumable uploads", .timeLimit(.minutes(5)))
struct ResumableUploadTests {
    private static let size = 8 << 20
    private static let octets: Data = {
        var random = SplitMix(seed: 0x7570)
        var data = Data(capacity: size)
        while data.count < size { withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) } }
        return data
    }()

    /// What the server says that it has got.
    private struct Receipt: Decodable {
        let length: Int
        let sha256: String
    }

    private static func hash(_ data: Data) -> String {
        let hash = MessageDigest.sha256.hash(Array(data).span) ?? []
        return hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private static func place(_ location: String) -> String {
        "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: 6\r\nLocation: \(location)\r\n\r\n"
    }

    private func configuration(_ version: URLSessionConfiguration.ResumableUploadVersion?) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.isolated
        configuration.resumableUploads = version
        return configuration
    }

    private func request(_ server: TestServer, _ query: String = "") throws -> URLRequest {
        var request = URLRequest(url: try url(server.url("/resumable-upload" + query)))
        request.httpMethod = "POST"
        request.setValue("image/png", forHTTPHeaderField: "Content-Type")
        return request
    }

    private func expectWhole(_ data: Data, _ response: URLResponse?) throws {
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        let receipt = try JSONDecoder().decode(Receipt.self, from: data)
        #expect(receipt.length == Self.size)
        #expect(receipt.sha256 == Self.hash(Self.octets))
    }

    @Test(
        "data whose connection is reset five times comes whole, in each version",
        arguments: URLSessionConfiguration.ResumableUploadVersion.allCases
    )
    func data(version: URLSessionConfiguration.ResumableUploadVersion) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let session = URLSession(configuration: configuration(version))
        defer { session.invalidateAndCancel() }
        let (data, response) = try await session.upload(
            for: request(server, "?cut=1000000&times=5"),
            from: Self.octets
        )
        try expectWhole(data, response)
        // One that begins it, and five times the question and the rest.
        #expect(server.requestCount == 11)
    }

    @Test("a file arrives whole, and its counts continue from what the server has")
    func file() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let file = TemporaryFile(Array(Self.octets))
        let recorder = Recorder()
        let session = URLSession(configuration: configuration(.six), delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.uploadTask(
            with: try request(server, "?cut=2000000&times=3"),
            fromFile: URL(fileURLWithPath: file.path)
        )
        task.resume()
        await recorder.end()
        try expectWhole(recorder.told.data, task.response)
        let counts = recorder.events.filter { $0.hasPrefix("sent ") }
        #expect(counts.last == "sent \(Self.size)/\(Self.size)")
        #expect(counts.allSatisfy { $0.hasSuffix("/\(Self.size)") })
        #expect(task.countOfBytesSent == Self.size)
    }

    @Test("of a stream, the delegate is asked for what comes behind the server's offset")
    func stream() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let offsets = Mutex<[Int64]>([])
        let delegate = Streaming(Self.octets) { offset in offsets.withLock { $0.append(offset) } }
        let session = URLSession(configuration: configuration(.six), delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.uploadTask(withStreamedRequest: try request(server, "?cut=2000000&times=3"))
        task.resume()
        await delegate.recorder.end()
        try expectWhole(delegate.recorder.told.data, task.response)
        #expect(offsets.withLock { $0.count } == 3)
        #expect(offsets.withLock { $0 == $0.sorted() && $0[0] >= 2_000_000 })
    }

    @Test("an upload that is cancelled is resumed by another task, whatever its content was", arguments: [true, false])
    func cancelled(isFile: Bool) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let file = TemporaryFile(Array(Self.octets))
        let session = URLSession(configuration: configuration(.five))
        defer { session.invalidateAndCancel() }
        // So slowly that the server has said where the upload is long before the end.
        var slow = try request(server)
        slow.rates = TransferRates(sending: TransferRate(bytesPerSecond: 1 << 16))
        let recorder = Listening()
        let first =
            isFile
            ? session.uploadTask(with: slow, fromFile: URL(fileURLWithPath: file.path))
            : session.uploadTask(with: slow, from: Self.octets)
        first.delegate = recorder
        first.resume()
        await until { recorder.isInformed && first.countOfBytesSent > 1 << 16 }
        let resumeData = try #require(await first.cancelByProducingResumeData())
        await recorder.recorder.end()
        let error = recorder.recorder.told.error as? URLError
        #expect(error?.code == .cancelled)
        #expect(error?.uploadTaskResumeData == resumeData)
        // Another session, which offers nothing itself.
        let other = URLSession(configuration: configuration(nil))
        defer { other.invalidateAndCancel() }
        let before = server.bytesReceived
        let end = Recorder()
        let second = other.uploadTask(withResumeData: resumeData)
        second.delegate = end
        second.resume()
        await end.end()
        try expectWhole(end.told.data, second.response)
        #expect(server.bytesReceived - before < UInt64(Self.size))
        #expect(second.countOfBytesSent == Self.size)
        #expect(second.originalRequest?.url == slow.url)
        #expect(second.originalRequest?.value(forHTTPHeaderField: "Content-Type") == "image/png")
    }

    @Test("where the server has forgotten the upload, and where the file is another one, all of it is sent anew")
    func anew() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let file = TemporaryFile(Array(Self.octets.reversed()))
        let session = URLSession(configuration: configuration(.six))
        defer { session.invalidateAndCancel() }
        var slow = try request(server)
        slow.rates = TransferRates(sending: TransferRate(bytesPerSecond: 1 << 16))
        let first = session.uploadTask(with: slow, fromFile: URL(fileURLWithPath: file.path))
        let listening = Listening()
        first.delegate = listening
        first.resume()
        await until { listening.isInformed && first.countOfBytesSent > 1 << 16 }
        let resumeData = try #require(await first.cancelByProducingResumeData())
        try Self.octets.write(to: URL(fileURLWithPath: file.path))
        let (data, response) = try await session.upload(resumeFrom: resumeData)
        try expectWhole(data, response)
        // Where nobody knows it.
        var forgotten = try #require(UploadResumeData(resumeData))
        forgotten = UploadResumeData(
            request: forgotten.request,
            resource: try url(server.url("/resumable-upload/777")),
            draft: forgotten.draft,
            content: .data(Self.octets)
        )
        let (again, answer) = try await session.upload(resumeFrom: try #require(forgotten.data))
        try expectWhole(again, answer)
    }

    @Test("the PATCH that ends an upload invalidates what is stored for its first request's URL, and for its own")
    func invalidates() async throws {
        func answer(_ body: String) -> String {
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let version = "Upload-Draft-Interop-Version: 6\r\n"
        let offset = "HTTP/1.1 204 No Content\r\nUpload-Offset: 4\r\nUpload-Complete: ?0\r\n\(version)\r\n"
        let end = "HTTP/1.1 201 Created\r\nUpload-Complete: ?1\r\n\(version)Content-Length: 0\r\n\r\n"
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send(answer("one")), .receive(.headEnd), .send(answer("two")),
                .receive(.headEnd), .send(Self.place("/7")), .reset,
            ],
            [
                .receive(.headEnd), .send(offset), .receive(.headEnd), .send(end),
                .receive(.headEnd), .send(answer("three")), .receive(.headEnd), .send(answer("four")),
            ],
        ])
        let configuration = configuration(.six)
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        func load() async throws -> [String] {
            var bodies: [String] = []
            for path in ["/files", "/7"] {
                let (data, _) = try await session.data(from: url(server.url(path)))
                bodies.append(String(decoding: data, as: UTF8.self))
            }
            return bodies
        }
        #expect(try await load() == ["one", "two"])
        #expect(try await load() == ["one", "two"])
        var request = URLRequest(url: try url(server.url("/files")))
        request.httpMethod = "POST"
        let (_, response) = try await session.upload(for: request, from: Data("12345678".utf8))
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        #expect(try await load() == ["three", "four"])
    }

    @Test("a file that grows before its delayed upload begins is stated with its new length")
    @available(*, deprecated)
    func grown() async throws {
        let server = try RawServer.start([[.receive(.request), .send("HTTP/1.1 204 No Content\r\n\r\n")]])
        let file = TemporaryFile([UInt8](repeating: 1, count: 1000))
        let delegate = Growing { file.append([UInt8](repeating: 2, count: 500)) }
        let session = URLSession(configuration: configuration(.six), delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/files")))
        request.httpMethod = "POST"
        let task = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: file.path))
        task.earliestBeginDate = Date()
        task.resume()
        await delegate.recorder.end()
        #expect(delegate.recorder.told.error == nil)
        let sent = String(decoding: server.received(0), as: UTF8.self)
        #expect(sent.contains("\r\nUpload-Length: 1500\r\n") && sent.contains("\r\nContent-Length: 1500\r\n"))
        #expect(task.countOfBytesSent == 1500)
    }

    @Test("a server that is gone leaves resume data in the error")
    func gone() async throws {
        let place = Self.place("/7")
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Array(place.utf8)), .receive(.bytes(1 << 20)), .reset],
            [.receive(.headEnd), .reset],
        ])
        let session = URLSession(configuration: configuration(.six))
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/files")))
        request.httpMethod = "POST"
        do {
            _ = try await session.upload(for: request, from: Self.octets)
            Issue.record("an upload without an answer is none")
        } catch let error as URLError {
            let data = try #require(error.uploadTaskResumeData)
            #expect(UploadResumeData(data)?.resource.path == "/7")
            #expect(error.downloadTaskResumeData == nil)
        }
        let head = String(decoding: server.received(1), as: UTF8.self)
        #expect(head.hasPrefix("HEAD /7 HTTP/1.1\r\n"))
        #expect(head.contains("Upload-Draft-Interop-Version: 6\r\n"))
    }

    @Test("without the property no octet of a request is another, and there is no resume data")
    func notOffered() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let session = URLSession(configuration: configuration(nil))
        defer { session.invalidateAndCancel() }
        var slow = try request(server)
        slow.rates = TransferRates(sending: TransferRate(bytesPerSecond: 1 << 16))
        let task = session.uploadTask(with: slow, from: Self.octets)
        task.resume()
        await until { task.countOfBytesSent > 1 << 16 }
        #expect(await task.cancelByProducingResumeData() == nil)
        let plain = try RawServer.start([[.receive(.headEnd), .send(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]])
        var request = URLRequest(url: try url(plain.url("/")))
        request.httpMethod = "PUT"
        _ = try await session.upload(for: request, from: Data("a".utf8))
        #expect(!String(decoding: plain.received(0), as: UTF8.self).contains("Upload-"))
    }

    @Test("resume data that is none, or was changed, makes a task that fails")
    func damaged() async throws {
        let session = URLSession(configuration: configuration(.six))
        defer { session.invalidateAndCancel() }
        for data in [Data(), Data("bplist00".utf8), Data([0])] {
            await #expect(throws: URLError.self) { try await session.upload(resumeFrom: data) }
        }
    }

    @Test("resume data of another version, or with a resource that is no web server's, makes a task that fails unsent")
    func changedData() async throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.place("/7")), .receive(.bytes(1 << 20)), .reset]
        ])
        let session = URLSession(configuration: configuration(.six))
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/files")))
        request.httpMethod = "POST"
        request.rates = TransferRates(sending: TransferRate(bytesPerSecond: 1 << 16))
        let recorder = Listening()
        let task = session.uploadTask(with: request, from: Self.octets)
        task.delegate = recorder
        task.resume()
        await until { recorder.isInformed }
        let data = try #require(await task.cancelByProducingResumeData())
        let connections = server.connections.count
        #expect(UploadResumeData(data)?.resource.path == "/7")
        let configuration = configuration(nil)
        configuration.timeoutIntervalForResource = 5
        let other = URLSession(configuration: configuration)
        defer { other.invalidateAndCancel() }
        var version = data
        version[7] += 1
        let read = try #require(UploadResumeData(data))
        let elsewhere = UploadResumeData(
            request: read.request,
            resource: try url("file:///etc/passwd"),
            draft: read.draft,
            content: read.content
        )
        for changed in [version, try #require(elsewhere.data)] {
            await #expect { try await other.upload(resumeFrom: changed) } throws: {
                ($0 as? URLError)?.code == .unsupportedURL
            }
        }
        #expect(server.connections.count == connections)
    }

    @Test("secrets stay with the server that they are for, where the upload is kept by another")
    func elsewhere() async throws {
        let keeper = try RawServer.start([
            [
                .receive(.headEnd),
                .send(Array("HTTP/1.1 204 No Content\r\nUpload-Offset: 5\r\nUpload-Complete: ?0\r\n\r\n".utf8)),
                .receive(.headEnd), .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)),
            ]
        ])
        let place = Self.place(keeper.url("/7"))
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Array(place.utf8)), .receive(.bytes(1 << 20)), .reset]
        ])
        let configuration = configuration(.six)
        configuration.httpAdditionalHeaders = ["X-API-Key": "session", "X-Harmless": "yes"]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/files")))
        request.httpMethod = "POST"
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("own", forHTTPHeaderField: "X-Own")
        _ = try await session.upload(for: request, from: Self.octets)
        let sent = String(decoding: keeper.received(0).prefix(2000), as: UTF8.self)
        #expect(sent.contains("HEAD /7") && sent.contains("PATCH /7") && sent.contains("X-Own: own"))
        #expect(!sent.contains("secret") && !sent.contains("X-API-Key"))
        #expect(sent.contains("Upload-Offset: 5\r\n"))
    }

    /// A storage of the program's own class, which a session asks by its tasks.
    private final class OwnCookies: HTTPCookieStorage, @unchecked Sendable {}

    @Test("a storage of the program's own class is asked for the cookies of the server that keeps the upload")
    func cookiesElsewhere() async throws {
        let keeper = try RawServer.start([
            [
                .receive(.headEnd),
                .send("HTTP/1.1 204 No Content\r\nUpload-Offset: 5\r\nUpload-Complete: ?0\r\n\r\n"),
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ]
        ])
        let place = Self.place("http://localhost:\(keeper.port)/7")
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Array(place.utf8)), .receive(.bytes(1 << 20)), .reset]
        ])
        let storage = OwnCookies()
        for (name, host) in [("first", "127.0.0.1"), ("second", "localhost")] {
            let cookie = HTTPCookie(properties: [.name: name, .value: "1", .path: "/", .domain: host])
            storage.setCookie(try #require(cookie))
        }
        let configuration = configuration(.six)
        configuration.httpCookieStorage = storage
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/files")))
        request.httpMethod = "POST"
        _ = try await session.upload(for: request, from: Self.octets)
        #expect(String(decoding: server.received(0).prefix(2000), as: UTF8.self).contains("Cookie: first=1\r\n"))
        let sent = String(decoding: keeper.received(0).prefix(2000), as: UTF8.self)
        #expect(sent.contains("HEAD /7") && sent.contains("PATCH /7"))
        #expect(sent.components(separatedBy: "Cookie: second=1\r\n").count == 3 && !sent.contains("first=1"))
    }

    @Test("an upload that begins anew does so with the request that the delegate of a delayed task has given")
    @available(*, deprecated)
    func delayedAnew() async throws {
        let place = Self.place("/7")
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Array(place.utf8)), .receive(.bytes(1 << 20)), .reset],
            [
                .receive(.headEnd), .send("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"), .finish,
            ],
            [
                .receive(.headEnd), .receive(.bytes(Self.size)),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ],
        ])
        var other = URLRequest(url: try url(server.url("/other")))
        other.httpMethod = "POST"
        other.setValue("fresh", forHTTPHeaderField: "X-Token")
        let delegate = Growing(beginningWith: other) {}
        let session = URLSession(configuration: configuration(.six), delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/files")))
        request.httpMethod = "POST"
        let task = session.uploadTask(with: request, from: Self.octets)
        task.earliestBeginDate = Date()
        task.resume()
        await delegate.recorder.end()
        #expect(delegate.recorder.told.error == nil)
        #expect(String(decoding: server.received(1), as: UTF8.self).contains("X-Token: fresh\r\n"))
        let sent = String(decoding: server.received(2).prefix(2000), as: UTF8.self)
        #expect(sent.hasPrefix("POST /other ") && sent.contains("X-Token: fresh\r\n"))
    }
}

/// Gives the stream that it is asked for.
private final class Streaming: NSObject, URLSessionDataDelegate {
    let recorder = Recorder()
    private let octets: Data
    private let note: @Sendable (Int64) -> Void

    init(_ octets: Data, _ note: @escaping @Sendable (Int64) -> Void) { (self.octets, self.note) = (octets, note) }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
    ) { completionHandler(InputStream(data: octets)) }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStreamFrom offset: Int64,
        completionHandler: @Sendable @escaping (InputStream?) -> Void
    ) {
        note(offset)
        completionHandler(InputStream(data: Data(octets.dropFirst(Int(offset)))))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        recorder.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        recorder.urlSession(session, task: task, didCompleteWithError: error)
    }
}

/// Does something to the content when a delayed task is about to begin.
private final class Growing: NSObject, URLSessionTaskDelegate {
    let recorder = Recorder()
    private let other: URLRequest?
    private let grow: @Sendable () -> Void

    /// - Parameter other: the request that the task is to begin with; nil for its own.
    init(beginningWith other: URLRequest? = nil, _ grow: @escaping @Sendable () -> Void) {
        (self.other, self.grow) = (other, grow)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        grow()
        completionHandler(other == nil ? .continueLoading : .useNewRequest, other)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        recorder.urlSession(session, task: task, didCompleteWithError: error)
    }
}

/// Hears when the server has said where the upload is.
private final class Listening: NSObject, URLSessionDataDelegate {
    let recorder = Recorder()
    private let informed = Atomic(false)

    var isInformed: Bool { informed.load(ordering: .acquiring) }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) { if response.statusCode == 104 { informed.store(true, ordering: .releasing) } }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        recorder.urlSession(session, task: task, didCompleteWithError: error)
    }
}
