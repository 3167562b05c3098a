import Testing

@testable import UncurlLoad

struct UnitsTests {
    @Test(
        "times have three significant digits and the unit that fits",
        arguments: [
            (0, "0 ns"), (999, "999 ns"), (1_000, "1 µs"), (45_300, "45.3 µs"), (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (1_234_567, "1.23 ms"), (9_995_000, "10.0 ms"), (2_000_000_000, "2 s"), (90_000_000_000, "90 s"),
            (150_000_000_000, "2.50 min"), (7_200_000_000_000, "2 h"),
        ]
    )
    func times(nanoseconds: UInt64, text: String) {
        #expect(timeText(nanoseconds) == text)
    }

    @Test(
        "sizes are binary",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_024, "1 KiB"), (1_500, "1.46 KiB"), (25_165_824, "24 MiB"),
            (1_099_511_627_776, "1 TiB"),
        ]
    )
    func sizes(bytes: UInt64, text: String) {
        #expect(bytesText(Double(bytes)) == text)
    }

    @Test(
        "digits are grouped by three",
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (1_204_332, "1,204,332"),
            (UInt64.max, "18,446,744,073,709,551,615"),
        ]
    )
    func groups(value: UInt64, text: String) {
        #expect(grouped(value) == text)
    }

    @Test("decimals are the C library's")
    func decimals() {
        #expect(fixed(0.125, 2) == "0.12")
        #expect(fixed(2.675, 2) == "2.67")
        #expect(fixed(-1.5, 0) == "-2")
        #expect(fixed(1e300, 0).count == 301)
        #expect(fixed(.infinity, 2) == "inf")
    }
}
