import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

/// The same as ``TortureTests``, through TLS: handshakes, tickets, alerts and close_notify meet the faults too.
@Suite("Every system call of https fails once", .ownThread, .serialized, .timeLimit(.minutes(5)))
struct SecureTortureTests {
    /// One of each kind: ours, the peer's, and two that are no errors. A GET meets them all.
    static let few: [Errno] = [.outOfMemory, .connectionReset, .wouldBlock, .interrupted]

    private let server: TestServer
    private let origin: Origin
    private let identity: TestCertificates.Identity

    init() throws {
        // An authority of its own: its store is read anew, by the very first handshake.
        identity = try TestCertificates.identity(["DNS:\(Torture.host)"])
        server = try TestServer.start(tls: try TLSServerContext(TLSServerConfiguration(certificate: .init(identity))))
        origin = try Origin(scheme: .https, host: Torture.host, port: server.port)
    }

    private func context(_ version: TLSVersion = .v1_3) throws -> TLSContext {
        var configuration = TLSConfiguration()
        configuration.maximumVersion = version
        configuration.roots = .pem(identity.authorityPEM)
        return try TLSContext(configuration)
    }

    /// - Parameter least: calls that the task makes at least; fewer would mean that the plan was not asked. Some below what it makes
    ///   mostly: what the peer has sent by then needs no wait, and comes in one read or in two.
    private func torture(
        _ errno: Errno,
        least: Int,
        _ version: TLSVersion = .v1_3,
        _ task: @escaping Torture.Task
    )
        async throws
    {
        let calls = try await Torture(tls: try context(version), task: task).run(failing: errno)
        #expect(calls >= least)
        server.stop()
    }

    @Test("a GET", arguments: TortureTests.errnos, [TLSVersion.v1_2, .v1_3])
    func get(errno: Errno, version: TLSVersion) async throws {
        let request = try EngineRequest(origin: origin, target: "/get")
        try await torture(errno, least: 20, version) { [await $0.run(request)] }
    }

    @Test("a POST with a body, and its echo", arguments: SecureTortureTests.few)
    func post(errno: Errno) async throws {
        let body = [UInt8](repeating: 0x61, count: 300_000)
        let request = try EngineRequest(method: "POST", origin: origin, target: "/echo", body: .bytes(body))
        try await torture(errno, least: 30) { [await $0.run(request)] }
    }

    @Test("two connections, of which the later one resumes the session", arguments: SecureTortureTests.few)
    func resumed(errno: Errno) async throws {
        var fields = HTTPFields()
        try fields.append("Connection", "close")
        let request = try EngineRequest(origin: origin, target: "/stream/5", fields: fields)
        try await torture(errno, least: 40) { engine in
            var results: [Recorded] = []
            for _ in 0..<2 { results.append(await engine.run(request)) }
            return results
        }
    }

    @Test("a streamed upload with pauses of its source, its echo paused", arguments: SecureTortureTests.few)
    func upload(errno: Errno) async throws {
        let request = try EngineRequest(
            method: "POST",
            origin: origin,
            target: "/echo",
            body: .stream(length: nil, replayable: false)
        )
        let part = [UInt8](repeating: 0x62, count: 60_000)
        try await torture(errno, least: 30) { engine in
            let result = await engine.run(request) {
                var left: [BodyPart] = [.bytes(part), .later, .bytes(part), .end(trailers: nil)]
                $0.onNeedsBody = { recorder, _ in
                    let next = left.removeFirst()
                    if case .later = next, let id = recorder.id { recorder.engine.bodyReady(id) }
                    return next
                }
                $0.pauseAtFirstBytes(counting: Counter())
                let pause = $0.onBytes
                $0.onBytes = { recorder, count in
                    pause?(recorder, count)
                    guard let id = recorder.id else { return }
                    recorder.engine.handle.post { $0.handle.post { $0.resume(id) } }
                }
            }
            return [result]
        }
    }
}
