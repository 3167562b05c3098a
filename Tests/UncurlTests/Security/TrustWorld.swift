import URLLoading
import UncurlTLS
import UncurlTestServer

@testable import Uncurl

/// A small public-key infrastructure: an authority, an intermediate, a server's certificates, and foreign ones.
struct TrustWorld {
    static let made = Result { try TrustWorld() }

    let root: TestCertificate
    let intermediate: TestCertificate
    /// For `a.test`, by the intermediate.
    let leaf: TestCertificate
    /// The same key and name, a later certificate.
    let renewed: TestCertificate
    let expired: TestCertificate
    /// For `a.test`, by itself.
    let selfSigned: TestCertificate
    let otherRoot: TestCertificate
    /// For `a.test`, by the other root.
    let otherLeaf: TestCertificate
    let clientOnly: TestCertificate

    private init() throws {
        root = try CertificateBuilder.authority("Root").selfSigned()
        intermediate = try CertificateBuilder.authority("Intermediate").issued(by: root)
        let key = try TestKey()
        leaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: intermediate, key: key)
        var later = CertificateBuilder.server(["DNS:a.test"])
        later.serial = 7
        renewed = try later.issued(by: intermediate, key: key)
        var old = CertificateBuilder.server(["DNS:a.test"])
        old.notAfter = .unix(1_600_000_000)
        expired = try old.issued(by: intermediate)
        selfSigned = try CertificateBuilder.server(["DNS:a.test"]).selfSigned()
        otherRoot = try CertificateBuilder.authority("Other Root").selfSigned()
        otherLeaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: otherRoot)
        var client = CertificateBuilder.client("a.test")
        client.alternativeNames = ["DNS:a.test"]
        clientOnly = try client.issued(by: intermediate)
    }

    /// The trust of a server with this chain, judged by a session with these roots.
    func trust(
        _ chain: [TestCertificate],
        host: String = "a.test",
        roots: [TestCertificate]? = nil
    ) throws
        -> URLServerTrust
    {
        let sent = try chain.map { try Certificate(der: $0.der) }
        let name = try ServerName(host)
        let anchors = TrustAnchors(try (roots ?? [root]).map { try Certificate(der: $0.der) })
        return URLServerTrust(
            PeerTrust(
                name: name,
                sent: sent,
                verdict: PeerVerifier.verify(sent, name: name, anchors: anchors),
                presented: PeerVerifier.linked(sent)
            )
        )
    }

    func held(_ certificate: TestCertificate) throws -> TrustedCertificate {
        try TrustedCertificate(der: Data(certificate.der))
    }
}

extension ServerTrustEvaluator {
    /// The name of the reason; nil where the server is trusted.
    func ground(_ trust: URLServerTrust, host: String = "a.test") -> String? {
        do throws(Uncurl.TrustFailure) {
            try evaluate(trust, host: host)
            return nil
        } catch {
            return String("\(error.reason)".prefix { $0 != "(" })
        }
    }
}
