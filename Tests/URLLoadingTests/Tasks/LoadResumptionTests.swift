import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlSemantics

@testable import URLLoading

@Suite("Resumed downloads", .timeLimit(.minutes(5)))
struct LoadResumptionTests {
    private static let content = Array(String(repeating: "0123456789abcdef", count: 4000).utf8)
    private static let half = 32_000

    private static func head(_ status: String, _ fields: String, _ length: Int) -> [UInt8] {
        Array("HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(length)\r\n\r\n".utf8)
    }

    /// Half of it, then the connection is gone.
    private static func cut(_ fields: String) -> RawScript {
        [.receive(.headEnd), .send(head("200 OK", fields, content.count) + content[..<half]), .finish]
    }

    private static func range(_ fields: String, from offset: Int = half, total: Int = content.count) -> RawScript {
        let range = "Content-Range: bytes \(offset)-\(total - 1)/\(total)\r\n"
        return [
            .receive(.headEnd),
            .send(head("206 Partial Content", fields + range, total - offset) + content[min(offset, content.count)...]),
        ]
    }

    private static func whole(_ fields: String, _ body: [UInt8] = content) -> RawScript {
        [.receive(.headEnd), .send(head("200 OK", fields, body.count) + body)]
    }

    /// What a download that is cut short leaves.
    private func resumeData(_ session: URLSession, _ server: RawServer) async throws -> Data {
        do {
            _ = try await session.download(from: try url(server.url("/file")))
            throw URLError(.unknown)
        } catch let error as URLError {
            #expect(error.code == .networkConnectionLost)
            return try #require(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
        }
    }

