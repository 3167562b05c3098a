import FacadeTestSupport
import Foundation
import ScriptedPeer
import Testing
import Uncurl
import UncurlTestServer

@Suite("Where downloads are put", .timeLimit(.minutes(5)))
struct DownloadDestinationTests {
    private static let refusal =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nsorry: 42"
    private static let good = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew"

    /// A place with yesterday's file, in a folder of the test's own.
    private struct Place {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        var url: URL { folder.appendingPathComponent("place") }
        var content: String? { try? String(contentsOf: url, encoding: .utf8) }

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("old".utf8).write(to: url)
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }
    }

    @Test(
        "a refused answer does not replace the file at the place: its file is deleted, and the failure has its content"
    )
    func refused() async throws {
        let place = try Place()
        defer { place.remove() }
        let raw = try RawServer.answering([Self.refusal])
        let response = await raw.manager().downloadResponse(HTTPRequest("x"), to: .file(place.url))
        guard case .failure(.validation(let failure)) = response.result else {
            Issue.record("\(response.result)")
            return
        }
        #expect(failure.status == 503 && failure.data == Data("sorry: 42".utf8) && failure.fileURL == nil)
        #expect(response.data == failure.data && response.fileURL == nil && response.rejectedValue == nil)
        #expect(failure.serialization == nil)
        #expect(place.content == "old")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.path) == ["place"])
    }

    @Test(
        "a refused download of a task with a handler is not moved, and the serializer still reads its content"
    )
    func refusedTask() async throws {
        let place = try Place()
        defer { place.remove() }
        let raw = try RawServer.answering([Self.refusal])
        let manager = raw.manager()
        let response = await withCheckedContinuation { continuation in
            manager.downloadTask(
                with: URLRequest(url: URL(string: raw.url("/"))!),
                to: .file(place.url),
                serializer: .string
            ) { continuation.resume(returning: $0) }.resume()
        }
        #expect(response.statusCode == 503 && response.rejectedValue == "sorry: 42" && response.fileURL == nil)
        #expect(place.content == "old")
    }

    @Test("the file of a refused answer without a destination stays for the caller, and the failure names it")
    func refusedNowhere() async throws {
        let raw = try RawServer.answering([Self.refusal])
        let response = await raw.manager().downloadResponse(HTTPRequest("x"))
        guard case .failure(.validation(let failure)) = response.result, let file = failure.fileURL else {
            Issue.record("\(response.result)")
            return
        }
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("sorry: 42".utf8))
        #expect(response.fileURL == file && response.rejectedValue == file)
    }

    @Test("neither the destination nor the manager's hook is called for a refused answer")
    func notAsked() async throws {
        let raw = try RawServer.answering([Self.refusal])
        let manager = raw.manager()
        let log = Log<String>()
        manager.hooks.didFinishDownloading = { _, _, _ in
            log.add("hook")
            return nil
        }
        let destination = DownloadDestination { _, _ in
            log.add("destination")
            return nil
        }
        #expect(await manager.downloadResponse(HTTPRequest("x"), to: destination).statusCode == 503)
        #expect(log.entries.isEmpty)
    }

    @Test("a retried download leaves no file of earlier attempts")
    func triedAgain() async throws {
        let raw = try RawServer.answering([Self.refusal, Self.good])
        let manager = raw.manager()
        let files = Log<URL>()
        manager.interceptors = [
            .retrying { failure in
                if case .validation(let refusal) = failure.error, let file = refusal.fileURL { files.add(file) }
                return .retry
            }
        ]
        let response = await manager.downloadResponse(HTTPRequest("x"))
        let file = try response.result.get()
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(files.entries.count == 1)
        #expect(!files.entries.contains { FileManager.default.fileExists(atPath: $0.path) })
    }

    @Test("the caller's own check is called once for a download")
    func askedOnce() async throws {
        let place = try Place()
        defer { place.remove() }
        let raw = try RawServer.answering([Self.good])
        let log = Log<URL?>()
        var request = HTTPRequest("x")
        request.options.validation = ResponseValidation(checks: [{ log.add($0.fileURL) }])
        let response = await raw.manager().downloadResponse(request, to: .file(place.url))
        #expect(response.value == place.url && place.content == "new")
        #expect(log.entries.count == 1 && log.entries.first != place.url)
    }

    private struct Refused: Error {}

    @Test("a program's own check of a download in parts is called once, with the whole file, before the file is moved")
    func askedOnceAboutParts() async throws {
        let place = try Place()
        defer { place.remove() }
        let server = try TestServer.start()
        let log = Log<(file: URL?, length: Int)>()
        var request = HTTPRequest("range/3000000")
        request.options.validation = ResponseValidation(checks: [{ log.add(($0.fileURL, try $0.content().count)) }])
        let response = await server.manager().downloadResponse(request, to: .file(place.url), segments: 4)
        #expect(response.value == place.url && place.content?.utf8.count == 3_000_000)
        #expect(log.entries.map(\.length) == [3_000_000] && log.entries.first?.file != place.url)
    }

    @Test("a download in parts that a check refuses leaves its place alone, and no data to resume from")
    func refusedParts() async throws {
        let place = try Place()
        defer { place.remove() }
        let server = try TestServer.start()
        var request = HTTPRequest("range/3000000")
        request.options.validation = ResponseValidation(checks: [{ _ in throw Refused() }])
        for destination in [DownloadDestination.file(place.url), nil] {
            let response = await server.manager().downloadResponse(request, to: destination, segments: 4)
            guard case .failure(.validation(let failure)) = response.result,
                case .rejected(is Refused)? = failure.reasons.first
            else {
                Issue.record("\(response.result)")
                return
            }
            #expect(response.resumeData == nil && failure.reasons.count == 1 && place.content == "old")
            #expect(failure.data.count == (destination == nil ? 0 : 1 << 20))
            let file = failure.fileURL
            #expect((file == nil) == (destination != nil) && response.fileURL == file)
            if let file {
                #expect(try Data(contentsOf: file).count == 3_000_000)
                try FileManager.default.removeItem(at: file)
            }
        }
    }

    @Test(
        "a missing folder is created only if the options say so; if not, the download ends with an error of its file",
        arguments: [1, 2]
    )
    func missingFolder(segments: Int) async throws {
        let place = try Place()
        defer { place.remove() }
        let (folder, server) = (place.folder.appendingPathComponent("missing"), try TestServer.start())
        func download(_ options: DownloadDestination.Options) async -> Response<URL> {
            let file = folder.appendingPathComponent("deep/file")
            let destination = DownloadDestination.file(file, options: options)
            let manager = server.manager()
            guard segments > 1 else { return await manager.downloadResponse("range/3000000", to: destination) }
            return await manager.downloadResponse("range/3000000", to: destination, segments: segments)
        }
        let response = await download([])
        guard case .failure(.file(let failure)) = response.result else {
            Issue.record("\(response.result)")
            return
        }
        try? FileManager.default.removeItem(at: failure.source)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        let file = try #require(await download([.createIntermediateDirectories]).value)
        #expect(try Data(contentsOf: file).count == 3_000_000)
    }

    @Test("a folder at the place of a file stays as it is, and the error says that it is a folder")
    func folder() async throws {
        let place = try Place()
        defer { place.remove() }
        let raw = try RawServer.answering([Self.good])
        let response = await raw.manager().downloadResponse(HTTPRequest("x"), to: .file(place.folder))
        guard case .failure(.file(let failure)) = response.result else {
            Issue.record("\(response.result)")
            return
        }
        defer { try? FileManager.default.removeItem(at: failure.source) }
        #expect(failure.obstacle == .folder && failure.localizedDescription.contains("a folder is there"))
        #expect(try Data(contentsOf: failure.source) == Data("new".utf8))
        #expect(place.content == "old")
    }
}
