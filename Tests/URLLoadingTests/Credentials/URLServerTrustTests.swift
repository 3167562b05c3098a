import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

@Suite("URLServerTrust")
struct URLServerTrustTests {
    private let made: TestCertificates.Identity

    init() throws { made = try TestCertificates.localhost }

    private func trust(_ host: String, roots: Bool = true) throws -> URLServerTrust {
        let sent = [try Certificate(der: made.leaf.der)]
        let name = try ServerName(host)
        let anchors = TrustAnchors(roots ? [try Certificate(der: made.authority.der)] : [])
        let verdict = PeerVerifier.verify(sent, name: name, anchors: anchors)
        let presented = try PeerVerifier.verify(
            sent,
            name: nil,
            anchors: TrustAnchors([Certificate(der: made.authority.der)])
        ).get()
        return URLServerTrust(PeerTrust(name: name, sent: sent, verdict: verdict, presented: presented))
    }

    @Test("it tells the expected host and the certificates that were sent")
    func facts() throws {
        let trust = try trust("localhost")
        #expect(trust.host == "localhost" && trust.certificates == [Data(made.leaf.der)] && trust.subjects.count == 1)
        #expect(trust.publicKeySHA256.map(\.count) == [32] && trust.stapledResponse == nil)
        #expect(try trust == self.trust("localhost") && trust != self.trust("127.0.0.1"))
        #expect(URLCredential(trust: trust).persistence == .none)
    }

    @Test("the session's verdict is an error with its reason in words")
    func verdict() throws {
        try trust("localhost").evaluate()
        #expect { try trust("elsewhere.example").evaluate() } throws: { error in
            let error = error as? URLError
            let reason = error?.userInfo[NSUnderlyingErrorKey] as? NSError
            return error?.code == .serverCertificateUntrusted
                && reason?.localizedDescription.contains("elsewhere.example") == true
        }
        #expect { try trust("localhost", roots: false).evaluate() } throws: {
            ($0 as? URLError)?.code == .serverCertificateHasUnknownRoot
        }
    }

    @Test("it can be evaluated with other anchors, and for other hosts")
    func otherRules() throws {
        let authority = Data(made.authority.der)
        try trust("localhost", roots: false).evaluate(anchors: [authority])
        try trust("elsewhere.example").evaluate(anchors: [authority], validatesHost: false)
        #expect(throws: URLError.self) { try trust("elsewhere.example").evaluate(anchors: [authority]) }
        #expect(throws: URLError.self) { try trust("localhost").evaluate(anchors: []) }
        #expect(throws: URLError.self) { try trust("localhost").evaluate(anchors: [Data([1])]) }
        #expect(throws: URLError.self) { try trust("localhost").evaluate(anchors: nil) }
    }

    @Test("faults of dates, roots and other things have Darwin's error codes")
    func codes() {
        let date = CertificateDate(secondsSince1970: 0)
        #expect(URLError.Code(.expired(since: date)) == .serverCertificateHasBadDate)
        #expect(URLError.Code(.notYetValid(until: date)) == .serverCertificateNotYetValid)
        #expect(URLError.Code(.selfSigned) == .serverCertificateHasUnknownRoot)
        #expect(URLError.Code(.revoked) == .serverCertificateUntrusted)
        #expect(URLError.Code(.noCertificate) == .secureConnectionFailed)
    }
}
