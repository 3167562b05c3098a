import CertificateTestSupport
import Dispatch
import Synchronization
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

/// Every rule of a certificate check, by the verifier as a function.
@Suite("Certificate matrix", .ownThread)
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

    @Test("threads may verify against the same roots at once")
    func threads() throws {
        let cases = try CertificateMatrix.cases().prefix(12)
        let chains = try cases.map { one in try one.chain.map { try Certificate(der: $0.der) } }
        let anchors = TrustAnchors(try cases[0].roots.map { try Certificate(der: $0.der) })
        let name = try ServerName("a.test")
        let accepted = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for chain in chains {
                if case .success = PeerVerifier.verify(chain, name: name, anchors: anchors) {
                    accepted.withLock { $0 += 1 }
                }
            }
        }
        let alone = chains.count { PeerVerifier.verify($0, name: name, anchors: anchors).ground == nil }
        #expect(alone > 5 && accepted.withLock { $0 } == 8 * alone)
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
        #expect(
            found["an address as a host name"]
                == "the certificate is for DNS:192.0.2.1, not for the address 192.0.2.1 (CN=192.0.2.1)"
        )
        #expect(
            found["another address"] == "the certificate is for 192.0.2.2, not for the address 192.0.2.1 (CN=192.0.2.2)"
        )
        for words in found.values {
            let names = words.split(separator: ", not for ")
            #expect(names.count < 2 || !names[1].hasPrefix(names[0].split(separator: " ").last ?? "?"), "\(words)")
        }
        #expect(found["no names but the common one"]?.hasPrefix("the certificate names no host") == true)
    }
}

extension Result where Success == VerifiedChain, Failure == TLSTrustFailure {
    /// The reason's bare name, as ``CertificateCase/Ground`` has it; nil for success.
    var ground: String? {
        guard case .failure(let failure) = self else { return nil }
        return String("\(failure.reason)".prefix { $0 != "(" })
    }
}
