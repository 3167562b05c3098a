import Foundation
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlTLS

/// Certificates that made other programs read the wrong name, or work without end.
@Suite("Certificates that broke others", .ownThread, .timeLimit(.minutes(3)))
struct HostileCertificateTests {
    private let root: TestCertificate

    init() throws { root = try CertificateBuilder.authority("Root").selfSigned() }

    private static func residentBytes() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return try #require(Int(pages)) * 4_096
    }

    private func verify(
        _ chain: [TestCertificate],
        _ host: String = "a.test"
    ) throws -> Result<VerifiedChain, TLSTrustFailure> {
        PeerVerifier.verify(
            try chain.map { try Certificate(der: $0.der) },
            name: try ServerName(host),
            anchors: TrustAnchors([try Certificate(der: root.der)])
        )
    }

    @Test("a name of a type that names no host is no host's, whatever its text", arguments: ["DNS:b.test", nil])
    func otherName(beside: String?) throws {
        let names = ["otherName:1.3.6.1.4.1.311.20.2.3;UTF8:a.test", beside].compactMap(\.self)
        #expect(try verify([CertificateBuilder.server(names).issued(by: root)]).ground == "wrongHost")
    }

    @Test(
        "a wildcard stands for one whole label of any host, and for nothing else",
        arguments: [
            ("my_host.a.test", "*.a.test", true), ("_.a.test", "*.a.test", true), ("x.a_b.test", "*.a_b.test", true),
            ("X.A.test", "*.A.TEST", true), ("x_y.a.test", "X_y.a.test", true), ("-x.a.test", "*.a.test", true),
            ("a.test", "*.a.test", false), ("x.y.a.test", "*.a.test", false), ("x.test", "*.test", false),
            ("x_y.a.test", "x*.a.test", false), ("x_y.a.test", "*y.a.test", false), ("x.a.test", "x.*.test", false),
            ("x_y.a.test", "*.b.test", false), ("x_y.a.test", "*", false), ("x_y.a.test", "*.*.test", false),
            ("x_y.a.test", ".a.test", false), ("192.0.2.1", "192.0.2.1", false), ("x_y.a.test", "*.a.test.", false),
        ]
    )
    func wildcard(host: String, name: String, isNamed: Bool) throws {
        let leaf = try CertificateBuilder.server(["DNS:\(name)"]).issued(by: root)
        #expect(try verify([leaf], host).ground == (isNamed ? nil : "wrongHost"))
        let alone = PeerVerifier.nameFailure(try Certificate(der: leaf.der), try ServerName(host))
        #expect((alone == nil) == isNamed)
    }

    @Test("a URI outside the constraints of its authority refuses the certificate, though its host is inside")
    func uriConstraint() throws {
        var builder = CertificateBuilder.authority("Constrained")
        builder.nameConstraints = "critical,permitted;URI:.a.test"
        let authority = try builder.issued(by: root)
        let inside = try CertificateBuilder.server(["DNS:a.test", "URI:https://x.a.test/"]).issued(by: authority)
        let outside = try CertificateBuilder.server(["DNS:a.test", "URI:https://x.b.test/"]).issued(by: authority)
        #expect(try verify([inside, authority]).ground == nil)
        #expect(try verify([outside, authority]).ground == "nameConstraints")
    }

    @Test("two thousand names below two thousand constraints are refused, not compared each with each")
    func manyConstraints() throws {
        var builder = CertificateBuilder.authority("Constrained")
        builder.nameConstraints = (0..<2_000).map { "permitted;DNS:p\($0).test" }.joined(separator: ",")
        let authority = try builder.issued(by: root)
        let names = (0..<2_000).map { "DNS:x\($0).p\($0).test" }
        let leaf = try CertificateBuilder.server(names).issued(by: authority)
        #expect(try verify([leaf, authority], "x7.p7.test").ground != nil)
    }

    @Test("the error for a wrong host shows eight of two thousand names, and counts the others")
    func manyNames() throws {
        let leaf = try CertificateBuilder.server((0..<2_000).map { "DNS:x\($0).b.test" }).issued(by: root)
        guard case .failure(let failure) = try verify([leaf]), case .wrongHost(_, let found, let more) = failure.reason
        else {
            Issue.record("a certificate for other hosts is accepted")
            return
        }
        #expect(found == (0..<8).map { "x\($0).b.test" } && more == 1_992)
        #expect(failure.description.utf8.count < 1_000)
    }

    @Test("of many authorities of two names that sign each other, OpenSSL is asked for a path eight times at most")
    func sharedNames() throws {
        let builders = ["One", "Two"].map { name in
            var builder = CertificateBuilder.authority(name)
            (builder.hasSubjectKeyIdentifier, builder.hasAuthorityKeyIdentifier) = (false, false)
            return builder
        }
        let roots = try builders.map { builder in try (0..<4).map { _ in try builder.selfSigned() } }
        var authorities: [Certificate] = []
        for (name, builder) in builders.enumerated() {
            for own in roots[name] {
                for issuer in roots[1 - name] {
                    authorities.append(try Certificate(der: builder.issued(by: issuer, key: own.key).der))
                }
            }
        }
        var server = CertificateBuilder.server(["DNS:a.test"])
        server.hasAuthorityKeyIdentifier = false
        let leaf = try Certificate(der: server.issued(by: roots[0][0]).der)
        var search = PathSearch(
            sent: [leaf] + authorities,
            name: try ServerName("a.test"),
            anchors: TrustAnchors([try Certificate(der: root.der)]),
            policy: VerificationPolicy(),
            time: nil
        )
        guard case .failure = search.run() else {
            Issue.record("a path without an anchor is accepted")
            return
        }
        #expect(search.attemptCount == PathSearch.attemptLimit)
    }

    @Test("a key of 16,384 bits with an exponent as long verifies nothing, and costs no seconds")
    func hugeKey() throws {
        func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
        let number = der(0x02, [0] + [UInt8](repeating: 0xC5, count: 2_048))
        let algorithm: [UInt8] = [0x30, 13, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1, 5, 0]
        let key = try TestKey(publicKeyInfo: der(0x30, algorithm + der(0x03, [0] + der(0x30, number + number))))
        let authority = try CertificateBuilder.authority("Huge").issued(by: root, key: key)
        // A signature of the right size, by nobody.
        let signer = try CertificateBuilder.authority("Huge").selfSigned(TestKey(.rsa(bits: 2_048)))
        var server = CertificateBuilder.server(["DNS:a.test"])
        server.hasAuthorityKeyIdentifier = false
        #expect(try verify([server.issued(by: signer), authority]).ground == "badSignature")
    }

    @Test("600 refused handshakes leave nothing in memory")
    func refusedHandshakes() async {
        await #expect(processExitsWith: .success) {
            let fixture = try TLSFixture()
            func refuse() {
                #expect(throws: TLSError.self) { try fixture.pair(name: "other.test").run() }
            }
            for _ in 0..<100 { refuse() }
            // What is left behind shows in each round; a page that the allocator takes shows in one.
            var growth: [Int] = []
            for _ in 0..<3 {
                let before = try Self.residentBytes()
                for _ in 0..<200 { refuse() }
                growth.append(try Self.residentBytes() - before)
            }
            #expect(try #require(growth.min()) < 200 << 10, "\(growth) bytes more")
        }
    }
}
