import CertificateTestSupport
import Testing
import UncurlEngine
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

/// Every rule of a certificate check, through real sockets: the engine against a server of its own for each case.
@Suite("Certificate matrix, by the engine", .timeLimit(.minutes(5)))
struct CertificateMatrixTests {
    @Test("the engine fetches from the servers that prove their name, and refuses the others for the stated reason")
    func engine() async throws {
        for one in try CertificateMatrix.cases() {
            let server = try TestServer.start(tls: TLSServerContext(one.server(.v1_3)))
            defer { server.stop() }
            var configuration = EngineConfiguration()
            configuration.tls = try TLSContext(one.client)
            let engine = try EngineHarness(configuration)
            var options = EngineRequest.Options()
            options.endpoint = .address(server.address)
            let host = one.host.filter { $0 != "[" && $0 != "]" }
            let request = try EngineRequest(
                origin: Origin(scheme: .https, host: host, port: 443),
                target: "/status/204",
                options: options
            )
            let recorded = await engine.run(request)
            switch recorded.error {
            case nil: #expect(one.ground == nil && recorded.status == 204, "\(one): \(recorded.status ?? 0)")
            case .tls(.untrusted(let failure)): #expect(one.isMet(by: failure), "\(one): \(failure)")
            case let error?: Issue.record("\(one): \(error)")
            }
        }
    }
}
