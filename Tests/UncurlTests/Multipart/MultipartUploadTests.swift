import FacadeTestSupport
import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import Uncurl
import UncurlTLS
import UncurlTestServer

@Suite("Uploading multipart forms", .ownThread, .timeLimit(.minutes(5)))
struct MultipartUploadTests {
    private let session = URLSession(configuration: .isolated)
    private let file = TemporaryFile(noise(1_500_000))
    private var fileURL: URL { URL(fileURLWithPath: file.path) }

    private func mixed(_ length: UInt64?) throws -> MultipartForm {
        var form = try MultipartForm(boundary: "B")
        try form.append(.text("text"), name: "text")
        try form.append(.file(fileURL), name: "file", fileName: "f")
        try form.append(.stream(length: length, opening: { .of(noise(200_000)) }), name: "stream")
        try form.append(.data(Data(noise(100_000))), name: "large")
        return form
    }

    @Test("a form of known lengths arrives byte by byte under its exact Content-Length", .rows("P2", "P3"))
    func known() async throws {
        let form = try mixed(200_000)
        let whole = [UInt8](try form.encoded())
        let server = try FormServer(taking: whole.count)
        let (answer, _) = try await session.upload(for: server.request, multipart: form)
        #expect(answer == Data("ok".utf8))
        #expect(server.head().contains("\r\nContent-Length: \(whole.count)"))
        #expect(server.head().contains("\r\nContent-Type: multipart/form-data; boundary=B"))
        #expect(!server.head().contains("Transfer-Encoding"))
        #expect(server.content() == whole)
    }

    @Test("a form with a stream of unknown length goes chunked, file and all, and arrives byte by byte", .rows("W3"))
    func unknown() async throws {
        let form = try mixed(nil)
        let whole = [UInt8](try form.encoded())
        let end = RawGate()
        let server = try FormServer([[.receive(.headEnd), .wait(end), .send(FormServer.ok)]])
        let sending = Task { [session] in try await session.upload(for: server.request, multipart: form) }
        try server.raw.wait(for: 0, "the last chunk") {
            $0.received.suffix(7).elementsEqual(Array("\r\n0\r\n\r\n".utf8))
        }
        end.open()
        _ = try await sending.value
        #expect(server.head().contains("\r\nTransfer-Encoding: chunked"))
        #expect(!server.head().contains("Content-Length"))
        #expect(dechunked(server.content()) == whole)
    }

    @Test("a form over TLS is the same as over plain TCP", .rows("W3"), arguments: [200_000, nil] as [UInt64?])
    func secure(length: UInt64?) async throws {
        let form = try mixed(length)
        let server = try TestServer.start(
            tls: TLSServerContext(TLSServerConfiguration(certificate: .init(try TestCertificates.localhost)))
        )
        defer { server.stop() }
        let session = URLSession(configuration: .isolated, delegate: Trusting(), delegateQueue: nil)
        var request = URLRequest(url: URL(string: server.url("/upload", host: "localhost"))!)
        request.httpMethod = "POST"
        let (data, _) = try await session.upload(for: request, multipart: form)
        #expect(String(decoding: data, as: UTF8.self).contains("\(try form.encoded().count)"))
        session.finishTasksAndInvalidate()
    }

