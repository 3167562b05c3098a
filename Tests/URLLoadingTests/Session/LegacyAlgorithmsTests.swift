import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

@Suite("Old algorithms of TLS", .timeLimit(.minutes(5)))
struct LegacyAlgorithmsTests {
    private final class Trusting: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
            return (.useCredential, URLCredential(trust: trust))
        }
    }

    @Test("only a session that allows it connects to a server with static RSA alone")
    func staticRSA() async throws {
        var secure = TLSServerConfiguration(try TestCertificates.identity(["DNS:localhost"], kind: .rsa(bits: 2_048)))
        secure.maximumVersion = .v1_2
        secure.ciphers = "AES128-GCM-SHA256"
        let server = try TestServer.start(tls: TLSServerContext(secure))
        let address = try url("https://localhost:\(server.port)/bytes/10")
        for isAllowed in [false, true, false] {
            let configuration = URLSessionConfiguration.isolated
            configuration.tlsAllowsLegacyAlgorithms = isAllowed
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            if isAllowed {
                #expect(try await session.data(from: address, delegate: Trusting()).0.count == 10)
            } else {
                await #expect(throws: URLError.self) { try await session.data(from: address, delegate: Trusting()) }
            }
        }
    }
}
