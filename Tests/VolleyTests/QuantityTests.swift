import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct QuantityTests {
    @Test(
        "a count is read with the SI units that wrk knows, in either case",
        arguments: [
            ("1", 1), ("64", 64), ("1k", 1_000), ("1K", 1_000), ("2m", 2_000_000), ("1M", 1_000_000),
            ("3G", 3_000_000_000), ("1.5k", 1_500), ("1e3", 1_000), ("2.5E3", 2_500), ("0.5M", 500_000), ("3000e-3", 3),
        ]
    )
    func counts(text: String, value: UInt64) throws {
        #expect(try UInt64(count: text, for: "-c") == value)
    }

    @Test(
        "a time is read in seconds unless it says otherwise",
        arguments: [
            ("2", 2_000_000_000), ("2s", 2_000_000_000), ("500ms", 500_000_000), ("250us", 250_000),
            ("2m", 120_000_000_000),
            ("2H", 7_200_000_000_000), ("744h", 2_678_400_000_000_000), ("0.2s", 200_000_000), ("0.5", 500_000_000),
            ("1h30m", 5_400_000_000_000), ("1m30s500ms", 90_500_000_000), ("1e3ms", 1_000_000_000), ("100ns", 100),
            ("1.5us", 1_500),
        ]
    )
    func times(text: String, nanoseconds: UInt64) throws {
        #expect(try UInt64(time: text, for: "-d") == nanoseconds)
    }

    @Test(
        "a malformed count is refused with the reason and the remedy",
        arguments: [
            ("", "-c \"\" is not a number: use a whole number such as 64, 1.5k or 1M"),
            ("ten", "-c \"ten\" is not a number: use a whole number such as 64, 1.5k or 1M"),
            ("-1", "-c \"-1\" is not a number: use a whole number such as 64, 1.5k or 1M"),
            (
                "18446744073709551616",
                "-c \"18446744073709551616\" is not a number: use a whole number such as 64, 1.5k or 1M"
            ),
            ("1.5", "-c \"1.5\" is no multiple of one: use a whole number"),
            ("1e-4k", "-c \"1e-4k\" is no multiple of one: use a whole number"),
            ("1.x", "-c \"1.x\" has an unknown unit \".x\": use k, M or G"),
            ("1e99", "-c \"1e99\" has an unknown unit \"e99\": use k, M or G"),
            ("1x", "-c \"1x\" has an unknown unit \"x\": use k, M or G"),
            ("0", "-c must be more than 0"),
            ("18446744073709551615k", "-c \"18446744073709551615k\" is beyond 64 bits: use a smaller number"),
        ]
    )
    func badCounts(text: String, message: String) {
        #expect(throws: UsageError(message)) { try UInt64(count: text, for: "-c") }
    }

    @Test(
        "a malformed time is refused with the reason and the remedy",
        arguments: [
            ("soon", "-d \"soon\" is not a time: use such as 500ms, 0.2s, 10s or 1h30m"),
            ("3d", "-d \"3d\" has an unknown unit \"d\": use us, ms, s, m or h"),
            ("1 s", "-d \"1 s\" has an unknown unit \" s\": use us, ms, s, m or h"),
            ("0ms", "-d must be more than 0"),
            ("0.1ns", "-d \"0.1ns\" is no multiple of one: use whole nanoseconds"),
            ("1h30", "-d \"1h30\" has parts that do not add up: use such as 1h30m, the longest first"),
            ("1m1m", "-d \"1m1m\" has parts that do not add up: use such as 1h30m, the longest first"),
            ("1hh", "-d \"1hh\" has an unknown unit \"hh\": use us, ms, s, m or h"),
            ("745h", "-d \"745h\" is too long: at most 744h"),
            ("18446744073709551615h", "-d \"18446744073709551615h\" is beyond 64 bits: use a smaller number"),
        ]
    )
    func badTimes(text: String, message: String) {
        #expect(throws: UsageError(message)) { try UInt64(time: text, for: "-d") }
    }

    @Test("zero is accepted as a number and a time where it has a meaning", arguments: ["0", "0.0", "0e3"])
    func zero(text: String) throws {
        #expect(try UInt64(count: text, for: "-c", allowingZero: true) == 0)
        #expect(try UInt64(time: text, for: "-d", allowingZero: true) == 0)
        #expect(try UInt64(time: text + "s", for: "-d", allowingZero: true) == 0)
        #expect(
            try options("--warmup", text, "--drain", text + "s", "--rate", "1", "--spin", "0ms", "http://h/").warmup
                == 0
        )
    }

    @Test("shares, rates and conditions are written like other numbers")
    func alike() throws {
        #expect(Double(share: "0.1%") == 0.001 && Double(share: "1e-3") == 0.001 && Double(share: "0") == 0)
        #expect(Double(share: "x") == nil && Double(share: "1k") == nil && Double(share: "-1%") == nil)
        #expect(
            try Threshold("p99>0.2s").limit == 200e6 && Threshold("p99>1m30s").limit == 90e9
                && Threshold("lag_max>0").limit == 0
        )
        #expect(
            try Threshold("completed<1.5k").limit == 1_500 && Threshold("rps<1e3").limit == 1_000
                && Threshold("rps<90/m").limit == 1.5
        )
        #expect(try SearchGoal("p99<0.2s,errors<0.001").text == "p99<0.2s,errors<0.001")
        #expect(try Pause("0.1s-1m30s", for: "") == .uniform(100_000_000, 90_000_000_000))
        #expect(try options("--connect-rate", "1.5k", "http://h/").connectRate == 1_500)
    }
}
