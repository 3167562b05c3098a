import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("File URLs through a manager", .timeLimit(.minutes(5)))
struct FileURLTests {
    @Test("a file URL that cannot be loaded says so in plain words, with the file's path")
    func words() async throws {
        let manager = URLSessionManager(configuration: .isolated)
        let missing = try #require(await manager.response(to: "file:///uncurl/no/file", serializer: .data).error)
        #expect(missing.description == "the file /uncurl/no/file cannot be loaded: there is no such file")
        #expect(missing.failureReason == "The file could not be read.")
        #expect(missing.urlError?.code == .fileDoesNotExist)
        let folder = try #require(await manager.response(to: "file:///tmp/", serializer: .data).error)
        #expect(folder.description == "the file /tmp cannot be loaded: it is a folder")
        #expect(folder.urlError?.code == .fileIsDirectory)
    }

    @Test("a file of another host, and any method that does not read, are refused")
    func refused() async throws {
        let manager = URLSessionManager(configuration: .isolated)
        let elsewhere = await manager.response(to: "file://elsewhere/etc/hosts", serializer: .data)
        #expect(elsewhere.error?.urlError?.code == .unsupportedURL && elsewhere.data.isEmpty)
        for method in [HTTPMethod.post, .put, .delete] {
            let response = await manager.response(to: HTTPRequest(method, "file:///etc/hosts"), serializer: .data)
            #expect(response.error?.urlError?.code == .unsupportedURL, "\(method)")
        }
        #expect(await manager.response(to: "file://localhost/etc/hosts", serializer: .data).error == nil)
    }

    @Test("an operation loads a URL without a server like any other, also into its output stream")
    func operations() async throws {
        let manager = HTTPSessionManager(configuration: .isolated)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try Data("hello".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for text in ["data:text/plain,hello", file.absoluteString] {
            for stream in [nil, OutputStream.toMemory()] {
                let operation = try HTTPRequestOperation(
                    HTTPRequest(text),
                    manager: manager,
                    serializer: .data,
                    outputStream: stream
                )
                OperationQueue().addOperation(operation)
                let response = await withCheckedContinuation { continuation in
                    operation.onCompletion { continuation.resume(returning: $0) }
                }
                #expect(response.error == nil, "\(text)")
                let written = stream?.property(forKey: .dataWrittenToMemoryStreamKey) as? Data
                #expect((written ?? response.data) == Data("hello".utf8), "\(text)")
            }
        }
    }

    @Test("a stream of a URL without a server says so and is not requested again; in parts, its content is one part")
    func withoutServer() async throws {
        let manager = HTTPSessionManager(configuration: .isolated)
        let text = "data:text/event-stream,data:x%0A%0A"
        let failure = await #expect(throws: UncurlError.self) { try await manager.stream(HTTPRequest(text)) }
        #expect(failure?.urlError?.code == .unsupportedURL)
        await #expect(throws: UncurlError.self) { for try await _ in manager.events(HTTPRequest(text)) {} }
        let file = try await manager.download(HTTPRequest(text), segments: 2)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("data:x\n\n".utf8))
    }
}
