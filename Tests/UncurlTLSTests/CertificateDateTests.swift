import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlTLS

@Suite("CertificateDate", .ownThread)
struct CertificateDateTests {
    @Test(
        "a date reads as it is written, before 1970 and after 9999, on leap days and off them",
        arguments: [
            (0, "1970-01-01 00:00:00Z"), (-1, "1969-12-31 23:59:59Z"), (951_782_400, "2000-02-29 00:00:00Z"),
            (951_868_800, "2000-03-01 00:00:00Z"), (4_107_542_399, "2100-02-28 23:59:59Z"),
            (4_107_542_400, "2100-03-01 00:00:00Z"),
            (2_524_607_999, "2049-12-31 23:59:59Z"), (2_524_608_000, "2050-01-01 00:00:00Z"),
            (253_402_300_799, "9999-12-31 23:59:59Z"),
            (-631_152_000, "1950-01-01 00:00:00Z"), (-62_135_596_800, "1-01-01 00:00:00Z"),
        ] as [(Int64, String)]
    )
    func text(seconds: Int64, text: String) {
        #expect(CertificateDate(secondsSince1970: seconds).description == text)
    }

    /// A leaf and what a verification at this second makes of it.
    private func verdict(_ from: TestDate, _ until: TestDate, at seconds: Int64) throws -> String? {
        var authority = CertificateBuilder.authority("Root")
        authority.notBefore = .generalized("19000101000000Z")
        authority.notAfter = .generalized("99991231235959Z")
        let root = try authority.selfSigned()
        var builder = CertificateBuilder.server(["DNS:a.test"])
        (builder.notBefore, builder.notAfter) = (from, until)
        return PeerVerifier.verify(
            [try Certificate(der: try builder.issued(by: root).der)],
            name: try ServerName("a.test"),
            anchors: TrustAnchors([try Certificate(der: root.der)]),
            at: CertificateDate(secondsSince1970: seconds)
        ).ground
    }

    @Test("a certificate counts from its first second until its last, in both forms of dates and at their border")
    func limits() throws {
        let rows: [(TestDate, TestDate, Int64, Int64)] = [
            (.utc("200229000000Z"), .utc("240229235959Z"), 1_582_934_400, 1_709_251_199),
            (.utc("500101000000Z"), .utc("491231235959Z"), -631_152_000, 2_524_607_999),
            (.utc("490101000000Z"), .generalized("20500101000000Z"), 2_493_072_000, 2_524_608_000),
            (.generalized("21000228235959Z"), .generalized("21000301000000Z"), 4_107_542_399, 4_107_542_400),
            (.utc("700101000001Z"), .utc("000229120000Z"), 1, 951_825_600),
        ]
        for (from, until, first, last) in rows {
            #expect(try verdict(from, until, at: first - 1) == "notYetValid")
            #expect(try verdict(from, until, at: first) == nil)
            #expect(try verdict(from, until, at: last - 1) == nil)
            // RFC 5280 §4.1.2.5 counts this second in, OpenSSL does not.
            #expect(try verdict(from, until, at: last) == "expired")
        }
    }

    @Test(
        "a date that is none is no date: the certificate is refused",
        arguments: [
            .utc("990229000000Z"), .utc("201301000000Z"), .utc("2001010000Z"), .utc("200101000000"),
            .utc("20010100000aZ"),
            .utc("200101246060Z"), .generalized("20200101000000.5Z"), .generalized("20200101000000+0100"),
            .generalized("2020010100000Z"), .utc(""),
        ] as [TestDate]
    )
    func malformed(date: TestDate) throws {
        let (past, future) = (TestDate.utc("200101000000Z"), TestDate.utc("400101000000Z"))
        #expect(try verdict(past, future, at: 1_900_000_000) == nil)
        for (from, until) in [(date, future), (past, date)] {
            do {
                #expect(try verdict(from, until, at: 1_900_000_000) == "unreadableDate")
            } catch let error as CertificateError {
                // OpenSSL 3.5 already refuses to read the certificate.
                #expect("\(error)".contains("cannot be read"))
            }
        }
    }
}
