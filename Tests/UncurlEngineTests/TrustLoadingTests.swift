import Foundation
import Glibc
import TestSupport
import Testing
import UncurlHTTP1
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

@Suite("Loading the trust store")
struct TrustLoadingTests {
    /// A store that takes as long to load as the test wants: a pipe by name, read to its end.
    private final class SlowRoots {
        let path = NSTemporaryDirectory() + "uncurl-roots-\(UUID().uuidString)"

        init() throws { try #require(mkfifo(path, 0o600) == 0) }

        deinit { unlink(path) }

        func provide(_ text: String) {
            guard let file = fopen(path, "w") else { return }
            fputs(text, file)
            fclose(file)
        }
    }

    @Test("the handshake is under way before the store is there, which is read once for all that wait for it")
    func overlaps() async throws {
        let identity = try TestCertificates.localhost
        let server = try TestServer.start(
            tls: try TLSServerContext(
                TLSServerConfiguration(
                    certificate: .init(chain: bytes(identity.chainPEM), key: bytes(identity.keyPEM))
                )
            )
        )
        let roots = try SlowRoots()
        var security = TLSConfiguration()
        security.roots = .file(roots.path)
        var configuration = EngineConfiguration()
        configuration.tls = try TLSContext(security)
        // The roots come when this test's turn comes, among all others'.
        configuration.timeouts.connect = nil
        let engine = try EngineHarness(configuration)
        let request = try EngineRequest(
            origin: Origin(scheme: .https, host: "127.0.0.1", port: server.port),
            target: "/get"
        )
        let waiting = Counter()
        await engine.onLoop { $0.observer = { if case .awaitingRoots = $0 { waiting.add() } } }
        var pending: [Pending] = []
        for _ in 0..<4 { pending.append(await engine.begin(request)) }
        // Each server's first flight has come, and each connection now waits for the roots alone.
        await waiting.reaches(4)
        #expect(server.bytesReceived > 0 && server.requestCount == 0)
        // Read a second time, the pipe would never end.
        roots.provide(identity.authorityPEM)
        for exchange in pending { #expect(await exchange.outcome().succeeded) }
        #expect(await engine.run(request).succeeded)
    }
}
