import Testing

@testable import UncurlSemantics

@Suite("CookieDate")
struct CookieDateTests {
    @Test(
        "a date is found in every form that servers write",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06-Nov-1994 08:49:37 GMT", "6 nov 1994 8:49:37", "08:49:37 06 November 1994", "1994 Nov 6 8:49:37",
            "Sun,06/Nov/1994 08:49:37", "nOv 6th 94x 08:49:37Z", "\t06;Nov;1994;08:49:37.5",
        ]
    )
    func forms(text: String) {
        #expect(Cookie.date(text) == 784_111_777)
    }

    @Test(
        "years of two digits lie between 1970 and 2069",
        arguments: [("70", 0), ("69", 3_124_224_000), ("00", 946_684_800), ("99", 915_148_800)] as [(String, Double)]
    )
    func shortYears(year: String, seconds: Double) {
        #expect(Cookie.date("1 Jan \(year) 00:00:00") == seconds)
    }

    @Test("leap days are, where they are")
    func leapDays() {
        #expect(Cookie.date("29 Feb 2024 00:00:00") == 1_709_164_800)
        #expect(Cookie.date("29 Feb 2000 00:00:00") == 951_782_400)
        #expect(Cookie.date("29 Feb 2023 00:00:00") == nil)
        #expect(Cookie.date("29 Feb 2100 00:00:00") == nil)
    }

    @Test("the first date there is may lie before 1970, and the last far ahead")
    func range() {
        #expect(Cookie.date("1 Jan 1601 00:00:00") == -11_644_473_600)
        #expect(Cookie.date("31 Dec 9999 23:59:59") == 253_402_300_799)
    }

    @Test(
        "what is no date is none",
        arguments: [
            "", "tomorrow", "06 Nov 1994", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37",
            "31 Apr 2024 00:00:00", "0 Jan 2024 00:00:00", "32 Jan 2024 00:00:00", "1 Jan 1600 00:00:00",
            "1 Jan 2024 24:00:00", "1 Jan 2024 00:60:00", "1 Jan 2024 00:00:60", "1 Jan 2024 000:00:00",
            "1 Jan 20245 00:00:00", "1 Jan 2024 00:00", "1 Ja 2024 00:00:00", "1 Jan 2024 a0:00:00",
            "1 Jan 2024 0x:00:00", "1 Jan 2024 24:00:00 08:49:37", "99:99:99 1 Jan 2024 08:49:37",
        ]
    )
    func noDates(text: String) {
        #expect(Cookie.date(text) == nil)
    }
}
