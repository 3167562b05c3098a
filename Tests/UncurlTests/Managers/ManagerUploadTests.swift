import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Upload tasks of a session manager", .timeLimit(.minutes(5)))
struct ManagerUploadTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func post(_ path: String) -> URLRequest {
        var request = URLRequest(url: server.location(path))
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        return request
    }

    private func ended<Value: Sendable>(
        _ make: (@escaping @Sendable (Response<Value>) -> Void) -> URLSessionTask
    ) async -> Response<Value> {
        await withCheckedContinuation { continuation in
            make { continuation.resume(returning: $0) }.resume()
        }
    }

    @Test(
        "uploads of data, of a file and of a stream are made suspended, each with a delegate, and send all of it",
        .rows("U10")
    )
    func uploads() async throws {
        let manager = URLSessionManager(configuration: .isolated)
        let content = Data("content".utf8)
        let file = TemporaryFile(Array(content))
        let bodies: [UploadBody] = [
            .data(content), .file(URL(fileURLWithPath: file.path)), .stream { InputStream(data: content) },
        ]
        for body in bodies {
            let response: Response<JSONValue> = await ended { done in
                let task = manager.uploadTask(with: post("/anything"), from: body, serializer: .json, completion: done)
                #expect(task.state == .suspended)
                #expect(manager.delegate(for: task) is UploadTaskDelegate)
                return task
            }
            #expect(response.value?["data"] == "content", "\(response)")
        }
    }

    @Test("an upload of a file that is missing is a task all the same, and ends with the file's error", .rows("U10"))
    func missingUpload() async {
        let manager = URLSessionManager(configuration: .isolated)
        let missing = UploadBody.file(URL(fileURLWithPath: "/nonexistent/file"))
        let response: Response<Data> = await ended { done in
            manager.uploadTask(with: post("/anything"), from: missing, serializer: .data, completion: done)
        }
        #expect(response.error?.urlError?.code == .fileDoesNotExist, "\(response)")
        #expect(manager.tasks.isEmpty)
    }

    @Test("an upload's progress counts the bytes that the socket took, up to all of them", .rows("U20", "U21", "A4"))
    func uploadProgress() async {
        let manager = URLSessionManager(configuration: .isolated)
        let log = Log<TransferProgress>()
        let response: Response<Data> = await ended { done in
            manager.uploadTask(
                with: post("/upload"),
                from: .data(Data(repeating: 7, count: 500_000)),
                serializer: .data,
                progress: { log.add($0) },
                completion: done
            )
        }
        #expect(response.statusCode == 200)
        #expect(log.entries.last == TransferProgress(completed: 500_000, total: 500_000))
        #expect(log.entries.allSatisfy { ($0.fraction ?? 2) <= 1 })
    }

    private static let kept = "Upload-Draft-Interop-Version: 6\r\n"

    /// A server that keeps the first four octets of an upload.
    private static func keeper() throws -> RawServer {
        let place = "HTTP/1.1 104 Upload Resumption Supported\r\n\(kept)Location: /7\r\n\r\n"
        let offset = "HTTP/1.1 204 No Content\r\nUpload-Offset: 4\r\nUpload-Complete: ?0\r\n\(kept)\r\n"
        let end = "HTTP/1.1 201 Created\r\nUpload-Complete: ?1\r\n\(kept)Content-Length: 0\r\n\r\n"
        return try RawServer.start([
            [.receive(.headEnd), .send(place), .reset],
            [.receive(.headEnd), .send(offset), .receive(.request), .send(end), .finish],
        ])
    }

    private static func resuming(_ server: RawServer) -> HTTPSessionManager {
        let configuration = URLSessionConfiguration.isolated
        configuration.resumableUploads = .six
        return HTTPSessionManager(baseURL: URL(string: server.url("/")), configuration: configuration)
    }

    @Test("an interrupted upload of a stream sends the rest of a new stream", arguments: [8, nil] as [Int64?])
    func resumedStream(length: Int64?) async throws {
        let server = try Self.keeper()
        let streams = Log<Bool>()
        let body = RequestBody.stream(length: length) {
            streams.add(true)
            return InputStream(data: Data("12345678".utf8))
        }
        let response = await Self.resuming(server).response(
            to: HTTPRequest(.post, "files", body: body),
            serializer: .data
        )
        #expect(response.statusCode == 201, "\(response)")
        let sent = String(decoding: server.received(1), as: UTF8.self).components(separatedBy: "\r\n\r\n")
        try #require(sent.count > 2, "\(sent)")
        #expect(sent[0].hasPrefix("HEAD /7 ") && sent[1].hasPrefix("PATCH /7 "), "\(sent)")
        #expect(sent[2].contains("5678") && !sent[2].contains("45678"), "\(sent)")
        #expect(streams.entries.count == 2)
    }

    @Test("an interrupted upload whose new stream is shorter than what the server has is an error")
    func shortStream() async throws {
        let server = try Self.keeper()
        let streams = Log<Bool>()
        let body = RequestBody.stream(length: 8) {
            streams.add(true)
            return InputStream(data: Data((streams.entries.count == 1 ? "12345678" : "12").utf8))
        }
        let response = await Self.resuming(server).response(
            to: HTTPRequest(.post, "files", body: body),
            serializer: .data
        )
        #expect(response.error?.urlError != nil, "\(response)")
        #expect(streams.entries.count == 2)
    }

    @Test("an interrupted upload of a stream that nobody can make anew leaves data to resume from")
    func resumeDataOfStream() async throws {
        let server = try Self.keeper()
        let manager = Self.resuming(server)
        let asked = Log<Bool>()
        manager.hooks.needNewBodyStream = { _, _ in
            asked.add(true)
            return asked.entries.count == 1 ? InputStream(data: Data("12345678".utf8)) : nil
        }
        let body = RequestBody.stream(length: 8) { InputStream(data: Data()) }
        let response = await manager.response(to: HTTPRequest(.post, "files", body: body), serializer: .data)
        #expect(response.error?.urlError?.uploadTaskResumeData != nil, "\(response)")
        #expect(asked.entries.count == 2)
    }
}
