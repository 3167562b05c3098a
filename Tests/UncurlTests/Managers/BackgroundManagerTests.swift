import FacadeTestSupport
import Foundation
import Glibc
import TestServer
import TestSupport
import Testing
import Uncurl

/// With processes of their own, which are killed.
@Suite("Background managers", .timeLimit(.minutes(2)))
struct BackgroundManagerTests {
    /// A folder of a test's own, gone with it.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "background-\(UUID().uuidString)").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Of everything below it.
        var names: [String] {
            let all = FileManager.default.enumerator(atPath: path)?.allObjects as? [String]
            return (all ?? []).map { ($0 as NSString).lastPathComponent }.sorted()
        }
    }

    private static let content = String(repeating: "0123456789", count: 2000)

    private static func head(_ status: String, _ fields: String...) -> String {
        "HTTP/1.1 \(status)\r\nETag: \"v1\"\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    private static func manager(in folder: String) -> HTTPSessionManager {
        setenv("XDG_STATE_HOME", folder, 1)
        // A child that hangs ends, and its test with it.
        alarm(60)
        let configuration = URLSessionConfiguration.background(withIdentifier: "test")
        configuration.connectionProxyDictionary = [:]
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        return HTTPSessionManager(configuration: configuration)
    }

    /// Never returns: the parent ends the process.
    private static func waitForEnd() async {
        for await _ in AsyncStream<Never>(unfolding: { await withUnsafeContinuation { _ in } }) {}
    }

    private static func die() { kill(getpid(), SIGKILL) }

    @Test(
        "a download that ended before kill -9, without a hook to take it, waits for the hook of a later process",
        .rows("U32")
    )
    func ended() async throws {
        let folder = try Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.head("200 OK", "Content-Length: 20000") + Self.content)]
        ])
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/file") as String] in
            let manager = BackgroundManagerTests.manager(in: folder)
            manager.hooks.didComplete = { _, _, _ in BackgroundManagerTests.die() }
            guard let url = URL(string: address) else { return }
            manager.session.downloadTask(with: url).resume()
            await BackgroundManagerTests.waitForEnd()
        }
        // As often as no hook asks for the file.
        for _ in 1...2 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder.path as String] in
                let manager = BackgroundManagerTests.manager(in: folder)
                manager.hooks.didComplete = { _, _, error in if error == nil { BackgroundManagerTests.die() } }
                await BackgroundManagerTests.waitForEnd()
            }
        }
        #expect(folder.names.count { $0.hasSuffix(".part") } == 1)
        // One hook after the other, with the end told in between.
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            let manager = BackgroundManagerTests.manager(in: folder)
            manager.sessionHooks.didFinishBackgroundEvents = { _ in
                if FileManager.default.fileExists(atPath: place) { exit(EXIT_SUCCESS) }
            }
            let (ends, told) = AsyncStream.makeStream(of: Void.self)
            manager.hooks.didComplete = { _, _, _ in told.yield() }
            for await _ in ends { break }
            manager.hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            await BackgroundManagerTests.waitForEnd()
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
        #expect(server.connections.count == 1)
    }

    @Test(
        "a download that kill -9 has cut goes on with the next process's manager, though no code touches its session",
        .rows("U3")
    )
    func cut() async throws {
        let folder = try Folder()
        let server = try TestServer.start()
        let address = server.url("/range/40000000")
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = address as String] in
            let manager = BackgroundManagerTests.manager(in: folder)
            manager.hooks.didWriteData = { _, _, _, total, _ in if total > 1_000_000 { BackgroundManagerTests.die() } }
            guard let url = URL(string: address) else { return }
            manager.session.downloadTask(with: url).resume()
            await BackgroundManagerTests.waitForEnd()
        }
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            let manager = BackgroundManagerTests.manager(in: folder)
            manager.hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            manager.hooks.didComplete = { _, _, error in exit(error == nil ? EXIT_SUCCESS : EXIT_FAILURE) }
            await BackgroundManagerTests.waitForEnd()
        }
        let alphabet = Data(String(repeating: "abcdefghijklmnopqrstuvwxyz", count: 40_000_000 / 26 + 1).utf8)
        #expect(FileManager.default.contents(atPath: place) == alphabet.prefix(40_000_000))
    }

    @Test("a download that cannot go to its place is kept, and goes there when it can")
    func stranded() async throws {
        let folder = try Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.head("200 OK", "Content-Length: 20000") + Self.content)]
        ])
        let place = folder.path + "/no/taken"
        await #expect(processExitsWith: .success) {
            [folder = folder.path as String, address = server.url("/file") as String, place = place as String] in
            let manager = BackgroundManagerTests.manager(in: folder)
            manager.sessionHooks.didFinishBackgroundEvents = { _ in exit(EXIT_SUCCESS) }
            manager.hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            guard let url = URL(string: address) else { return }
            manager.session.downloadTask(with: url).resume()
            await BackgroundManagerTests.waitForEnd()
        }
        try FileManager.default.createDirectory(atPath: folder.path + "/no", withIntermediateDirectories: true)
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            let manager = BackgroundManagerTests.manager(in: folder)
            manager.sessionHooks.didFinishBackgroundEvents = { _ in
                if FileManager.default.fileExists(atPath: place) { exit(EXIT_SUCCESS) }
            }
            manager.hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            await BackgroundManagerTests.waitForEnd()
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
    }
}
