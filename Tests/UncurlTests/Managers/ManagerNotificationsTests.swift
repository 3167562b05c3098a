import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Notifications", .timeLimit(.minutes(5)))
struct ManagerNotificationsTests {
    private let server: TestServer
    private let center = NotificationCenter()
    private let log = Log<Note>()

    struct Note: Sendable {
        let name: Notification.Name
        let keys: Set<String>
        let isData: Bool
        let status: UncurlError?
    }

    init() throws { server = try TestServer.start() }

    private func observe(_ names: [Notification.Name]) -> [any NSObjectProtocol] {
        names.map { name in
            center.addObserver(forName: name, object: nil, queue: nil) { [log] note in
                let facts = note.userInfo ?? [:]
                log.add(
                    Note(
                        name: note.name,
                        keys: Set(facts.keys.compactMap { $0 as? String }),
                        isData: facts[URLSessionManager.responseDataKey] is Data,
                        status: facts[URLSessionManager.errorKey] as? UncurlError
                    )
                )
            }
        }
    }

    @Test(
        "each resume, suspend and end of a task posts one notification with AFNetworking's name",
        .rows("U18", "A19")
    )
    func names() async {
        let tokens = observe([
            Notification.Name("com.alamofire.networking.task.resume"),
            Notification.Name("com.alamofire.networking.task.suspend"),
            Notification.Name("com.alamofire.networking.task.complete"),
        ])
        defer { tokens.forEach(center.removeObserver) }
        let manager = server.manager(center: center)
        // Nothing ends it but its cancellation: on a busy machine an answer may come between two of these calls.
        let task = manager.dataTask(with: URLRequest(url: server.location("/never")), serializer: .data) { _ in }
        task.resume()
        task.resume()
        task.suspend()
        task.suspend()
        task.resume()
        task.resume()
        task.cancel()
        await log.wait(for: 4)
        #expect(
            log.entries.map(\.name.rawValue) == [
                "com.alamofire.networking.task.resume", "com.alamofire.networking.task.suspend",
                "com.alamofire.networking.task.resume", "com.alamofire.networking.task.complete",
            ]
        )
    }

    @Test(
        "the end carries serializer, data and value, or the error, or a download's place",
        .rows("U19")
    )
    func facts() async throws {
        let tokens = observe([URLSessionManager.taskDidComplete])
        defer { tokens.forEach(center.removeObserver) }
        let manager = server.manager(center: center)
        _ = await manager.response(to: HTTPRequest("bytes/10"), serializer: .data)
        _ = await manager.response(to: HTTPRequest("status/500"), serializer: .data)
        let file = await manager.downloadResponse(HTTPRequest("bytes/10")).value
        try FileManager.default.removeItem(at: #require(file))
        await log.wait(for: 3)
        let notes = log.entries
        #expect(
            notes[0].keys == [
                "com.alamofire.networking.task.complete.responseserializer",
                "com.alamofire.networking.complete.finish.responsedata",
                "com.alamofire.networking.task.complete.serializedresponse",
            ]
        )
        #expect(notes[0].isData)
        guard case .validation(let failure)? = notes[1].status else {
            Issue.record("\(notes[1])")
            return
        }
        #expect(failure.status == 500)
        #expect(notes[2].keys.contains("com.alamofire.networking.task.complete.assetpath"))
        #expect(!notes[2].isData)
    }

    @Test("collected metrics are reported once, before the end", .rows("U19", "A18", "B4", "D27"))
    func metrics() async {
        let tokens = observe([URLSessionManager.taskDidComplete])
        defer { tokens.forEach(center.removeObserver) }
        let manager = server.manager(center: center)
        manager.collectsMetrics = true
        let told = Log<Int>()
        manager.hooks.didFinishCollectingMetrics = { _, _, metrics in told.add(metrics.transactionMetrics.count) }
        let response = await manager.response(to: HTTPRequest("redirect/1"), serializer: .data)
        #expect(response.metrics?.transactionMetrics.count == 2)
        #expect(told.entries == [2])
        #expect(log.entries[0].keys.contains("com.alamofire.networking.complete.sessiontaskmetrics"))
    }

    @Test(
        "a move posts a notification either way, and a failed one is the response's failure",
        .rows("U18", "U24", "A3", "D9")
    )
    func moves() async throws {
        let tokens = observe([
            URLSessionManager.downloadTaskDidMoveFile, URLSessionManager.downloadTaskDidFailToMoveFile,
        ])
        defer { tokens.forEach(center.removeObserver) }
        let manager = server.manager(center: center)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = folder.appendingPathComponent("deep/file")
        let moved = await manager.downloadResponse(HTTPRequest("bytes/10"), to: .file(place))
        #expect(moved.value == place)
        #expect(try Data(contentsOf: place).count == 10)
        let refused = await manager.downloadResponse(
            HTTPRequest("bytes/10"),
            to: DownloadDestination { _, _ in place }
        )
        guard case .failure(.file(let failure)) = refused.result else {
            Issue.record("\(refused.result)")
            return
        }
        #expect(failure.destination == place)
        #expect(FileManager.default.fileExists(atPath: failure.source.path))
        try FileManager.default.removeItem(at: failure.source)
        #expect(
            log.entries.map(\.name) == [
                URLSessionManager.downloadTaskDidMoveFile, URLSessionManager.downloadTaskDidFailToMoveFile,
            ]
        )
    }
}
