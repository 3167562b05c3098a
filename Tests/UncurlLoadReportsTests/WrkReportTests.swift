import LoadTestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports

struct WrkReportTests {
    /// Mean 430.47, deviation 266.84, 56.21 % within it, and percentiles 425, 663, 805 and 891 µs by a sort of
    /// all the values; the layout is that of `wrk -t2 -c64 -d1 --latency`.
    @Test("the report has wrk's lines, to the byte")
    func layout() throws {
        #expect(
            (try sampleResult { ($0.showsDistribution, $0.duration) = (true, 1_000_000_000) }).wrk == """
                Running 1s test @ http://127.0.0.1:8080/
                  2 threads and 64 connections
                  Thread Stats   Avg      Stdev     Max   +/- Stdev
                    Latency   430.47us  266.93us   0.90ms   56.21%
                    Req/Sec     9.00k     0.00     9.00k   100.00%
                  Latency Distribution
                     50%  425.21us
                     75%  663.04us
                     90%  805.38us
                     99%    0.89ms
                  1900 requests in 1.00s, 464.84KB read
                  Socket errors: connect 2, read 0, write 0, timeout 20
                  Non-2xx or 3xx responses: 100
                Requests/sec:   1900.00
                Transfer/sec:    464.84KB

                """
        )
    }

    @Test("a run without errors has no error lines, and without --latency no distribution")
    func plain() throws {
        let lines = (try sampleResult(failing: false)).wrk.split(separator: "\n")
        #expect(lines.count == 8)
        #expect(lines.first == "Running 10s test @ http://127.0.0.1:8080/")
    }

    @Test("a run that completed nothing still has every line")
    func nothing() throws {
        var result = try sampleResult()
        result.metrics = Metrics()
        let text = result.wrk
        #expect(text.contains("    Latency     0.00us    0.00us   0.00us    0.00%\n"))
        #expect(text.contains("  0 requests in 1.00s, 0.00B read\n"))
    }

    @Test("each failure is in exactly one of wrk's four classes")
    func errorClasses() throws {
        var result = try sampleResult(failing: false)
        for phase in Phase.allCases {
            for kind in FailureClass.allCases { result.metrics.failures.add(Failure(phase, kind), at: 1, example: "") }
        }
        let text = result.wrk
        let others = FailureClass.allCases.count - 1
        #expect(
            text.contains(
                "Socket errors: connect \(5 * others), read \(5 * others), write \(others), timeout \(Phase.allCases.count)\n"
            )
        )
        let line = try #require(text.split(separator: "\n").first { $0.contains("Socket errors: ") })
        #expect(
            line.matches(of: #/\d+/#).reduce(0) { $0 + (UInt64($1.0) ?? 0) }
                == result.metrics.failures.count { _ in true }
        )
    }
}
