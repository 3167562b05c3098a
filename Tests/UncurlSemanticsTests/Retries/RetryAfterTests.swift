import Testing
import UncurlSemantics

@Suite("Retry-After")
struct RetryAfterTests {
    @Test(
        "seconds and dates are read, and nothing else",
        arguments: [
            ("120", .seconds(120)), (" 0\t", .seconds(0)), ("99999999999999999999", .seconds(.max)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .date(784_111_777)), ("", nil), ("-1", nil), ("1.5", nil), ("soon", nil),
            ("1 2", nil),
        ] as [(String, RetryAfter?)]
    )
    func reading(value: String, expected: RetryAfter?) {
        #expect(RetryAfter(value, now: 784_111_777) == expected)
    }

    @Test("a date is waited for from now on, and one that is over not at all")
    func delays() {
        #expect(RetryAfter.seconds(7).delay(at: 1e9) == .seconds(7))
        #expect(RetryAfter.date(1000).delay(at: 990.5) == .seconds(9.5))
        #expect(RetryAfter.date(1000).delay(at: 2000) == .zero)
    }
}