    @Test("a form with streams is sent while the main queue waits for it", .rows("D1", "P12"))
    @MainActor
    func mainWaits() throws {
        let form = try mixed(nil)
        let server = try TestServer.start()
        defer { server.stop() }
        var request = URLRequest(url: URL(string: server.url("/upload"))!)
        request.httpMethod = "POST"
        let done = DispatchSemaphore(value: 0)
        let answer = Mutex<Data?>(nil)
        let task = try session.uploadTask(with: request, multipart: form) { data, _, _ in
            answer.withLock { $0 = data }
            done.signal()
        }
        task.resume()
        #expect(done.wait(timeout: .now() + 60) == .success)
        let text = answer.withLock { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(text?.contains("\(try form.encoded().count)") == true)
    }

    @Test("a replayable form is sent again after a redirect that keeps the method", .rows("P11", "W3"))
    func redirected() async throws {
        let form = try mixed(nil)
        let server = try TestServer.start()
        defer { server.stop() }
        let place = "/redirect-to?url=/upload&status_code=307"
        var request = URLRequest(url: URL(string: server.url(place))!)
        request.httpMethod = "POST"
        let (data, _) = try await session.upload(for: request, multipart: form)
        #expect(String(decoding: data, as: UTF8.self).contains("\(try form.encoded().count)"))
    }

    @Test("a replayable form is sent again with the answer to a challenge", .rows("W3", "P11"))
    func challenged() async throws {
        let form = try mixed(200_000)
        let whole = [UInt8](try form.encoded())
        let challenge = """
            HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\
            Connection: close\r\n\r\n
            """
        let server = try FormServer(
            [[.receive(.headEnd), .receive(.bytes(whole.count)), .send(challenge), .finish]],
            otherwise: [.receive(.headEnd), .receive(.bytes(whole.count)), .send(FormServer.ok)]
        )
        let session = URLSession(configuration: .isolated, delegate: Answering(), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        _ = try await session.upload(for: server.request, multipart: form)
        #expect(server.content(0) == whole && server.content(1) == whole)
        #expect(server.head(1).contains("\r\nAuthorization: Basic "))
    }

    @Test("a form with a stream that is read once fails at such a redirect, with an error that says so", .rows("D11"))
    func notReplayable() async throws {
        var form = MultipartForm()
        try form.append(.stream(.of(noise(1_000)), length: 1_000), name: "s")
        let server = try TestServer.start()
        defer { server.stop() }
        var request = URLRequest(url: URL(string: server.url("/redirect-to?url=/upload&status_code=307"))!)
        request.httpMethod = "POST"
        await #expect(throws: MultipartFailure.notReplayable) {
            try await session.upload(for: request, multipart: form)
        }
    }

    @Test(
        "a stream with a wrong length resets the connection and is a typed error",
        .rows("D13", "B23"),
        arguments: [999, 1_001, 200_000]
    )
    func lies(given: Int) async throws {
        var form = MultipartForm()
        try form.append(.stream(length: 1_000, opening: { .of(noise(given)) }), name: "s")
        try form.append(.text("behind"), name: "t")
        let server = try FormServer([])
        let failure = await #expect(throws: MultipartFailure.self) {
            try await session.upload(for: server.request, multipart: form)
        }
        guard case .lengthMismatch("s", declared: 1_000, _)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(try server.raw.waitForEnd(of: 0).sawReset)
        #expect(!server.raw.connections[0].receivedText.contains("behind"))
    }

