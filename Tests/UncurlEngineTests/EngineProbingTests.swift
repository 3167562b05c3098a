import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlReactor
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

struct EngineProbingTests {
    private typealias Outcome = Result<ConnectionRecord, EngineError>

    private func engine(
        clock: ManualClock? = nil,
        _ change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> EngineHarness {
        var tls = TLSConfiguration()
        tls.roots = .pem(try TestCertificates.localhost.authorityPEM)
        var configuration = EngineConfiguration()
        configuration.tls = try TLSContext(tls)
        change(&configuration)
        return try EngineHarness(configuration, clock: clock)
    }

    private func server(_ change: (inout TLSServerConfiguration) -> Void = { _ in }) throws -> TestServer {
        var configuration = TLSServerConfiguration(try TestCertificates.localhost)
        change(&configuration)
        return try TestServer.start(tls: try TLSServerContext(configuration))
    }

    private func probe(_ engine: EngineHarness, _ request: EngineRequest) async -> Outcome {
        await withCheckedContinuation { told in
            engine.handle.post { engine in engine.probe(request) { told.resume(returning: $0) } }
        }
    }

    private func request(_ port: UInt16, _ scheme: Origin.Scheme = .https) throws -> EngineRequest {
        try EngineRequest(origin: Origin(scheme: scheme, host: "127.0.0.1", port: port))
    }

    @Test("a connection is opened and ended without a request, and its tickets serve the next")
    func opened() async throws {
        let (server, engine) = (try server(), try engine())
        let first = try await probe(engine, request(server.port)).get()
        let second = try await probe(engine, request(server.port)).get()
        #expect(first.security?.isResumed == false && second.security?.isResumed == true)
        #expect(server.connectionsAccepted == 2 && server.requestCount == 0)
        #expect(await engine.statistics == EngineStatistics())
    }

    @Test("without TLS it is a connect and a FIN, and with resets nothing is waited for")
    func plain() async throws {
        let plain = try TestServer.start()
        let record = try await probe(try engine(), request(plain.port, .http)).get()
        #expect(record.security == nil && plain.connectionsAccepted == 1)
        let server = try server()
        let reset = try await probe(try engine { $0.closesAbruptly = true }, request(server.port)).get()
        #expect(reset.security?.isResumed == false)
    }

    @Test("a probe fails if the connect is refused, the certificate is not trusted, or the server wants one")
    func failed() async throws {
        let engine = try engine()
        guard case .failure(.connect) = await probe(engine, try request(1)) else {
            Issue.record("connected to port 1")
            return
        }
        let stranger = try TestServer.start(
            tls: TLSServerContext(
                TLSServerConfiguration(try TestCertificates.identity(["DNS:localhost", "IP:127.0.0.1"]))
            )
        )
        guard case .failure(.tls(.untrusted)) = await probe(engine, try request(stranger.port)) else {
            Issue.record("a stranger was believed")
            return
        }
        let authority = Array(try TestCertificates.client.authorityPEM.utf8)
        let asking = try server { $0.clientCertificate = .required(authority) }
        let outcome = await probe(engine, try request(asking.port))
        #expect(throws: EngineError.tls(.alert(TLSAlert(code: 116)))) { try outcome.get() }
    }

    @Test("a peer that does not end its side is left at the limit, and the connection counts as opened")
    func silent() async throws {
        let tls = try TLSServerContext(TLSServerConfiguration(try TestCertificates.localhost))
        let server = try RawServer.start(otherwise: [.handshake(tls), .stall])
        let engine = try engine(clock: ManualClock())
        let (outcome, request) = (Word<Outcome>(), try request(server.port))
        engine.handle.post { engine in engine.probe(request) { outcome.give($0) } }
        try server.wait(for: 0, "the handshake") { $0.stepsDone >= 1 }
        await engine.passTime(by: .seconds(11)) { outcome.value != nil }
        #expect(try outcome.value?.get().security != nil)
    }

    @Test("shut down, an engine fails its probes once, those that wait and those that come")
    func shutDown() async throws {
        let tls = try TLSServerContext(TLSServerConfiguration(try TestCertificates.localhost))
        let server = try RawServer.start(otherwise: [.handshake(tls), .stall])
        let (silent, engine) = (try RawServer.start(), try engine())
        let requests = [try request(server.port), try request(silent.port)]
        let outcomes: [Outcome] = await withCheckedContinuation { told in
            engine.handle.post { engine in
                let got = Box()
                for request in requests { engine.probe(request) { got.outcomes.append($0) } }
                engine.shutdown()
                engine.probe(requests[0]) { last in told.resume(returning: got.outcomes + [last]) }
            }
        }
        #expect(outcomes.count == 3)
        for outcome in outcomes { #expect(throws: EngineError.shutDown) { try outcome.get() } }
    }

    private final class Box {
        var outcomes: [Outcome] = []
    }
}
