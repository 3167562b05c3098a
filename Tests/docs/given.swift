import ScriptedPeer
import Synchronization
import Uncurl
import UncurlEngine
// What the pages' blocks of code speak of without declaring it, and the servers that their requests go to.
import UncurlHTTP1
import UncurlReactor
import UncurlTLS
import UncurlTestServer

struct User: Codable, Sendable { var name = "Ada" }
struct Answer: Codable, Sendable {}
struct Photo: Codable, Sendable {}

final class Given: Sendable {
    private let plain: RawServer
    private let secure: RawServer
    private let httpbin: TestServer
    private let ofEvents = Mutex<[RawServer]>([])
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("articles-\(UUID().uuidString)")
    let failures = Mutex<[String]>([])

    init() {
        do {
            let user: [RawStep] = [
                .receive(.headEnd), .send(Self.response("application/json", #"{"name": "Ada"}"#)), .finish,
            ]
            plain = try RawServer.start([], otherwise: RawScript(user))
            let identity = try TestCertificates.localhost
            let context = try TLSServerContext(TLSServerConfiguration(identity))
            secure = try RawServer.start([], otherwise: RawScript(user).secured(by: context))
            httpbin = try TestServer.start()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("photo".utf8).write(to: photo)
            try write(identity, TestCertificates.client)
        } catch {
            print("given.swift: no servers for the blocks: \(error)")
            exit(1)
        }
    }

    /// The files of certificates and keys that pages name.
    private func write(_ server: TestCertificates.Identity, _ client: TestCertificates.Identity) throws {
        let texts = [
            "company.pem": server.authorityPEM, "server.pem": server.chainPEM, "server-key.pem": server.keyPEM,
            "client.pem": client.chainPEM, "client-key.pem": client.keyPEM,
        ]
        for (name, text) in texts { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
        try Data(server.authority.der).write(to: folder.appendingPathComponent("company.der"))
    }

    private static func response(_ type: String, _ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// Every request gets a user in JSON.
    var base: String { plain.url("") }
    /// The same over TLS, with a certificate that `company.pem` has signed.
    var secureBase: String { secure.secureURL("") }
    /// httpbin's routes.
    var routes: String { httpbin.url("") }
    var photo: URL { folder.appendingPathComponent("photo.png") }
    var place: URL { folder.appendingPathComponent("place") }
    var url: URL { URL(string: base + "/x")! }

    /// Its requests' failures are the program's, but for what a block cancels.
    func manager() -> HTTPSessionManager { manager(of: base + "/v1") }

    func manager(of base: String) -> HTTPSessionManager {
        let manager = HTTPSessionManager(baseURL: URL(string: base))
        manager.monitors = [
            ClosureEventMonitor { event in
                guard case .finished(_, let error?, _) = event.kind, !error.isCancelled else { return }
                given.failures.withLock { $0.append(error.localizedDescription) }
            }
        ]
        return manager
    }

    /// Its server sends two events to the first request, and says to the next one that there are no more.
    func managerOfEvents() throws -> HTTPSessionManager {
        let events = Self.response("text/event-stream", "event: tick\ndata: 1\n\nevent: tick\ndata: 2\n\n")
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(events), .finish]],
            otherwise: [.receive(.headEnd), .send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), .finish]
        )
        ofEvents.withLock { $0.append(server) }
        return manager(of: server.url(""))
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
