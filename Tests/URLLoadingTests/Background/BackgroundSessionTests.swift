import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlReactor
import UncurlSemantics
import UncurlTestServer

@testable import URLLoading

@Suite("Background sessions", .ownThread, .timeLimit(.minutes(5)))
struct BackgroundSessionTests {
    private let base = TemporaryFolder()
    private static let content = Array(String(repeating: "0123456789", count: 2000).utf8)

    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.background(withIdentifier: "test")
        configuration.stateDirectory = base.path
        configuration.connectionProxyDictionary = [:]
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        return configuration
    }

    /// As soon as the earlier session has released it.
    private func session(
        _ delegate: (any URLSessionDelegate)?,
        _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) async throws -> URLSession {
        let configuration = configuration
        change(configuration)
        var session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        await until {
            if session.backgroundFolder != nil { return true }
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            return false
        }
        return session
    }

    private var names: [String] { ((try? StoreFile.names(in: base.path + "/background/id-test")) ?? []).sorted() }

    private static func file(of sum: ContentSum) -> Data { Data(StoreRecord.file(.sum, of: sum) ?? []) }

    private func isEmpty() async { await until { names == ["lock"] } }

    /// The records of an ended process.
    private func leave(_ change: (inout BackgroundRecord, BackgroundFolder) throws -> Void) throws {
        let folder = try BackgroundFolder(for: "test", in: base.path)
        let number = try (folder.contents().records.last?.number ?? 0) + 1
        var record = BackgroundRecord(
            number: number,
            request: URLRequest(url: try url("about:blank")),
            priority: 0.75,
            expectsToSend: -1,
            expectsToReceive: -1
        )
        record.state = .running
        try change(&record, folder)
        try folder.write([record], isDurable: true)
    }

    private func request(_ server: RawServer) throws -> URLRequest {
        URLRequest(url: try url(server.url("/file")))
    }

    private func part(
        _ bytes: some Sequence<UInt8>,
        _ folder: BackgroundFolder,
        validator: String? = "\"v1\"",
        expected: Int64 = Int64(content.count),
        boot: String = BackgroundFolder.boot
    ) -> BackgroundRecord.Part {
        let path = folder.freshPart(of: 1)
        let octets = Array(bytes)
        _ = FileManager.default.createFile(atPath: path, contents: Data(octets))
        var sum = ContentSum()
        sum.add(octets.span)
        let ledger = FileManager.default.createFile(atPath: SumLedger.path(beside: path), contents: Self.file(of: sum))
        #expect(ledger)
        return BackgroundRecord.Part(path: path, validator: validator, expected: expected, boot: boot)
    }

    private static func whole(_ tag: String = "\"v1\"") -> [RawStep] {
        let head = "HTTP/1.1 200 OK\r\nETag: \(tag)\r\nContent-Length: \(content.count)\r\n\r\n"
        return [.receive(.headEnd), .send(Array(head.utf8) + content)]
    }

    private static func rest(from offset: Int, _ tag: String = "\"v1\"") -> [RawStep] {
        let head = """
            HTTP/1.1 206 Partial Content\r
            ETag: \(tag)\r
            Content-Range: bytes \(offset)-\(content.count - 1)/\(content.count)\r
            Content-Length: \(content.count - offset)\r
            \r

            """
        return [.receive(.headEnd), .send(Array(head.utf8) + content[offset...])]
    }

    private func sent(_ server: RawServer, _ index: Int = 0) -> String {
        String(decoding: server.received(index), as: UTF8.self)
    }

    // MARK: In one process

    @Test("a download is reported as in any session, and leaves no file or record")
    func download() async throws {
        let server = try RawServer.start([RawScript(Self.whole())])
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        let task = session.downloadTask(with: try url(server.url("/file")))
        #expect(names == ["1.task", "lock"])
        task.resume()
        await recorder.events(1)
        #expect(recorder.told == ["file \(Self.content.count)", "end", "events"])
        #expect(recorder.files == [Self.content])
        await isEmpty()
        #expect(sent(server).contains("Accept-Encoding: identity\r\n"))
        session.finishTasksAndInvalidate()
    }

    @Test("a download goes to the session's delegate if the task's own has no methods for downloads")
    func ownDelegate() async throws {
        final class Bystander: NSObject, URLSessionTaskDelegate {}
        let server = try RawServer.start([RawScript(Self.whole())])
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        let task = session.downloadTask(with: try url(server.url("/file")))
        task.delegate = Bystander()
        task.resume()
        await until { recorder.told.contains("end") }
        #expect(recorder.files == [Self.content])
        await isEmpty()
        session.finishTasksAndInvalidate()
    }

    @Test("a cancelled task, and a task that never began, leave no file or record")
    func cancelled() async throws {
        let server = try RawServer.start()
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        let first = session.downloadTask(with: try url(server.url("/file")))
        let second = session.downloadTask(with: try url(server.url("/file")))
        first.resume()
        try server.waitForConnections(1)
        first.cancel()
        second.cancel()
        await recorder.events(1)
        #expect(recorder.told.filter { $0 != "events" } == ["end -999", "end -999"])
        await isEmpty()
        session.invalidateAndCancel()
    }

    /// How the underlying error of a refusal describes it.
    private func reason(_ error: (any Error)?) -> String {
        (((error as? URLError)?.userInfo[NSUnderlyingErrorKey]) as? NSError)?.localizedDescription ?? ""
    }

    @Test(
        "a background session refuses data tasks, handlers, data, streams, forms, awaited tasks and other schemes, unsent"
    )
    func refused() async throws {
        let server = try TestServer.start()
        let session = try await session(nil)
        let target = try url(server.url("/get"))
        let callers = "a background session reports to a delegate, not to a handler or to a waiting caller"
        func isOfCallers(_ error: any Error) -> Bool {
            (error as? URLError)?.code == .unknown && reason(error).contains(callers)
        }
        await #expect { try await session.data(from: target) } throws: { isOfCallers($0) }
        await #expect { try await session.download(from: target) } throws: { isOfCallers($0) }
        let request = URLRequest(url: target)
        let error = await withCheckedContinuation { continuation in
            session.downloadTask(with: request) { continuation.resume(returning: ($2 as? URLError)) }.resume()
        }
        #expect(error?.userInfo[NSURLErrorFailingURLErrorKey] as? URL == target)
        #expect(error.map(isOfCallers) == true)
        var streamed = request
        streamed.httpMethod = "POST"
        streamed.httpBodyStream = InputStream(data: Data([1]))
        var form = streamed
        form.content = .parts([.bytes([1])])
        let kinds = "a background session has download and upload tasks only"
        let files = "a background session uploads files only"
        let tasks: [(URLSessionTask, URLError.Code, String)] = [
            (session.dataTask(with: request), .unknown, kinds),
            (session.webSocketTask(with: target), .unknown, kinds),
            (session.streamTask(withHostName: "127.0.0.1", port: Int(server.port)), .unknown, kinds),
            (session.uploadTask(with: streamed, from: Data([1])), .unknown, files),
            (session.uploadTask(withStreamedRequest: streamed), .unknown, files),
            (session.downloadTask(with: streamed), .unknown, "a stream does not outlive its process"),
            (session.downloadTask(with: form), .unknown, "a form does not outlive its process"),
            (
                session.downloadTask(with: try url("file:///etc/hosts")), .unsupportedURL,
                "a background session loads http and https only"
            ),
        ]
        for (task, _, _) in tasks { task.resume() }
        await until { tasks.allSatisfy { $0.0.state == .completed } }
        for (task, code, words) in tasks {
            #expect((task.error as? URLError)?.code == code)
            #expect(reason(task.error).contains(words))
        }
        #expect(names == ["lock"] && server.requestCount == 0)
        session.invalidateAndCancel()
    }

    @Test("a task whose record cannot be written fails unsent, and the session forgets it")
    func unwritten() async throws {
        let server = try RawServer.start([], otherwise: RawScript(Self.whole()))
        let session = try await session(nil)
        let record = base.path + "/background/id-test/1.task"
        try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: false)
        let task = session.downloadTask(with: try url(server.url("/file")))
        task.resume()
        await until { task.state == .completed }
        #expect((task.error as? URLError)?.code == .cannotWriteToFile)
        #expect(reason(task.error).contains("the task cannot be recorded"))
        #expect(await session.allTasks.isEmpty)
        #expect(server.connections.isEmpty && names == ["1.task", "lock"])
        session.invalidateAndCancel()
    }

    @Test("a second session with the same identifier has no tasks and its new tasks fail; the next session has them")
    func exclusive() async throws {
        let server = try RawServer.start()
        var first: URLSession? = try await session(nil)
        first?.downloadTask(with: try url(server.url("/file"))).resume()
        let recorder = BackgroundRecorder()
        let second = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        #expect(await second.allTasks.isEmpty)
        second.downloadTask(with: try url(server.url("/file"))).resume()
        await recorder.events(1)
        #expect(recorder.told == ["end -996", "events"])
        first?.invalidateAndCancel()
        first = nil
        let third = try await session(nil)
        #expect(third.backgroundFolder != nil)
        third.invalidateAndCancel()
    }

    @Test(
        "a download that the network interrupts resumes from its bytes without a call of its delegate"
    )
    func retried() async throws {
        let half = Array(Self.whole().dropFirst().prefix(1))
        guard case .send(let bytes) = half[0] else {
            Issue.record("\(half)")
            return
        }
        let cut: [RawStep] = [.receive(.headEnd), .send(Array(bytes.prefix(bytes.count - 10_000))), .reset]
        let server = try RawServer.start([
            [.receive(.headEnd), .close], RawScript(cut), RawScript(Self.rest(from: Self.content.count - 10_000)),
        ])
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        session.downloadTask(with: try url(server.url("/file"))).resume()
        await recorder.events(1)
        #expect(recorder.files == [Self.content])
        #expect(recorder.told.last { $0.hasPrefix("end") } == "end")
        let again = sent(server, server.connections.count - 1)
        #expect(again.contains("If-Range: \"v1\"\r\n") || server.connections.count > 3)
        session.finishTasksAndInvalidate()
    }

    @Test("a download that starts over counts its bytes from zero")
    func countedAnew() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.content.count)\r\n\r\n"
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Array(head.utf8) + Self.content.dropLast(10)), .finish],
            [.receive(.headEnd), .send(Array(head.utf8) + Self.content)],
        ])
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        let task = session.downloadTask(with: try url(server.url("/file")))
        task.resume()
        await recorder.events(1)
        #expect(recorder.files == [Self.content] && server.connections.count == 2)
        #expect(task.countOfBytesReceived == Int64(Self.content.count))
        session.finishTasksAndInvalidate()
    }

    @Test("redirects are followed without a call of the delegate")
    func redirected() async throws {
        let server = try RawServer.start([
            RawScript(
                [.receive(.headEnd), .send("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")]
                    + Self.whole()
            )
        ])
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        session.downloadTask(with: try url(server.url("/file"))).resume()
        await recorder.events(1)
        #expect(recorder.told == ["file \(Self.content.count)", "end", "events"])
        session.finishTasksAndInvalidate()
    }

    @Test("a task of an invalidated session is not left for the next process")
    func afterInvalidation() async throws {
        let session = try await session(nil)
        session.invalidateAndCancel()
        _ = session.downloadTask(with: try url("http://127.0.0.1:9/"))
        await isEmpty()
    }

    @Test("a download that a closing session does not continue can be continued by another session")
    func resumedTooLate() async throws {
        let gate = RawGate()
        defer { gate.open() }
        let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: \(Self.content.count)\r\n\r\n"
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Array(head.utf8) + Self.content[..<8_000]), .finish],
            [.receive(.headEnd), .wait(gate)], RawScript(Self.rest(from: 8_000)),
        ])
        let plain = URLSession(configuration: .isolated)
        defer { plain.invalidateAndCancel() }
        let error = await #expect(throws: URLError.self) { try await plain.download(for: request(server)) }
        let data = try #require(error?.downloadTaskResumeData)
        let closing = try await session(nil)
        closing.downloadTask(with: try request(server)).resume()
        try server.wait(for: 1, "the request") { !$0.received.isEmpty }
        closing.finishTasksAndInvalidate()
        let late = closing.downloadTask(withResumeData: data)
        // What the session's journal had to remove is removed when this returns.
        (closing.keeper as? BackgroundSession)?.noteFlow(of: late)
        let (file, _) = try await plain.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Array(Data(contentsOf: file)) == Self.content)
        closing.invalidateAndCancel()
    }

    @Test("a task of an invalidated session leaves the records of the next session with its identifier alone")
    func afterHandOver() async throws {
        let first = try await session(nil)
        first.invalidateAndCancel()
        let second = try await session(nil)
        let kept = second.downloadTask(with: try url("http://127.0.0.1:9/kept"))
        #expect(names == ["1.task", "lock"])
        let folder = try #require(second.backgroundFolder)
        let record = try StoreFile.read(folder.path + "/1.task", limit: 1 << 20)
        let late = first.downloadTask(with: try url("http://127.0.0.1:9/late"))
        // What its journal had to write or to remove is done by then.
        first.keeper?.close()
        #expect(late.taskIdentifier == kept.taskIdentifier && names == ["1.task", "lock"])
        #expect(try StoreFile.read(folder.path + "/1.task", limit: 1 << 20) == record)
        second.invalidateAndCancel()
    }

    @Test("a delegate can make a session with the same identifier when the old one becomes invalid")
    func next() async throws {
        let configuration = configuration
        let delegate = Successor { URLSession(configuration: configuration).backgroundFolder != nil }
        let session = try await session(delegate)
        session.invalidateAndCancel()
        #expect(await delegate.outcome)
        // Released when its last call has returned.
        await until { session.delegate == nil }
    }

    /// Records the state when its session has become invalid.
    private final class Successor: NSObject, URLSessionDelegate {
        private let look: @Sendable () -> Bool
        private let stream = AsyncStream.makeStream(of: Bool.self)

        init(_ look: @escaping @Sendable () -> Bool) { self.look = look }

        var outcome: Bool {
            get async { await stream.stream.first { _ in true } ?? false }
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            stream.continuation.yield(look())
        }
    }

    @Test("a request too long for a record is refused")
    func tooLong() async throws {
        let session = try await session(nil)
        var request = URLRequest(url: try url("http://127.0.0.1:9/"))
        request.httpMethod = "POST"
        request.httpBody = Data(count: BackgroundFolder.mostRequest + 1)
        let task = session.downloadTask(with: request)
        task.resume()
        await until { task.state == .completed }
        #expect((task.error as? URLError)?.code == .dataLengthExceedsMaximum && names == ["lock"])
        session.invalidateAndCancel()
    }

    // MARK: After another process

    @Test("a program that resumes all the tasks it finds does not begin an ended one again")
    func resumedAfterEnd() async throws {
        let server = try RawServer.start()
        try leave { record, folder in
            record.request = try request(server)
            record.state = .finished
            let path = folder.freshPart(of: 1)
            _ = FileManager.default.createFile(atPath: path, contents: Data("whole".utf8))
            record.outcome = BackgroundRecord.Outcome(path: path)
        }
        let queue = OperationQueue()
        queue.isSuspended = true
        let recorder = BackgroundRecorder()
        var made = URLSession(configuration: configuration, delegate: recorder, delegateQueue: queue)
        await until {
            if made.backgroundFolder != nil { return true }
            made = URLSession(configuration: configuration, delegate: recorder, delegateQueue: queue)
            return false
        }
        let task = try #require(await made.allTasks.first)
        task.resume()
        queue.isSuspended = false
        await recorder.events(1)
        #expect(recorder.told == ["file 5", "end", "events"] && server.connections.isEmpty)
        await isEmpty()
        made.invalidateAndCancel()
    }

    @Test("the answer to an upload of any length is kept for the next process", arguments: [1000, 3_000_000])
    func keptAnswer(length: Int) async throws {
        let answer = [UInt8](repeating: 0x79, count: length)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
        let server = try RawServer.start([[.receive(.headEnd), .receive(.bytes(3)), .send(Array(head.utf8) + answer)]])
        try base.make()
        base.write([1, 2, 3], to: "source")
        do {
            let deaf = try await session(nil)
            var request = URLRequest(url: try url(server.url("/file")))
            request.httpMethod = "PUT"
            let task = deaf.uploadTask(with: request, fromFile: URL(fileURLWithPath: base.path + "/source"))
            task.resume()
            await until { task.state == .completed }
            #expect(task.error == nil)
        }
        #expect(names.contains { $0.hasSuffix(".part") } == (length > KeptAnswer.mostInMemory))
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        let text = recorder.told.filter { $0.hasPrefix("data ") }.map { $0.dropFirst("data ".count) }.joined()
        #expect(Array(text.utf8) == answer && recorder.told.suffix(2) == ["end", "events"])
        #expect(server.connections.count == 1)
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test(
        "an answer to an upload that is gone, or cannot be read, is an error and no empty success",
        arguments: [nil, "/proc/self/mem"]
    )
    func unreadableAnswer(path: String?) async throws {
        let server = try RawServer.start()
        try leave { record, folder in
            record = BackgroundRecord(
                number: 1,
                request: try request(server),
                priority: 0.5,
                expectsToSend: -1,
                expectsToReceive: -1
            )
            record.source = "/"
            record.state = .finished
            var outcome = BackgroundRecord.Outcome()
            // The kernel calls this file regular and empty, and fails to read its first octet.
            outcome.contentPath = path ?? folder.freshPart(of: 1)
            outcome.sum = ContentSum()
            record.outcome = outcome
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.told == ["end -3001", "events"] && server.connections.isEmpty)
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a download resumes from the bytes on disk if the content is unchanged")
    func goesOn() async throws {
        let server = try RawServer.start([RawScript(Self.rest(from: 7_000))])
        try leave { record, folder in
            record.request = try request(server)
            record.part = part(Self.content.prefix(7_000), folder)
            record.taskDescription = "the file"
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        let task = try #require(await session.allTasks.first)
        #expect(task is URLSessionDownloadTask && task.taskDescription == "the file" && task.priority == 0.75)
        await recorder.events(1)
        #expect(recorder.told == ["resumed 7000/\(Self.content.count)", "file \(Self.content.count)", "end", "events"])
        #expect(recorder.files == [Self.content])
        #expect(sent(server).contains("Range: bytes=7000-\r\n") && sent(server).contains("If-Range: \"v1\"\r\n"))
        await isEmpty()
        #expect(session.downloadTask(with: try url(server.url("/"))).taskIdentifier == 2)
        session.invalidateAndCancel()
    }

    @Test(
        "a download whose content has changed, or cannot be identified, starts over",
        arguments: ["changed", "no validator", "another boot", "too long", "gone"]
    )
    func beginsAnew(why: String) async throws {
        let server = try RawServer.start([RawScript(Self.whole("\"v2\""))])
        let junk = [UInt8](repeating: 0x78, count: why == "too long" ? 30_000 : 7_000)
        try leave { record, folder in
            record.request = try request(server)
            record.part = part(
                junk,
                folder,
                validator: why == "no validator" ? nil : "\"v1\"",
                boot: why == "another boot" ? "none" : BackgroundFolder.boot
            )
            if why == "gone", let path = record.part?.path { StoreFile.remove(path) }
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content])
        #expect(sent(server).contains("If-Range") == (why == "changed"))
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test(
        "a download with changed or unrecorded bytes on disk starts over",
        arguments: ["first", "middle", "last", "longer", "shorter", "no sum", "another sum"]
    )
    func changedOnDisk(how: String) async throws {
        let server = try RawServer.start([RawScript(Self.whole())])
        try leave { record, folder in
            record.request = try request(server)
            record.part = part(Self.content.prefix(7_000), folder)
            let path = try #require(record.part?.path)
            var octets = try StoreFile.read(path, limit: 1 << 20)
            switch how {
            case "first": octets[0] ^= 1
            case "middle": octets[3_500] ^= 0x80
            case "last": octets[6_999] ^= 1
            case "longer": octets.insert(0, at: 10)
            case "shorter": octets.removeLast()
            case "no sum": SumLedger.remove(beside: path)
            default: try Self.file(of: ContentSum()).write(to: URL(fileURLWithPath: SumLedger.path(beside: path)))
            }
            try StoreFile.replace(path, with: octets, isDurable: false)
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content] && recorder.told == ["file 20000", "end", "events"])
        #expect(!sent(server).contains("Range:"))
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a delayed download reads the bytes on disk before it resumes from them", arguments: [true, false])
    func delayed(isIntact: Bool) async throws {
        let server = try RawServer.start([RawScript(isIntact ? Self.rest(from: 7_000) : Self.whole())])
        try leave { record, folder in
            record.request = try request(server)
            record.beginDate = Date().addingTimeInterval(0.2)
            record.part = part(Self.content.prefix(7_000), folder)
            let path = try #require(record.part?.path)
            if !isIntact { try StoreFile.replace(path, with: [UInt8](repeating: 0, count: 7_000), isDurable: false) }
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content] && sent(server).contains("Range:") == isIntact)
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test(
        "a delayed download whose delegate gives another request resumes only if the URL is the same",
        arguments: [true, false]
    )
    func delayedAnew(hasSameURL: Bool) async throws {
        let server = try RawServer.start([RawScript(hasSameURL ? Self.rest(from: 7_000) : Self.whole())])
        try leave { record, folder in
            record.request = try request(server)
            record.beginDate = .distantPast
            record.part = part(Self.content.prefix(7_000), folder)
        }
        var other = URLRequest(url: try url(server.url(hasSameURL ? "/file" : "/other")))
        other.setValue("fresh", forHTTPHeaderField: "X-Token")
        let recorder = BackgroundRecorder(delayed: other)
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content] && sent(server).contains("Range:") == hasSameURL)
        #expect(sent(server).contains("X-Token: fresh\r\n"))
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a delayed task whose delegate gives another request begins anew with that one")
    func delayedTwice() async throws {
        let server = try RawServer.start([[.receive(.headEnd), .reset], RawScript(Self.whole())])
        try leave { record, _ in
            record.request = try request(server)
            record.beginDate = .distantPast
        }
        var other = URLRequest(url: try url(server.url("/other")))
        other.setValue("fresh", forHTTPHeaderField: "X-Token")
        let recorder = BackgroundRecorder(delayed: other)
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content])
        #expect(sent(server, 1).hasPrefix("GET /other ") && sent(server, 1).contains("X-Token: fresh\r\n"))
        await isEmpty()
        session.invalidateAndCancel()
    }

    /// A storage of the program's own class, which a session asks by its tasks.
    private final class OwnCookies: HTTPCookieStorage, @unchecked Sendable {}

    @Test(
        "a download that begins anew after a redirect gets the first server's cookies from a storage of its own class"
    )
    func cookiesAnew() async throws {
        let target = try RawServer.start([[.receive(.headEnd), .reset]])
        let redirect = """
            HTTP/1.1 302 Found\r
            Location: http://localhost:\(target.port)/\r
            Connection: close\r
            Content-Length: 0\r
            \r

            """
        let server = try RawServer.start([[.receive(.headEnd), .send(redirect), .finish], RawScript(Self.whole())])
        let storage = OwnCookies()
        for (name, host) in [("first", "127.0.0.1"), ("second", "localhost")] {
            let cookie = HTTPCookie(properties: [.name: name, .value: "1", .path: "/", .domain: host])
            storage.setCookie(try #require(cookie))
        }
        let configuration = configuration
        configuration.httpCookieStorage = storage
        let recorder = BackgroundRecorder()
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        session.downloadTask(with: try request(server)).resume()
        await recorder.events(1)
        #expect(recorder.files == [Self.content])
        #expect(sent(target).contains("Cookie: second=1\r\n"))
        #expect(sent(server, 1).contains("Cookie: first=1\r\n"))
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a download that comes coded although no coding was offered is decoded", arguments: [nil, "gzip"])
    func coded(ofSession: String?) async throws {
        let head = """
            HTTP/1.1 200 OK\r
            ETag: "v1"\r
            Content-Encoding: gzip\r
            Content-Length: \(SharedCacheTests.gzip.count)\r
            \r

            """
        let server = try RawServer.start([[.receive(.headEnd), .send(Array(head.utf8) + SharedCacheTests.gzip)]])
        let configuration = configuration
        if let ofSession { configuration.httpAdditionalHeaders = ["accept-encoding": ofSession] }
        let recorder = BackgroundRecorder()
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        session.downloadTask(with: try request(server)).resume()
        await recorder.events(1)
        #expect(recorder.files == [Array("plain".utf8)])
        let fields = sent(server).components(separatedBy: "\r\n").filter { $0.lowercased().contains("encoding") }
        #expect(fields == ["Accept-Encoding: identity"])
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("bytes after the last note of the ledger are not resumed from")
    func behindTheNote() async throws {
        let server = try RawServer.start([RawScript(Self.rest(from: 7_000))])
        try leave { record, folder in
            record.request = try request(server)
            record.part = part(Self.content.prefix(7_000), folder)
            let path = try #require(record.part?.path)
            let octets = Array(Self.content.prefix(7_000)) + [UInt8](repeating: 0, count: 500)
            try StoreFile.replace(path, with: octets, isDurable: false)
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content] && sent(server).contains("Range: bytes=7000-\r\n"))
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a finished download whose file changes before its end is reported is loaded again")
    func changedWhenFinished() async throws {
        let server = try RawServer.start([RawScript(Self.whole())])
        try leave { record, folder in
            record.request = try request(server)
            record.state = .finished
            let path = folder.freshPart(of: 1)
            _ = FileManager.default.createFile(atPath: path, contents: Data("whale".utf8))
            var sum = ContentSum()
            sum.add(Array("whole".utf8).span)
            record.outcome = BackgroundRecord.Outcome(path: path, sum: sum)
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content] && recorder.told == ["file 20000", "end", "events"])
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("an upload whose kept answer has changed is not sent again, and fails because the answer is lost")
    func changedAnswer() async throws {
        let server = try RawServer.start()
        try leave { record, folder in
            record = BackgroundRecord(
                number: 1,
                request: try request(server),
                priority: 0.5,
                expectsToSend: -1,
                expectsToReceive: -1
            )
            record.source = base.path + "/source"
            record.state = .finished
            let path = folder.freshPart(of: 1)
            _ = FileManager.default.createFile(atPath: path, contents: Data("whale".utf8))
            var sum = ContentSum()
            sum.add(Array("whole".utf8).span)
            record.outcome = BackgroundRecord.Outcome(sum: sum, contentPath: path)
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.told == ["end -3001", "events"] && server.connections.isEmpty)
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a restored task uses its request's own proxy")
    func ownProxy() async throws {
        let proxy = try RawServer.start([RawScript(Self.whole())])
        try leave { record, _ in
            record.request = URLRequest(url: try url("http://origin.invalid/file"))
            let place = Proxy(.http, host: try URLHost("127.0.0.1"), port: proxy.port)
            record.request.terms.proxies = OriginProxies(place)
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder) { $0.timeoutIntervalForResource = 60 }
        await recorder.events(1)
        #expect(recorder.told == ["file 20000", "end", "events"])
        #expect(sent(proxy).hasPrefix("GET http://origin.invalid/file HTTP/1.1\r\n"))
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a request whose record would not be the whole request fails, and is not recorded")
    func unrecordable() async throws {
        let server = try RawServer.start()
        var (address, refused) = (try request(server), try request(server))
        address.terms.endpoint = .address(.loopback(port: server.port))
        refused.setValue("a\nb", forHTTPHeaderField: "Authorization")
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        for (request, code) in [(address, URLError.Code.unknown), (refused, .badURL)] {
            let task = session.downloadTask(with: request)
            #expect(names == ["lock"])
            task.resume()
            await until { task.state == .completed }
            #expect((task.error as? URLError)?.code == code)
        }
        #expect(server.connections.isEmpty)
        session.invalidateAndCancel()
    }

    @Test("the time limit of a restored task counts from the date before which it does not begin")
    func begunAtDate() async throws {
        let server = try RawServer.start([RawScript(Self.whole())])
        try leave { record, _ in
            record.request = try request(server)
            record.begun = Date(timeIntervalSinceNow: -2000)
            record.beginDate = Date(timeIntervalSinceNow: -10)
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder) { $0.timeoutIntervalForResource = 1000 }
        await recorder.events(1)
        #expect(recorder.told == ["file 20000", "end", "events"])
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a download with all its bytes requests the last one again")
    func complete() async throws {
        let server = try RawServer.start([RawScript(Self.rest(from: Self.content.count - 1))])
        try leave { record, folder in
            record.request = try request(server)
            record.part = part(Self.content, folder)
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content])
        session.invalidateAndCancel()
    }

    @Test("a suspended task stays suspended until it is resumed")
    func suspended() async throws {
        let server = try RawServer.start([RawScript(Self.whole())])
        try leave { record, _ in
            record.request = try request(server)
            record.state = .suspended
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        let task = try #require(await session.allTasks.first)
        #expect(task.state == .suspended && server.connections.isEmpty)
        task.resume()
        await recorder.events(1)
        #expect(recorder.files == [Self.content])
        session.invalidateAndCancel()
    }

    @Test(
        "an unreported end is reported with its file, its content or its error; without a delegate it waits"
    )
    func untold() async throws {
        let server = try RawServer.start()
        func leaveAll() throws {
            try leave { record, folder in
                record.request = try request(server)
                record.state = .finished
                let path = folder.freshPart(of: 1)
                _ = FileManager.default.createFile(atPath: path, contents: Data("whole".utf8))
                record.outcome = BackgroundRecord.Outcome(path: path)
            }
            try leave { record, _ in
                record.request = try request(server)
                record.state = .finished
                record.outcome = BackgroundRecord.Outcome(code: URLError.Code.timedOut.rawValue, reason: "too slow")
            }
        }
        try leaveAll()
        do {
            let deaf = try await session(nil)
            #expect(await deaf.allTasks.isEmpty)
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.told.sorted() == ["end", "end -1001", "events", "file 5"])
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("an end that a process without a delegate has recorded is reported in the next process")
    func overheard() async throws {
        let server = try RawServer.start([RawScript(Self.whole())])
        do {
            let deaf = try await session(nil)
            let task = deaf.downloadTask(with: try url(server.url("/file")))
            task.resume()
            await until { task.state == .completed }
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content] && recorder.told.contains("end"))
        #expect(server.connections.count == 1)
        session.invalidateAndCancel()
    }

    @Test("a download's file is kept until a delegate that takes downloads has received it")
    func nobodysFile() async throws {
        final class Deaf: NSObject, URLSessionTaskDelegate {}
        let server = try RawServer.start([RawScript(Self.whole())])
        do {
            let deaf = try await session(Deaf())
            let task = deaf.downloadTask(with: try url(server.url("/file")))
            task.resume()
            await until { task.state == .completed }
            deaf.finishTasksAndInvalidate()
        }
        await until { (try? BackgroundFolder(for: "test", in: base.path)) != nil }
        #expect(names.count { $0.hasSuffix(".part") } == 1)
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.files == [Self.content] && server.connections.count == 1)
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a hook that is set while an end is reported without a receiver still receives that end")
    func setMeanwhile() async throws {
        /// As a manager's delegate, with a hook for ends that another thread sets at the worst moment.
        final class LateHook: NSObject, TaskObserver {
            let hearsEndsNow = Mutex(false)
            let heard = Counter()
            let interests: TaskInterests = []
            let takesDownloads = false
            var hearsEnds: Bool { hearsEndsNow.withLock(\.self) }

            func take(_ question: TaskQuestion, of task: URLSessionTask, _ session: URLSession) { question.decline() }

            func task(_ task: URLSessionTask, isRunning: Bool) {}

            func keep(_ file: URL, of task: URLSessionDownloadTask, _ session: URLSession) -> Bool { false }

            func take(_ event: TaskEvent, of task: URLSessionTask, _ session: URLSession) {
                guard case .ended = event else { return }
                if hearsEnds { return heard.add() }
                hearsEndsNow.withLock { $0 = true }
                session.tellUnheard()
            }
        }
        try leave { record, folder in
            record.request = URLRequest(url: try url("http://localhost/"))
            record.state = .finished
            let path = folder.freshPart(of: 1)
            _ = FileManager.default.createFile(atPath: path, contents: Data("whole".utf8))
            record.outcome = BackgroundRecord.Outcome(path: path)
        }
        let hook = LateHook()
        let session = try await session(hook)
        await until { hook.heard.value == 1 }
        session.invalidateAndCancel()
    }

    @Test("an upload starts over, and its answer is reported")
    func upload() async throws {
        let body = [UInt8](repeating: 0x61, count: 50_000)
        let server = try RawServer.start([
            [
                .receive(.headEnd), .receive(.bytes(50_000)),
                .send("HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nthere"),
            ]
        ])
        try base.make()
        base.write(body, to: "source")
        try leave { record, _ in
            var request = URLRequest(url: try url(server.url("/file")))
            request.httpMethod = "PUT"
            record = BackgroundRecord(
                number: 5,
                request: request,
                priority: 0.5,
                expectsToSend: -1,
                expectsToReceive: -1
            )
            record.source = base.path + "/source"
            record.state = .running
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.told == ["data there", "end", "events"])
        #expect(Array(server.received(0).suffix(50_000)) == body)
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("an upload's delegate is not asked about the response")
    func uploadResponse() async throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .receive(.bytes(5)), .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere")]
        ])
        try base.make()
        base.write(Array("hello".utf8), to: "source")
        var answers = Recorder.Answers()
        answers.disposition = .cancel
        let recorder = Recorder(answers)
        let session = try await session(recorder)
        var request = try request(server)
        request.httpMethod = "PUT"
        session.uploadTask(with: request, fromFile: URL(fileURLWithPath: base.path + "/source")).resume()
        await recorder.end()
        #expect(recorder.events == ["created", "sent 5/5", "data", "metrics", "end"])
        #expect(recorder.told.data == Data("there".utf8))
        await isEmpty()
        session.invalidateAndCancel()
    }

    @Test("a task that waits for connectivity does not say so")
    func connectivity() async throws {
        final class Waiting: NSObject, URLSessionDownloadDelegate {
            let count = Mutex(0)
            let end = Mutex<(any Error)?>(nil)

            func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
                count.withLock { $0 += 1 }
            }

            func urlSession(
                _ session: URLSession,
                downloadTask: URLSessionDownloadTask,
                didFinishDownloadingTo location: URL
            ) {}

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                end.withLock { $0 = error }
            }
        }
        let configuration = configuration
        configuration.timeoutIntervalForResource = 1
        let delegate = Waiting()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        // A broadcast address: the kernel has no route for TCP, and sends nothing.
        session.downloadTask(with: try url("http://255.255.255.255/")).resume()
        await until { delegate.end.withLock { $0 } != nil }
        #expect((delegate.end.withLock { $0 } as? URLError)?.code == .timedOut)
        #expect(delegate.count.withLock { $0 } == 0)
        session.invalidateAndCancel()
    }

    @Test("a configuration for the background has no cache until it gets one")
    func cache() {
        #expect(URLSessionConfiguration.background(withIdentifier: "test").urlCache == nil)
    }

    @Test("a damaged record fails its task, and the other tasks continue; without a delegate the failure waits")
    func damaged() async throws {
        let server = try RawServer.start([RawScript(Self.whole())])
        for _ in 1...3 {
            try leave { record, folder in
                record.request = try request(server)
                guard record.number == 3 else {
                    record.state = .suspended
                    return
                }
                record.state = .finished
                let path = folder.freshPart(of: 3)
                _ = FileManager.default.createFile(atPath: path, contents: Data("whole".utf8))
                record.outcome = BackgroundRecord.Outcome(path: path)
            }
        }
        let record = base.path + "/background/id-test/2.task"
        var octets = try StoreFile.read(record, limit: 1 << 20)
        octets[octets.count / 2] ^= 1
        try StoreFile.replace(record, with: octets, isDurable: false)
        do {
            let deaf = try await session(nil)
            #expect(await deaf.allTasks.map(\.taskIdentifier) == [1])
            deaf.invalidateAndCancel()
        }
        #expect(names.contains("2.task"))
        await until { (try? BackgroundFolder(for: "test", in: base.path)) != nil }
        try leave { record, _ in record.request = try request(server) }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await until { recorder.told.count { $0.hasPrefix("end") } == 3 }
        #expect(
            recorder.told.filter { $0 != "events" }.sorted() == ["end", "end", "end -3001", "file 20000", "file 5"]
        )
        let failure = try #require(recorder.errors.first as? URLError)
        let path = try #require(failure.userInfo[NSFilePathErrorKey] as? String)
        let reason = (failure.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription ?? ""
        #expect(reason.contains("task 2") && reason.contains(path))
        await until { names == ["2.task.kept", "lock"] }
        #expect(try StoreFile.read(path, limit: 1 << 20) == octets)
        #expect(session.downloadTask(with: try url(server.url("/"))).taskIdentifier == 5)
        session.invalidateAndCancel()
    }

    @Test("the limit of the whole resource counts from the first process")
    func limit() async throws {
        let server = try RawServer.start()
        try leave { record, _ in
            record.request = try request(server)
            record.begun = Date().addingTimeInterval(-8 * 86_400)
        }
        let recorder = BackgroundRecorder()
        let session = try await session(recorder)
        await recorder.events(1)
        #expect(recorder.told == ["end -1001", "events"])
        session.invalidateAndCancel()
    }
}

/// Hears a background session's tasks.
final class BackgroundRecorder: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
    private struct Story {
        var told: [String] = []
        var files: [[UInt8]] = []
        var errors: [any Error] = []
        var events = 0
        var waiters: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    private let story = Mutex(Story())
    /// The request of a delayed task; nil for its own.
    private let delayed: URLRequest?

    init(delayed: URLRequest? = nil) { self.delayed = delayed }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        if let delayed { completionHandler(.useNewRequest, delayed) } else { completionHandler(.continueLoading, nil) }
    }

    var told: [String] { story.withLock { $0.told } }
    var files: [[UInt8]] { story.withLock { $0.files } }
    var errors: [any Error] { story.withLock { $0.errors } }

    /// Returns when the session has reported all events this many times.
    func events(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = story.withLock { story in
                if story.events < count { story.waiters.append((count, continuation)) }
                return story.events >= count
            }
            if isThere { continuation.resume() }
        }
    }

    private func note(_ text: String) { story.withLock { $0.told.append(text) } }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        let bytes = FileManager.default.contents(atPath: location.path).map { Array($0) } ?? []
        story.withLock { $0.files.append(bytes) }
        note("file \(bytes.count)")
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note("resumed \(fileOffset)/\(expectedTotalBytes)")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data \(String(decoding: data, as: UTF8.self))")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { story.withLock { $0.errors.append(error) } }
        note(error == nil ? "end" : "end \((error as? URLError)?.code.rawValue ?? 0)")
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("asked")
        completionHandler(nil)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        let waiters = story.withLock { story in
            story.told.append("events")
            story.events += 1
            let reached = story.events
            defer { story.waiters.removeAll { $0.count <= reached } }
            return story.waiters.filter { $0.count <= reached }
        }
        for (_, waiter) in waiters { waiter.resume() }
    }
}
