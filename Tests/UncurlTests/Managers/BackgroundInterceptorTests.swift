import FacadeTestSupport
import Foundation
import Glibc
import ScriptedPeer
import TestSupport
import Testing
import Uncurl

/// After `kill -9` the closures of a request's interceptors and serializers are gone. What does the next process get?
@Suite("Interceptors of a background manager", .ownThread, .timeLimit(.minutes(5)))
struct BackgroundInterceptorTests {
    private static let content = String(repeating: "0123456789", count: 2000)
    private static let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 20000\r\n\r\n"
    private static let half: RawScript = [.receive(.headEnd), .send(head + content.prefix(10_000)), .stall]
    private static let whole: RawScript = [.receive(.headEnd), .send(head + content), .close]
    private static let busy: RawScript = [
        .receive(.headEnd), .send("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy"), .close,
    ]

    /// Says on each request which process has adapted it.
    private static func signing(_ name: String) -> ClosureInterceptor {
        .adapting { request, _ in
            var request = request
            request.setValue(name, forHTTPHeaderField: "X-Process")
            return request
        }
    }

    /// The next process: it ends with the first end that it hears, and fails if that has not this status.
    private static func takeOver(in folder: String, _ place: String, status: Int) async {
        var hooks = TaskHooks()
        hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
        hooks.didComplete = { _, task, error in
            let isExpected = error == nil && (task.response as? HTTPURLResponse)?.statusCode == status
            _exit(isExpected ? EXIT_SUCCESS : EXIT_FAILURE)
        }
        let manager = BackgroundProcess.manager(in: folder, hooks: hooks)
        manager.interceptors = [signing("second"), .retrying { _ in .retry }]
        await BackgroundProcess.waitForEnd()
    }

    @Test("a download that kill -9 has cut continues as the interceptors of its own process have changed it")
    func adapted() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([Self.half, Self.whole])
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/file") as String, place = place as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.interceptors = [BackgroundInterceptorTests.signing("first")]
            manager.hooks.didWriteData = { _, _, _ in BackgroundProcess.die() }
            _ = await manager.downloadResponse(HTTPRequest(address), to: .file(URL(fileURLWithPath: place)))
        }
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            await BackgroundInterceptorTests.takeOver(in: folder, place, status: 200)
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
        for index in 0..<2 {
            let head = String(decoding: server.received(index), as: UTF8.self)
            #expect(head.contains("X-Process: first\r\n"), "\(head)")
        }
    }

    @Test("a download that kill -9 has cut in its second attempt continues, and no end of the first is reported")
    func retried() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([Self.busy, Self.half, Self.whole])
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/file") as String, place = place as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.interceptors = [.retrying { $0.error.statusCode == 503 ? .retry : .doNotRetry }]
            let written = Log<Int64>()
            manager.hooks.didWriteData = { _, _, bytes in written.add(bytes.total) }
            manager.downloadTransfer(HTTPRequest(address), to: .file(URL(fileURLWithPath: place))).resume()
            // The record of the first attempt goes when that of the second is on disk.
            await until { (written.entries.max() ?? 0) > 4 && BackgroundProcess.records(in: folder) == 1 }
            BackgroundProcess.die()
        }
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            await BackgroundInterceptorTests.takeOver(in: folder, place, status: 200)
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
        #expect(server.connections.count == 3)
    }

    @Test("a request that kill -9 has ended between two attempts is reported to the next process as the first left it")
    func waiting() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([Self.busy], otherwise: Self.whole)
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/file") as String, place = place as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.interceptors = [
                .retrying { _ in
                    BackgroundProcess.die()
                    return .retry
                }
            ]
            _ = await manager.downloadResponse(HTTPRequest(address), to: .file(URL(fileURLWithPath: place)))
        }
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            await BackgroundInterceptorTests.takeOver(in: folder, place, status: 503)
        }
        #expect(server.connections.count == 1 && !FileManager.default.fileExists(atPath: place))
    }

    @Test("a download whose serializer kill -9 has interrupted is at its place, and its end is reported again")
    func serialized() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([Self.whole], otherwise: Self.whole)
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/file") as String, place = place as String] in
            let manager = BackgroundProcess.manager(in: folder)
            guard let url = URL(string: address) else { return }
            let serializer = DataResponseSerializer().map { data in
                BackgroundProcess.die()
                return data
            }
            let destination = DownloadDestination.file(URL(fileURLWithPath: place))
            manager.downloadTask(with: URLRequest(url: url), to: destination, serializer: serializer) { _ in }.resume()
            await BackgroundProcess.waitForEnd()
        }
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            await BackgroundInterceptorTests.takeOver(in: folder, place, status: 200)
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
        #expect(server.connections.count == 1)
    }
}