    @Test(
        "a stream that fails in the middle is a typed error with the part's name, and the server sees a cut",
        .rows("P10")
    )
    func failing() async throws {
        var form = MultipartForm()
        let path = "/tmp/uncurl/no such file"
        try form.append(.text("before"), name: "t")
        try form.append(.stream(opening: { InputStream(fileAtPath: path) ?? .of([]) }), name: "s")
        let server = try FormServer([])
        let failure = await #expect(throws: MultipartFailure.self) {
            try await session.upload(for: server.request, multipart: form)
        }
        guard case .streamUnopenable(part: "s", _)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(try server.raw.waitForEnd(of: 0).sawReset)
    }

    @Test(
        "a file that is replaced or rewritten in place before it is sent is a typed error",
        .rows("P5"),
        arguments: [nil, 0, 500, 5_000]
    )
    func changed(size: Int?) async throws {
        let file = TemporaryFile(noise(1_000))
        var form = MultipartForm()
        try form.append(.file(URL(fileURLWithPath: file.path)), name: "f")
        if let size {
            file.truncate(to: 0)
            file.append(noise(size))
        } else {
            file.replace(with: noise(1_000))
        }
        let server = try FormServer([])
        let failure = await #expect(throws: MultipartFailure.self) {
            try await session.upload(for: server.request, multipart: form)
        }
        guard case .fileChanged? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("progress counts the bytes that the socket took, up to the form's length, and never back")
    func progress() async throws {
        let form = try mixed(200_000)
        let server = try TestServer.start()
        defer { server.stop() }
        let watcher = Watcher()
        let session = URLSession(configuration: .isolated, delegate: watcher, delegateQueue: nil)
        var request = URLRequest(url: URL(string: server.url("/upload"))!)
        request.httpMethod = "POST"
        try session.uploadTask(with: request, multipart: form).resume()
        let told = await watcher.ended()
        let length = Int64(try #require(form.contentLength))
        #expect(told.last?.sent == length)
        #expect(told.allSatisfy { $0.expected == length })
        #expect(zip(told, told.dropFirst()).allSatisfy { $0.sent < $1.sent })
        #expect(told.count > 2)
        session.finishTasksAndInvalidate()
    }

    @Test("an independent reader finds the parts, their names, types and bytes as they were put in")
    func independentReader() async throws {
        var form = MultipartForm()
        try form.append(.text("größe"), name: "a \"quoted\" name")
        try form.append(.file(fileURL), name: "file", fileName: "naïve 😀.bin", contentType: "application/x-test")
        try form.append(.stream(opening: { .of(noise(10_000)) }), name: "stream", fileName: "s")
        let body = TemporaryFile([UInt8](try form.encoded()))
        let report = TemporaryFile()
        let script = """
            import sys, hashlib, email.parser, email.policy
            head = b'Content-Type: ' + sys.argv[2].encode() + b'\\r\\n\\r\\n'
            message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + open(sys.argv[1], 'rb').read())
            for part in message.iter_parts():
                content = part.get_payload(decode=True)
                name = part.get_param('name', header='content-disposition')
                print(name, part.get_filename(), part.get_content_type(), len(content), sum(content) % 65521, sep='|')
            print(len(message.defects), message.preamble or '', (message.epilogue or '').strip())
            """
        let child = try ChildProcess(
            "/usr/bin/python3",
            ["-c", script, body.path, form.contentType],
            output: report.path
        )
        #expect(try child.waitForEnd() == 0)
        func sum(_ bytes: [UInt8]) -> Int { bytes.reduce(0) { $0 + Int($1) } % 65521 }
        let parts: [Substring] = [
            "a %22quoted%22 name|None|text/plain|7|\(sum(Array("größe".utf8)))",
            "file|naïve 😀.bin|application/x-test|1500000|\(sum(noise(1_500_000)))",
            "stream|s|text/plain|10000|\(sum(noise(10_000)))",
            "0  ",
        ]
        #expect(report.text.split(separator: "\n") == parts)
    }

    @Test("any upload, data or download task of any session sends a form")
    func otherTasks() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        var form = MultipartForm()
        try form.append(.text("one"), name: "a")
        try form.append(.data(Data("two".utf8)), name: "b", fileName: "f.txt")
        var request = URLRequest(url: URL(string: server.url("/post"))!)
        request.httpMethod = "POST"
        let sent = try form.request(from: request)
        let (file, _) = try await session.download(for: sent)
        defer { try? FileManager.default.removeItem(at: file) }
        for text in [
            String(decoding: try Data(contentsOf: file), as: UTF8.self),
            String(decoding: try await session.data(for: sent).0, as: UTF8.self),
        ] {
            #expect(text.contains("\"a\": \"one\"") || text.contains("\"a\":\"one\""))
            #expect(text.contains("\"b\": \"two\"") || text.contains("\"b\":\"two\""))
        }
    }
}

private final class Trusting: NSObject, URLSessionDelegate {
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = challenge.protectionSpace.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }
}

/// Answers each challenge with a name and a password.
private final class Answering: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, URLCredential(user: "user", password: "password", persistence: .none))
    }
}

/// Notes what is told of bytes sent.
private final class Watcher: NSObject, URLSessionDataDelegate {
    struct Told: Sendable {
        let sent: Int64
        let expected: Int64
    }

    private struct State {
        var told: [Told] = []
        var isOver = false
        var waiter: CheckedContinuation<[Told], Never>?
    }

    private let state = Mutex(State())

    func ended() async -> [Told] {
        await withCheckedContinuation { continuation in
            let told = state.withLock { state -> [Told]? in
                if state.isOver { return state.told }
                state.waiter = continuation
                return nil
            }
            if let told { continuation.resume(returning: told) }
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        state.withLock { $0.told.append(Told(sent: totalBytesSent, expected: totalBytesExpectedToSend)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (waiter, told) = state.withLock { state in
            state.isOver = true
            return (state.waiter.take(), state.told)
        }
        waiter?.resume(returning: told)
    }
}
