import FacadeTestSupport
import Foundation
import Testing
import Uncurl
import UncurlTestServer

/// What streams and downloads send.
@Suite("Content of streams and downloads", .timeLimit(.minutes(5)))
struct SentContentTests {
    enum Kind: CaseIterable { case data, json, form, file, stream, multipart }

    private let server: TestServer
    private let folder: URL

    init() throws {
        server = try TestServer.start()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("content-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// With the word that the server finds in its answer.
    private func request(_ kind: Kind, to path: String = "anything") throws -> HTTPRequest {
        let file = folder.appendingPathComponent("word.txt")
        try Data("needle".utf8).write(to: file)
        var form = MultipartForm()
        try form.append(.text("needle"), name: "word")
        let body: RequestBody =
            switch kind {
            case .data: .data(Data("needle".utf8), contentType: "text/plain")
            case .json: .json(["word": "needle"])
            case .form: .form(["word": "needle"])
            case .file: .file(file)
            case .stream: .stream(contentType: "text/plain") { InputStream(data: Data("needle".utf8)) }
            case .multipart: .multipart(form)
            }
        return HTTPRequest(.post, path, body: body)
    }

    private func streamed(_ request: HTTPRequest, by manager: HTTPSessionManager) async throws -> String {
        var content = Data()
        for try await piece in try await manager.stream(request) { content += piece }
        return String(decoding: content, as: UTF8.self)
    }

    private func downloaded(_ request: HTTPRequest, by manager: HTTPSessionManager) async throws -> String {
        let place = folder.appendingPathComponent(UUID().uuidString)
        return try String(
            contentsOf: try await manager.download(request, to: .file(place)),
            encoding: .utf8
        )
    }

    @Test("a stream sends content of any kind and gives the answer in pieces", arguments: Kind.allCases)
    func stream(kind: Kind) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let answer = try await streamed(request(kind), by: server.manager())
        #expect(answer.contains("needle") && answer.contains("\"POST\""), "\(answer)")
    }

    @Test("a download sends content of any kind and puts the answer into its file", arguments: Kind.allCases)
    func download(kind: Kind) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let answer = try await downloaded(request(kind), by: server.manager())
        #expect(answer.contains("needle") && answer.contains("\"POST\""), "\(answer)")
    }

    @Test("a redirect that keeps the method sends the content again", arguments: Kind.allCases)
    func redirected(kind: Kind) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let request = try request(kind, to: "redirect-to?url=/anything&status_code=307")
        #expect(try await streamed(request, by: server.manager()).contains("needle"))
        #expect(try await downloaded(request, by: server.manager()).contains("needle"))
    }

    @Test("a missing file fails a stream and a download before anything is sent")
    func missingFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let request = HTTPRequest(.post, "anything", body: .file(folder.appendingPathComponent("none")))
        let manager = server.manager()
        let error = await #expect(throws: UncurlError.self) { _ = try await manager.stream(request) }
        #expect(error?.urlError?.code == .fileDoesNotExist)
        let response = await manager.downloadResponse(request)
        #expect(response.error?.urlError?.code == .fileDoesNotExist)
        #expect(server.requestCount == 0)
    }

    @Test("every method that sends content sends the content that an interceptor has set", arguments: Kind.allCases)
    func intercepted(kind: Kind) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let manager = server.manager()
        manager.interceptors = [
            ClosureInterceptor.adapting { request, _ in
                var request = request
                request.httpBody = Data("changed".utf8)
                request.setValue(nil, forHTTPHeaderField: "Content-Length")
                return request
            }
        ]
        let request = try request(kind)
        let answers = [
            await manager.response(to: request, serializer: .string).value ?? "",
            try await streamed(request, by: manager), try await downloaded(request, by: manager),
        ]
        for answer in answers { #expect(answer.contains("changed") && !answer.contains("needle"), "\(answer)") }
    }
}
