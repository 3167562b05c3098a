import TLS
import TestServer
import Testing

/// Every rule of a certificate check, by the verifier as a function.
@Suite("Certificate matrix")
struct CertificateMatrixTests {
    @Test("every case comes out as stated")
    func function() throws {
        let cases = try CertificateMatrix.cases()
        #expect(cases.count >= 40)
        #expect(Set(cases.map(\.name)).count == cases.count)
        for one in cases {
            let chain = try one.chain.map { try Certificate(der: $0.der) }
            let verdict = PeerVerifier.verify(
                chain,
                name: try ServerName(one.host),
                anchors: TrustAnchors(try one.roots.map { try Certificate(der: $0.der) }),
                policy: try one.policy,
                stapledResponse: one.stapledResponse
            )
            #expect(verdict.ground == one.ground?.rawValue, "\(one): \(verdict)")
            if case .success(let chain) = verdict { #expect(chain.spkiSHA256.count >= 1) }
        }
    }

    @Test("a failure says in words what is wrong, with the names found and the certificate it is about")
    func words() throws {
        var found: [String: String] = [:]
        for one in try CertificateMatrix.cases() {
            let chain = try one.chain.map { try Certificate(der: $0.der) }
            let verdict = PeerVerifier.verify(
                chain,
                name: try ServerName(one.host),
                anchors: TrustAnchors(try one.roots.map { try Certificate(der: $0.der) }),
                policy: try one.policy,
                stapledResponse: one.stapledResponse
            )
            if case .failure(let failure) = verdict { found[one.name] = failure.description }
        }
        #expect(found["wrong host"] == "the certificate is for b.test, not for a.test (CN=b.test)")
        #expect(found["expired"] == "the certificate expired on 2020-09-13 12:26:40Z (CN=a.test)")
        #expect(
            found["expired intermediate"]
                == "the certificate expired on 2020-09-13 12:26:40Z (CN=Old Intermediate, number 1 above the server's)"
        )
        #expect(
            found["incomplete chain"]
                == "the chain is incomplete: the peer sent no certificate of the issuer CN=Intermediate (CN=a.test)"
        )
        #expect(found["no names but the common one"]?.hasPrefix("the certificate names no host") == true)
    }
}

extension Result where Success == VerifiedChain, Failure == TrustFailure {
    /// The reason's bare name, as ``CertificateCase/Ground`` has it; nil for success.
    var ground: String? {
        guard case .failure(let failure) = self else { return nil }
        return String("\(failure.reason)".prefix { $0 != "(" })
    }
}
