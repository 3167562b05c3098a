import ScriptedPeer
import Synchronization
import Uncurl
import UncurlEngine
// What the pages' blocks of code speak of without declaring it, and a server that answers every request.
import UncurlHTTP1
import UncurlReactor

struct User: Codable, Sendable { var name = "Ada" }
struct Answer: Codable, Sendable {}

final class Given: Sendable {
    private let server: RawServer
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("articles-\(UUID().uuidString)")
    let failures = Mutex<[String]>([])

    init() {
        let content = "{\"name\": \"Ada\"}"
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
        let answer = "\(head)Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
        do {
            server = try RawServer.start([], otherwise: [.receive(.headEnd), .send(answer), .finish])
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("photo".utf8).write(to: photo)
        } catch {
            print("given.swift: no server for the blocks: \(error)")
            exit(1)
        }
    }

    var base: String { server.url("") }
    var photo: URL { folder.appendingPathComponent("photo.png") }
    var place: URL { folder.appendingPathComponent("place") }
    var url: URL { URL(string: base + "/x")! }

    /// Its requests' failures are the program's, but for what a block cancels.
    func manager() -> HTTPSessionManager {
        let manager = HTTPSessionManager(baseURL: URL(string: base + "/v1"))
        manager.monitors = [
            ClosureEventMonitor { event in
                guard case .finished(_, let error?, _) = event.kind, !error.isCancelled else { return }
                given.failures.withLock { $0.append(error.localizedDescription) }
            }
        ]
        return manager
    }
}

let given = Given()

/// Stops its loop when the exchange is over.
final class Printer: ExchangeDelegate {
    private let loop: EventLoop
    init(stopping loop: EventLoop) { self.loop = loop }
    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {}
    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {}
    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        if case .completed = outcome {} else { given.failures.withLock { $0.append("\(outcome)") } }
        loop.stop()
    }
}
