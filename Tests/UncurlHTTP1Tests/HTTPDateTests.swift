import Testing
import UncurlHTTP1

@Suite struct HTTPDateTests {
    private let now: Int64 = 1_767_323_045

    private func parse(_ text: String) -> Int64? {
        let input = octets(text)
        return HTTPDate.parse(input.span, now: now)
    }

    @Test(
        "the three forms of RFC 9110 name the same second",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ]
    )
    func forms(text: String) {
        #expect(parse(text) == 784_111_777)
    }

    @Test(
        "names of days, months and the zone may come in any case",
        arguments: [
            "sun, 06 nov 1994 08:49:37 gmt", "SUN, 06 NOV 1994 08:49:37 GMT", "SUNDAY, 06-NOV-94 08:49:37 gmt",
            "sUN nOV  6 08:49:37 1994",
        ]
    )
    func cases(text: String) {
        #expect(parse(text) == 784_111_777)
    }

    @Test(
        "what is no date is none",
        arguments: [
            "", "Sun", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994", "Sunday, 06-Nov-1994 08:49:37 GMT", "784111777", "Sun, 29 Feb 2023 00:00:00 GMT",
        ]
    )
    func none(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("a two-digit year more than fifty years ahead is in the past")
    func century() {
        #expect(parse("Sunday, 06-Nov-76 08:49:37 GMT").map { $0 > now } == true)
        #expect(parse("Sunday, 06-Nov-77 08:49:37 GMT").map { $0 < now } == true)
    }

    @Test("a date is written as it is read, over all of the four-digit years")
    func roundTrip() {
        for seconds in stride(from: Int64(-62_167_219_200), through: 253_402_300_799, by: 86_400 * 1009 + 12_345) {
            var bytes: [UInt8] = []
            HTTPDate.append(seconds, to: &bytes)
            #expect(bytes.count == 29 && HTTPDate.parse(bytes.span, now: now) == seconds)
        }
        var bytes: [UInt8] = []
        HTTPDate.append(784_111_777, to: &bytes)
        #expect(bytes == octets("Sun, 06 Nov 1994 08:49:37 GMT"))
        HTTPDate.append(.max, to: &bytes)
        HTTPDate.append(.min, to: &bytes)
        #expect(bytes.suffix(58) == octets("Fri, 31 Dec 9999 23:59:59 GMTSat, 01 Jan 0000 00:00:00 GMT")[...])
    }
}