    private func goesOn(_ scripts: [RawScript], tag: String = "ETag: \"v1\"\r\n") async throws -> ([UInt8], RawServer) {
        let server = try RawServer.start([Self.cut(tag)] + scripts)
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let data = try await resumeData(session, server)
        let (file, _) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: file) }
        return (try Array(Data(contentsOf: file)), server)
    }

    private func sent(_ server: RawServer, _ index: Int) -> String {
        String(decoding: server.received(index), as: UTF8.self)
    }

    @Test("the rest of the same content is appended, and nothing else is asked for")
    func appended() async throws {
        let (bytes, server) = try await goesOn([Self.range("ETag: \"v1\"\r\n")])
        #expect(bytes == Self.content)
        #expect(sent(server, 1).contains("Range: bytes=\(Self.half)-\r\n"))
        #expect(sent(server, 1).contains("If-Range: \"v1\"\r\n"))
    }

    @Test("a date serves instead of an entity tag if it is old enough to be a strong validator")
    func dated() async throws {
        let date = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Mon, 07 Nov 1994 08:49:37 GMT\r\n"
        let (bytes, server) = try await goesOn([Self.range(date)], tag: date)
        #expect(bytes == Self.content)
        #expect(sent(server, 1).contains("If-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
    }

    @Test("a server with other content, and one without ranges, send the whole, which replaces the part")
    func changed() async throws {
        let other = Array(Self.content.reversed())
        #expect(try await goesOn([Self.whole("ETag: \"v2\"\r\n", other)]).0 == other)
        #expect(try await goesOn([Self.whole("")]).0 == Self.content)
    }

    @Test(
        "a rest that is not ours is not appended: the whole is asked for",
        arguments: [
            "another tag", "another place", "another place in chunks", "another length", "coded", "416",
            "416 with a page",
        ]
    )
    func strange(what: String) async throws {
        let answer: RawScript =
            switch what {
            case "another tag": Self.range("ETag: \"v2\"\r\n")
            case "another place": Self.range("ETag: \"v1\"\r\n", from: Self.half + 1)
            case "another place in chunks":
                [
                    .receive(.headEnd),
                    .send(
                        "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes "
                            + "\(Self.half + 1)-\(Self.content.count - 1)/\(Self.content.count)\r\n\r\n1\r\nx\r\n0\r\n\r\n"
                    ),
                ]
            case "another length": Self.range("ETag: \"v1\"\r\n", total: Self.content.count + 5)
            case "coded": Self.range("ETag: \"v1\"\r\nContent-Encoding: gzip\r\n")
            case "416":
                [.receive(.headEnd), .send(Self.head("416 Range Not Satisfiable", "Content-Range: bytes */7\r\n", 0))]
            default:
                [
                    .receive(.headEnd),
                    .send(
                        Self.head("416 Range Not Satisfiable", "Content-Range: bytes */\(Self.half)\r\n", 4)
                            + Array("page".utf8)
                    ),
                ]
            }
        let (bytes, server) = try await goesOn([answer, Self.whole("ETag: \"v2\"\r\n")])
        #expect(bytes == Self.content)
        #expect(!sent(server, server.connections.count - 1).contains("If-Range"))
    }

    @Test("content that has changed and comes coded is requested again without a range, and decoded")
    func coded() async throws {
        let coded = Self.whole("ETag: \"v2\"\r\nContent-Encoding: gzip\r\n", SharedCacheTests.gzip)
        let (bytes, server) = try await goesOn([coded, coded])
        #expect(bytes == Array("plain".utf8))
        #expect(sent(server, 1).contains("If-Range:") && !sent(server, 2).contains("Range:"))
    }

    @Test("a rest that does not repeat the validator is cut, and the next download continues behind it")
    func cutAgain() async throws {
        let date = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Mon, 07 Nov 1994 08:49:37 GMT\r\n"
        let (total, more) = (Self.content.count, Self.half + 8_000)
        let range = "Content-Range: bytes \(Self.half)-\(total - 1)/\(total)\r\n"
        let part = Self.head("206 Partial Content", range, total - Self.half) + Self.content[Self.half..<more]
        let server = try RawServer.start([
            Self.cut(date), [.receive(.headEnd), .send(part), .finish], Self.range("", from: more),
        ])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let data = try await resumeData(session, server)
        let error = await #expect(throws: URLError.self) { _ = try await session.download(resumeFrom: data) }
        let again = try #require(error?.downloadTaskResumeData)
        let (file, _) = try await session.download(resumeFrom: again)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Array(Data(contentsOf: file)) == Self.content)
        #expect(sent(server, 2).contains("Range: bytes=\(more)-\r\n"))
        #expect(sent(server, 2).contains("If-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
    }

    @Test("a download of a range that the caller has asked for leaves no resume data")
    func ownRange() async throws {
        let head = """
            HTTP/1.1 206 Partial Content\r
            ETag: "v1"\r
            Content-Range: bytes 100-999/1000\r
            Transfer-Encoding: chunked\r
            \r
            3\r
            abc\r

            """
        let server = try RawServer.start([[.receive(.headEnd), .send(head), .finish]])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/file")))
        request.setValue("bytes=100-", forHTTPHeaderField: "Range")
        let error = await #expect(throws: URLError.self) { _ = try await session.download(for: request) }
        #expect(error?.code == .networkConnectionLost && error?.downloadTaskResumeData == nil)
    }

    @Test("another date is noticed also if a server ignores If-Range")
    func anotherDate() async throws {
        let old = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Mon, 07 Nov 1994 08:49:37 GMT\r\n"
        let new = "Last-Modified: Tue, 08 Nov 1994 08:49:37 GMT\r\n"
        let (bytes, _) = try await goesOn([Self.range(new), Self.whole(new)], tag: old)
        #expect(bytes == Self.content)
    }

    @Test("if the file of a download is gone, the whole is requested")
    func gone() async throws {
        let server = try RawServer.start([
            Self.cut("ETag: \"v1\"\r\n"), Self.range("ETag: \"v1\"\r\n"), Self.whole("ETag: \"v1\"\r\n"),
        ])
        let session = URLSession(configuration: .isolated)
        let data = try await resumeData(session, server)
        let path = try #require(ResumeData(data)?.path)
        StoreFile.remove(path)
        let (file, _) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Array(Data(contentsOf: file)) == Self.content)
        session.invalidateAndCancel()
    }

    @Test("of two downloads at once from the same resume data, the later one requests the whole, and both are complete")
    func shared() async throws {
        let gate = RawGate()
        defer { gate.open() }
        let (total, more) = (Self.content.count, Self.half + 8_000)
        let head = Self.head(
            "206 Partial Content",
            "ETag: \"v1\"\r\nContent-Range: bytes \(Self.half)-\(total - 1)/\(total)\r\n",
            total - Self.half
        )
        let server = try RawServer.start([
            Self.cut("ETag: \"v1\"\r\n"),
            [
                .receive(.headEnd), .send(head + Self.content[Self.half..<more]), .wait(gate),
                .send(Array(Self.content[more...])),
            ],
            Self.range("ETag: \"v1\"\r\n"), Self.whole("ETag: \"v1\"\r\n"),
        ])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let data = try await resumeData(session, server)
        let path = try #require(ResumeData(data)?.path)
        async let first = session.download(resumeFrom: data)
        await until { StoreFile.state(path)?.size == Int64(more) }
        let (later, _) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: later) }
        #expect(StoreFile.state(path)?.size == Int64(more))
        gate.open()
        let (file, _) = try await first
        defer { try? FileManager.default.removeItem(at: file) }
        for file in [file, later] { #expect(try Array(Data(contentsOf: file)) == Self.content) }
        #expect(!sent(server, 3).contains("Range"))
    }

    @Test("a later download from the same resume data does not touch the file of the one that is complete")
    func sharedLater() async throws {
        let tag = "Connection: close\r\nETag: \"v1\"\r\n"
        let scripts = [Self.range(tag), Self.range(tag), Self.whole(tag)].map { RawScript($0.steps + [.finish]) }
        let server = try RawServer.start([Self.cut(tag)] + scripts)
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let data = try await resumeData(session, server)
        var files: [URL] = []
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        for _ in 0..<2 { files.append(try await session.download(resumeFrom: data).0) }
        #expect(Set(files).count == 2)
        for file in files { #expect(try Array(Data(contentsOf: file)) == Self.content) }
    }

    @Test(
        "without a strong validator there is no resume data",
        arguments: ["", "ETag: W/\"v1\"\r\n", "Accept-Ranges: none\r\nETag: \"v1\"\r\n"]
    )
    func weak(fields: String) async throws {
        let server = try RawServer.start([Self.cut(fields)])
        let session = URLSession(configuration: .isolated)
        do {
            _ = try await session.download(from: try url(server.url("/file")))
            Issue.record("half of a file is no file")
        } catch let error as URLError {
            #expect(error.code == .networkConnectionLost)
            #expect(error.userInfo[NSURLSessionDownloadTaskResumeData] == nil)
        }
        session.invalidateAndCancel()
    }

    @Test("a download that was cancelled is continued by another session, and the delegate hears where")
    func roundTrip() async throws {
        let gate = RawGate()
        // A script that waits for ever keeps its server.
        defer { gate.open() }
        let server = try RawServer.start([
            [
                .receive(.headEnd),
                .send(Self.head("200 OK", "ETag: \"v1\"\r\n", Self.content.count) + Self.content[..<Self.half]),
                .wait(gate),
            ],
            Self.range("ETag: \"v1\"\r\n"),
        ])
        let session = URLSession(configuration: .isolated)
        let task = session.downloadTask(with: try url(server.url("/file")))
        task.resume()
        await until { task.countOfBytesReceived >= Self.half }
        let data = await withCheckedContinuation { told in
            task.cancel { told.resume(returning: $0) }
        }
        session.finishTasksAndInvalidate()
        let recorder = Recorder()
        let other = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        other.downloadTask(withResumeData: try #require(data)).resume()
        await recorder.end()
        #expect(recorder.events.contains("resumed \(Self.half)/\(Self.content.count)"))
        #expect(recorder.told.file.map { Array($0) } == Self.content)
        other.finishTasksAndInvalidate()
    }

    @Test("a resumed download sends no cookies and waits as long as the first one if its request says so")
    func settings() async throws {
        let gate = RawGate()
        defer { gate.open() }
        let server = try RawServer.start([
            [
                .receive(.headEnd),
                .send(Self.head("200 OK", "ETag: \"v1\"\r\n", Self.content.count) + Self.content[..<Self.half]),
                .wait(gate),
            ],
            Self.range("ETag: \"v1\"\r\nSet-Cookie: new=1\r\n"),
        ])
        let configuration = URLSessionConfiguration.isolated
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let address = try url(server.url("/file"))
        let cookies = try #require(configuration.httpCookieStorage)
        let old = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "old=1"], for: address)
        cookies.setCookies(old, for: address, mainDocumentURL: nil)
        var request = URLRequest(url: address)
        request.httpShouldHandleCookies = false
        request.timeoutInterval = 600
        request.mainDocumentURL = try url("http://main.test/")
        request.setValue("y", forHTTPHeaderField: "X-Own")
        let task = session.downloadTask(with: request)
        task.resume()
        await until { task.countOfBytesReceived >= Self.half }
        let data = try #require(await task.cancelByProducingResumeData())
        let rest = session.downloadTask(withResumeData: data)
        #expect(rest.originalRequest == request)
        rest.resume()
        await until { rest.state == .completed }
        #expect(rest.error == nil)
        #expect(sent(server, 1).contains("Range: bytes=\(Self.half)-\r\n") && sent(server, 1).contains("X-Own: y\r\n"))
        #expect(!sent(server, 1).contains("Cookie:"))
        #expect(cookies.cookies(for: address)?.map(\.name) == ["old"])
    }

    @Test("resume data without a request, as it was once written, gives a request of its URL and fields")
    func earlierData() async throws {
        let list: [String: Any] = [
            "NSURLSessionResumeInfoVersion": 1, "NSURLSessionDownloadURL": "http://a.test/f",
            "NSURLSessionResumeRequestFields": ["X-Own": "y"], "NSURLSessionResumeEntityTag": "\"v1\"",
            "NSURLSessionResumeInfoLocalPath": "/tmp/p", "NSURLSessionResumeBytesReceived": 5,
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        var expected = URLRequest(url: try url("http://a.test/f"))
        expected.setValue("y", forHTTPHeaderField: "X-Own")
        #expect(URLRequest(resuming: data) == expected)
    }

    @Test("a resumed download that gets no answer has the same part in its resume data")
    func unanswered() async throws {
        let server = try RawServer.start([
            Self.cut("ETag: \"v1\"\r\n"), [.receive(.headEnd), .close], Self.range("ETag: \"v1\"\r\n"),
        ])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let data = try await resumeData(session, server)
        let error = await #expect(throws: URLError.self) { _ = try await session.download(resumeFrom: data) }
        let again = try #require(error?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
        let (file, _) = try await session.download(resumeFrom: again)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Array(Data(contentsOf: file)) == Self.content)
        #expect(sent(server, 2).contains("Range: bytes=\(Self.half)-\r\n"))
    }

    @Test("a refusal of the rest is an answer like any other, and leaves the part for another download")
    func refused() async throws {
        let busy = Self.head("503 Busy", "Connection: close\r\n", 4) + Array("busy".utf8)
        let server = try RawServer.start([
            Self.cut("ETag: \"v1\"\r\n"), [.receive(.headEnd), .send(busy), .finish],
            Self.range("ETag: \"v1\"\r\n"),
        ])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let data = try await resumeData(session, server)
        let (page, response) = try await session.download(resumeFrom: data)
        #expect(try Data(contentsOf: page) == Data("busy".utf8) && (response as? HTTPURLResponse)?.statusCode == 503)
        try FileManager.default.removeItem(at: page)
        let (file, _) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Array(Data(contentsOf: file)) == Self.content)
        #expect(sent(server, 2).contains("Range: bytes=\(Self.half)-\r\n"))
    }

    @Test("resume data of another version, of no octets, or for a POST makes a task that fails unsent")
    func changedData() async throws {
        let server = try RawServer.start(
            [Self.cut("ETag: \"v1\"\r\n")],
            otherwise: Self.range("ETag: \"v1\"\r\n")
        )
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let data = try await resumeData(session, server)
        var version = data
        version[7] += 1
        var empty = try #require(ResumeData(data))
        empty.received = 0
        var post = try #require(ResumeData(data))
        post.request.httpMethod = "POST"
        for changed in [version, empty.data, post.data] {
            let changed = try #require(changed)
            await #expect { try await session.download(resumeFrom: changed) } throws: {
                ($0 as? URLError)?.code == .unsupportedURL
            }
        }
        #expect(server.connections.count == 1)
        let same = try #require(ResumeData(data)?.data)
        let (file, _) = try await session.download(resumeFrom: same)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Array(Data(contentsOf: file)) == Self.content)
    }

    @Test(
        "resume data that names a file that no session has made leaves it alone, and the download starts over",
        arguments: ["victim", "URLLoading_.part", "URLLoading_1.tmp", "URLLoading_1.part", "URLLoading_1.kept"],
        [true, false]
    )
    func foreignFile(name: String, isOwnFormat: Bool) async throws {
        let folder = TemporaryFolder()
        try folder.make()
        let octets = Array(Self.content[..<Self.half].reversed())
        folder.write(octets, to: name)
        let tag = "ETag: \"v1\"\r\n"
        let server = try RawServer.start([Self.whole(tag), Self.whole(tag)])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let request = URLRequest(url: try url(server.url("/file")))
        let data = ResumeData(
            request: request,
            validator: "\"v1\"",
            path: "\(folder.path)/\(name)",
            received: Int64(Self.half),
            expected: -1
        )
        let made = try #require(isOwnFormat ? data.data : try Self.foreign(data))
        let (file, _) = try await session.download(resumeFrom: made)
        #expect(try Array(Data(contentsOf: file)) == Self.content)
        try? FileManager.default.removeItem(at: file)
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name)")) == Data(octets))
        #expect(!sent(server, 0).contains("Range"))
    }

    /// The same as another library writes it: with URLSession's keys, and without a checksum.
    private static func foreign(_ data: ResumeData) throws -> Data {
        let list: [String: Any] = [
            "NSURLSessionResumeInfoVersion": 1, "NSURLSessionDownloadURL": data.request.url?.absoluteString ?? "",
            "NSURLSessionResumeEntityTag": data.validator, "NSURLSessionResumeInfoLocalPath": data.path,
            "NSURLSessionResumeBytesReceived": Int(data.received),
            "NSURLSessionResumeBytesExpected": Int(data.expected),
        ]
        return try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    }

    @Test("resume data without a checksum and without keys of this library is read, and continues a session's own part")
    func withoutChecksum() async throws {
        let tag = "ETag: \"v1\"\r\n"
        let server = try RawServer.start([Self.cut(tag), Self.range(tag)])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let data = try #require(ResumeData(try await resumeData(session, server)))
        let (file, _) = try await session.download(resumeFrom: try Self.foreign(data))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Array(Data(contentsOf: file)) == Self.content)
        #expect(sent(server, 1).contains("Range: bytes=\(Self.half)-\r\n"))
    }

    @Test("resume data with one flipped bit is not read", arguments: [true, false])
    func flipped(isUpload: Bool) throws {
        var request = URLRequest(url: try url("http://one.test/file"))
        request.setValue("secret", forHTTPHeaderField: "Authorization")
        let made =
            isUpload
            ? UploadResumeData(
                request: request,
                resource: try url("http://one.test/7"),
                draft: .six,
                content: .data(Data("abc".utf8))
            ).data
            : ResumeData(request: request, validator: "\"v1\"", path: "/tmp/x", received: 5, expected: 10).data
        let whole = try #require(made)
        func isRead(_ data: Data) -> Bool { isUpload ? UploadResumeData(data) != nil : ResumeData(data) != nil }
        #expect(isRead(whole))
        var read: [Int] = []
        for bit in 0..<whole.count * 8 {
            var data = whole
            data[bit / 8] ^= 1 << UInt8(bit % 8)
            if isRead(data) { read.append(bit) }
        }
        #expect(read == [])
        #expect((1..<whole.count).allSatisfy { !isRead(whole.prefix($0)) })
    }

    @Test("data that is no resume data makes a task that fails", arguments: ["", "junk", "<plist></plist>"])
    func junk(text: String) async throws {
        let session = URLSession(configuration: .isolated)
        await #expect(throws: URLError.self) { try await session.download(resumeFrom: Data(text.utf8)) }
    }
}
