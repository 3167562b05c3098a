import Testing

@testable import LoadTester

struct QuantityTests {
    @Test(
        "a count is read with the SI units that wrk knows, in either case",
        arguments: [
            ("1", 1), ("64", 64), ("1k", 1_000), ("1K", 1_000), ("2m", 2_000_000), ("1M", 1_000_000),
            ("3G", 3_000_000_000),
        ]
    )
    func counts(text: String, value: UInt64) throws {
        #expect(try Quantity.count(text, for: "-c") == value)
    }

    @Test(
        "a time is read in seconds unless it says otherwise",
        arguments: [
            ("2", 2_000_000_000), ("2s", 2_000_000_000), ("500ms", 500_000_000), ("250us", 250_000),
            ("2m", 120_000_000_000),
            ("2H", 7_200_000_000_000), ("744h", 2_678_400_000_000_000),
        ]
    )
    func times(text: String, nanoseconds: UInt64) throws {
        #expect(try Quantity.time(text, for: "-d") == nanoseconds)
    }

    @Test(
        "a count that is none is refused with the reason and the remedy",
        arguments: [
            ("", "-c \"\" is not a number: use a whole number such as 64, 1k or 1M"),
            ("ten", "-c \"ten\" is not a number: use a whole number such as 64, 1k or 1M"),
            ("-1", "-c \"-1\" is not a number: use a whole number such as 64, 1k or 1M"),
            (
                "18446744073709551616",
                "-c \"18446744073709551616\" is not a number: use a whole number such as 64, 1k or 1M"
            ),
            ("1.5k", "-c \"1.5k\" has an unknown unit \".5k\": use k, M or G"),
            ("1x", "-c \"1x\" has an unknown unit \"x\": use k, M or G"),
            ("0", "-c must be more than 0"),
            ("18446744073709551615k", "-c \"18446744073709551615k\" is beyond 64 bits: use a smaller number"),
        ]
    )
    func badCounts(text: String, message: String) {
        #expect(throws: UsageError(message)) { try Quantity.count(text, for: "-c") }
    }

    @Test(
        "a time that is none is refused with the reason and the remedy",
        arguments: [
            ("soon", "-d \"soon\" is not a time: use a whole number and a unit such as 500ms, 10s or 2m"),
            ("3d", "-d \"3d\" has an unknown unit \"d\": use us, ms, s, m or h"),
            ("1 s", "-d \"1 s\" has an unknown unit \" s\": use us, ms, s, m or h"),
            ("0ms", "-d must be more than 0"),
            ("745h", "-d \"745h\" is too long: at most 744h"),
            ("18446744073709551615h", "-d \"18446744073709551615h\" is beyond 64 bits: use a smaller number"),
        ]
    )
    func badTimes(text: String, message: String) {
        #expect(throws: UsageError(message)) { try Quantity.time(text, for: "-d") }
    }
}
