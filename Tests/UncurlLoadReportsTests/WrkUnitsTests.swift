import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports

/// The expected strings are what wrk's own `units.c`, compiled, prints for these numbers.
struct WrkUnitsTests {
    @Test(
        "microseconds are formatted as wrk formats them",
        arguments: [
            (0, "0.00us"), (45, "45.00us"), (849, "849.00us"), (850, "0.85ms"), (1_234, "1.23ms"),
            (849_999, "850.00ms"),
            (999_999, "1000.00ms"), (1_000_000, "1.00s"), (50_990_000, "50.99s"), (51_000_000, "0.85m"),
            (7_200_000_000, "120.00m"),
        ]
    )
    func microseconds(value: Double, text: String) {
        #expect(wrkTime(value) == text)
    }

    @Test(
        "a test's length is formatted as wrk formats it",
        arguments: [
            (1, "1s"), (10, "10s"), (50, "50s"), (51, "1m"), (60, "1m"), (120, "2m"), (7_200, "120m"),
        ]
    )
    func seconds(value: Double, text: String) {
        #expect(wrkSeconds(value) == text)
    }

    @Test("sizes and counts are formatted as wrk formats them")
    func sizes() {
        #expect(wrkBytes(0) == "0.00")
        #expect(wrkBytes(870) == "870.00")
        #expect(wrkBytes(871) == "0.85K")
        #expect(wrkBytes(19_069_515_366) == "17.76G")
        #expect(wrkBytes(1e18) == "909494.70T")
        #expect(wrkCount(849) == "849.00")
        #expect(wrkCount(850) == "0.85k")
        #expect(wrkCount(56_200) == "56.20k")
    }

    @Test("a number stands in its column by the length of its unit")
    func columns() {
        #expect(wrkColumn("635.91us", 8) == "635.91us")
        #expect(wrkColumn("2.00s", 8) == "  2.00s ")
        #expect(wrkColumn("821.81", 8) == "821.81  ")
        #expect(wrkColumn("56.20k", 10) == "   56.20k ")
    }
}
