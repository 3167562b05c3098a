import LoadTestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports

struct TextReportTests {
    @Test("the sum, the rate of successes, the statuses and the errors with an example are all there")
    func contents() throws {
        let text = (try sampleResult()).text
        for line in [
            "Requests    2,000 sent = 1,900 completed + 20 failed + 80 in flight at stop",
            "Rate        1800.00 successes/s",
            "            100.00 HTTP errors/s",
            "Status      200 × 1,800, 503 × 100",
            "  closed loop: percentiles exclude requests not sent during stalls; use --rate",
            "Connections 64 opened, 2 failed",
            "  20 × first-byte: timeout; first at 1 ms, last at 10 ms",
            "  2 × connect: refused (ECONNREFUSED 111); first at 500 µs, last at 500 µs",
            "    e.g. 127.0.0.1:8080 from thread 0",
            "note: a note",
        ] {
            #expect(text.contains(line + "\n"), "\(line)\n---\n\(text)")
        }
        #expect(!text.contains("DO NOT ADD UP"))
    }

    @Test("a line per thread, when there are several")
    func threads() throws {
        #expect((try sampleResult { $0.threads = 2 }).text.contains("Threads"))
        #expect(!(try sampleResult { $0.threads = 1 }).text.contains("Threads"))
    }

    @Test("threads whose connections did unequal work are pointed out")
    func uneven() throws {
        var result = try sampleResult { $0.threads = 2 }
        #expect(!result.text.contains("uneven"))
        result.threads[0].completed = 2 * result.threads[1].completed
        #expect(
            result.text.contains("uneven: a connection did 2.0 times as much on one thread as on another\n")
        )
        result.threads[1].completed = 0
        #expect(result.text.contains("uneven: a connection completed something on one thread and nothing"))
        // With a schedule, -c is a limit, and a thread may need fewer connections than another.
        var scheduled = try sampleResult { options in
            options.threads = 2
            options.profile = LoadProfile(rate: Rate(nearest: 100), duration: 1_000_000_000)
        }
        scheduled.threads[1].completed = 0
        #expect(!scheduled.text.contains("uneven"))
    }

    @Test("what was answered while the run drained follows the rates that leave it out")
    func drained() throws {
        var result = try sampleResult { options in
            options.profile = LoadProfile(rate: Rate(nearest: 100), duration: 1_000_000_000)
        }
        result.metrics[.drained] = 5
        let lines = result.text.split(separator: "\n")
        let index = try #require(lines.firstIndex { $0.contains("5 more were answered while the run drained") })
        #expect(lines[index - 1].contains("HTTP errors/s"))
    }

    @Test("a run without a time limit says so")
    func unlimited() throws {
        #expect((try sampleResult()).text.contains(", timeout 2 s"))
        #expect((try sampleResult { $0.timeout = LoadOptions.longest }).text.contains(", no timeout"))
    }

    @Test("--latency spells the distribution out")
    func distribution() throws {
        #expect((try sampleResult { $0.showsDistribution = true }).text.contains("   99.9 %  "))
        #expect(!(try sampleResult()).text.contains("Distribution"))
    }

    @Test("--latency with a rate spells the corrected times out, as in wrk2")
    func correctedDistribution() throws {
        var result = try sampleResult { options in
            options.showsDistribution = true
            options.profile = LoadProfile(rate: Rate(nearest: 40), duration: 1_000_000_000)
        }
        result.metrics.parts = .schedule
        result.metrics[.corrected].record(1_280_000_000, count: 100)
        let text = result.text
        #expect(text.contains(#/Distribution of corrected times\n +10 % +1\.28 s\n/#), "\(text)")
        #expect(!text.contains("Distribution of successes"))
        let wrk = result.wrk
        #expect(wrk.contains(#/Latency +1\.28s/#) && wrk.contains(#/ 50% +1\.28s/#), "\(wrk)")
    }

    @Test("an example from the wire cannot break the lines of the report")
    func examples() throws {
        let text = (try sampleResult()).text
        #expect(text.contains("    e.g. no \"answer\"\\u{a}\n"))
    }

    @Test("counts that do not add up are shouted about")
    func unbalanced() throws {
        var result = try sampleResult()
        result.metrics[.sent] += 1
        #expect(result.text.contains("THESE DO NOT ADD UP"))
    }

    @Test("a run without a single response is reported all the same")
    func nothing() throws {
        var result = try sampleResult()
        result.metrics = Metrics()
        result.measured = 0
        #expect(result.text.contains("0 sent = 0 completed + 0 failed + 0 in flight at stop"))
    }
}
