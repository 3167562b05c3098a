import CertificateTestSupport
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

/// The same cases as the verifier's, each served by a session of ours to a session of ours.
@Suite("Certificate matrix, live", .ownThread)
struct LiveMatrixTests {
    private func pair(_ one: CertificateCase, _ version: TLSVersion) throws -> MemoryPair {
        let context = try TLSContext(one.client)
        try _ = context.trust.load().get()
        return try MemoryPair(context, TLSServerContext(one.server(version)), name: one.host)
    }

    @Test("a handshake decides every case as stated, in both versions of TLS", arguments: TLSVersion.allCases)
    func handshakes(version: TLSVersion) throws {
        for one in try CertificateMatrix.cases() {
            let pair = try pair(one, version)
            do {
                try pair.run()
                #expect(one.ground == nil, "\(one) was accepted")
                let info = try #require(pair.client.info)
                #expect(info.chain?.leafSHA256.count == 32)
                #expect(info.applicationProtocol == (one.serving == .withoutALPN ? nil : "http/1.1"))
            } catch TLSError.untrusted(let failure) {
                #expect(one.isMet(by: failure), "\(one): \(failure)")
            } catch {
                Issue.record("\(one): \(error)")
            }
        }
    }

    @Test("without verification every case connects, and pins are all that counts")
    func insecure() throws {
        for one in try CertificateMatrix.cases() {
            let leaf = CertificateFacts(try Certificate(der: one.chain[0].der))
            var client = TLSConfiguration()
            client.verifiesServers = false
            client.policy.pins = [try Pin(sha256: leaf.spkiSHA256)]
            let server = try TLSServerContext(one.server(.v1_3))
            let good = try MemoryPair(TLSContext(client), server, name: one.host)
            #expect(throws: Never.self, "\(one)") { try good.run() }
            #expect(good.client.info?.chain?.leafSHA256 == leaf.sha256)
            client.policy.pins = [try Pin(sha256: leaf.sha256)]
            let bad = try MemoryPair(TLSContext(client), server, name: one.host)
            #expect { try bad.run() } throws: { error in
                if case TLSError.untrusted(let failure) = error, case .pinMismatch = failure.reason {
                    true
                } else {
                    false
                }
            }
        }
    }

    @Test(
        "a peer that is refused gets the alert of the reason",
        arguments: [
            ("expired", 45), ("wrong host", 42), ("revoked", 44), ("untrusted root, sent", 48), ("no staple", 113),
        ] as [(String, UInt8)]
    )
    func alerts(name: String, code: UInt8) throws {
        let one = try #require(try CertificateMatrix.cases().first { $0.name == name })
        let pair = try pair(one, .v1_3)
        #expect(throws: TLSError.self) { try pair.run() }
        #expect(throws: TLSError.alert(TLSAlert(code: code))) { while true { try pair.stepServer() } }
    }
}
