import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

@Suite("Rate", .ownThread)
struct RateTests {
    @Test(
        "a rate is read with its unit, and kept exactly",
        arguments: [
            ("1000", 1_000.0), ("2.5k", 2_500), ("2.5k/s", 2_500), ("0.2", 0.2), ("90/m", 1.5),
            ("100/h", 100.0 / 3_600),
            ("1M", 1e6), ("1e3", 1_000), ("1.5e-1k", 150), ("0.0000001", 1e-7), ("0.000001/h", 1e-6 / 3_600),
            ("1G", 1e9),
        ] as [(String, Double)]
    )
    func read(text: String, perSecond: Double) throws {
        #expect(try Rate(text, for: "--rate").perSecond == perSecond)
    }

    @Test(
        "a malformed rate is refused with a reason",
        arguments: ["", "x", "1..2", "1.2.3", "-1", "1/d", "0", "1e-11", "1.", ".5", "2G", "1 k"]
    )
    func refused(text: String) {
        #expect(throws: UsageError.self) { try Rate(text, for: "--rate") }
    }

    @Test(
        "a rate that is no whole number of millionths prints as the nearest of these, or with nine digits",
        arguments: [("100/h", "0.027778/s"), ("100/m", "1.666667/s"), ("1e-7", "0.000000100/s")]
            + [("0.9999999", "0.999999900/s"), ("1.0000001", "1.000000100/s")]
    )
    func rounded(text: String, printed: String) throws {
        #expect(try Rate(text, for: "--rate").description == printed)
    }

    @Test("a rate prints as it would be typed", arguments: ["1000/s", "0.25/s", "1.5/s", "2500/s"])
    func printed(text: String) throws {
        #expect(try Rate(text, for: "--rate").description == text)
    }
}
