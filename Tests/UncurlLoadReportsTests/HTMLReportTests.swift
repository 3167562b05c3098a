import Foundation
import LoadTestSupport
import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports

@Suite(.ownThread)
struct HTMLReportTests {
    private static let browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private func sample() throws -> RunResult {
        var result = try sampleResult { $0.showsDistribution = true }
        for index in 0..<5 {
            let metrics = result.metrics
            let start = UInt64(index) * 200_000_000
            result.course.add(Interval(start: start, end: start + 200_000_000, metrics: metrics), of: .requests)
        }
        return result
    }

    @Test("the page asks for nothing from outside, and no text of a server's becomes markup")
    func contained() throws {
        var result = try sample()
        result.notes = ["</script><script>alert(1)</script>", "<b onclick=x>&\"'"]
        result.metrics.failures.add(Failure(.head, .malformed, detail: "x"), at: 1, example: "<img src=x>")
        let page = try SavedReport(result.json, path: "the report").page()
        for word in ["src=\"", "href=\"", "@import", "url(", "fetch(", "<img", "<b onclick"] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.components(separatedBy: "<script").count == 3)
        #expect(page.contains("&lt;img"))
        // Namespaces and the tested URL are the only ones in it.
        let others = page.components(separatedBy: "http").dropFirst().filter {
            !$0.hasPrefix("://www.w3.org/2000/svg") && !$0.hasPrefix("://127.0.0.1") && !$0.hasPrefix("_")
        }
        #expect(others.isEmpty, "\(others.map { $0.prefix(30) })")
    }

    @Test(
        "the conditions stand before the figures if one is broken, and after them if all are kept",
        arguments: [true, false]
    )
    func conditionsFirst(isBroken: Bool) throws {
        let result = try sampleResult { options in
            guard let p50 = ThresholdMetric("p50") else { return }
            let limit = isBroken ? 1_000.0 : 60_000_000_000
            options.thresholds = [Threshold("p50>x", p50, .above, limit: limit, isRelative: false)]
        }
        let page = try SavedReport(result.json, path: "the report").page()
        let limits = try #require(page.range(of: "<h2>Limits</h2>")).lowerBound
        let figures = try #require(page.range(of: "<section class=\"tiles\">")).lowerBound
        #expect((limits < figures) == isBroken)
    }

    @Test("reports of a run with scenarios have their names as the title")
    func scenarioTitle() throws {
        let result = try sampleResult { options in
            let scenarios = ["checkout", "<browse>"].map { Scenario(name: $0, weight: 1, []) }
            options.scenarios = Scenarios(scenarios, steps: [])
        }
        let page = try SavedReport(result.json, path: "the report").page()
        #expect(page.contains("<title>volley: checkout, &lt;browse&gt; http://127.0.0.1:8080/</title>"))
        #expect(page.contains("<h1>checkout, &lt;browse&gt; <span>"))
        let suite = "<testsuite name=\"volley checkout, &lt;browse&gt; http://127.0.0.1:8080/\""
        #expect(result.junit.contains(suite))
        #expect(result.markdown.contains("checkout, &lt;browse> http://127.0.0.1:8080/"))
    }

    @Test("a run without a single answer has a page too")
    func empty() throws {
        var result = try sampleResult { $0.threads = 1 }
        result.metrics = Metrics()
        result.measured = 0
        #expect(try SavedReport(result.json, path: "the report").page().contains("Nothing was completed."))
    }

    @Test(
        "a browser draws the six plots, in light and in dark, without a complaint",
        .enabled(if: browser != nil, "no chromium here: ./dev test installs it"),
        arguments: [false, true]
    )
    func drawn(isDark: Bool) throws {
        let browser = try #require(Self.browser)
        let folder = NSTemporaryDirectory() + "/volley-page-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try SavedReport(sample().json, path: "the report").page().write(
            toFile: "\(folder)/page.html",
            atomically: false,
            encoding: .utf8
        )
        let usual = [
            "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder)/profile",
            "--enable-logging=stderr", "--v=0",
            "--window-size=1200,1400", "--hide-scrollbars",
        ]
        let theme = isDark ? ["--blink-settings=preferredColorScheme=0"] : ["--blink-settings=preferredColorScheme=1"]
        let dump = try EndedProgram(browser, usual + theme + ["--dump-dom", "file://\(folder)/page.html"])
        #expect(dump.out.components(separatedBy: "<svg").count == 7)
        #expect(dump.out.contains("Latency histogram") && dump.out.contains("Statuses over time"))
        #expect(dump.out.contains("class=\"bar\"") && dump.out.contains("class=\"status\""))
        #expect(dump.out.contains("Latency by percentile") && dump.out.contains("Throughput over time"))
        #expect(dump.out.components(separatedBy: "class=\"curve\"").count >= 7)
        #expect(!dump.out.contains("NaN"))
        #expect(!dump.err.contains("CONSOLE"), "\(dump.err.split(separator: "\n").filter { $0.contains("CONSOLE") })")
        let picture = "\(folder)/page.png"
        _ = try EndedProgram(browser, usual + theme + ["--screenshot=\(picture)", "file://\(folder)/page.html"])
        // What the theme's page and curves are painted with is there.
        if Python.isInstalled || FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") {
            let script = """
                import sys, zlib, struct
                data, at, raw = open(sys.argv[1], "rb").read(), 8, b""
                while at < len(data):
                    size, kind = struct.unpack(">I4s", data[at:at + 8])
                    if kind == b"IHDR": width, height, _, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
                    if kind == b"IDAT": raw += data[at + 8:at + 8 + size]
                    at += size + 12
                n, out, raw = {2: 3, 6: 4}[colour], [], zlib.decompress(raw)
                stride, before, seen = width * n, bytearray(width * n), {}
                for y in range(height):
                    kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
                    for x in range(stride):
                        a, b, c = (line[x - n] if x >= n else 0), before[x], (before[x - n] if x >= n else 0)
                        if kind == 1: line[x] = line[x] + a & 255
                        elif kind == 2: line[x] = line[x] + b & 255
                        elif kind == 3: line[x] = line[x] + (a + b) // 2 & 255
                        elif kind == 4:
                            p = a + b - c
                            q = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                            line[x] = line[x] + q & 255
                    before = line
                    for x in range(0, stride, n):
                        key = bytes(line[x:x + 3]).hex()
                        seen[key] = seen.get(key, 0) + 1
                print(" ".join(sorted(seen, key=seen.get, reverse=True)[:4000]))
                """
            let seen = try EndedProgram(Python.path ?? "/usr/bin/python3", ["-c", script, picture])
            let colours = Set(seen.out.split(whereSeparator: \.isWhitespace).map(String.init))
            for colour in isDark ? ["10151c", "18202a", "60a5fa"] : ["f6f7f9", "ffffff", "2563eb"] {
                #expect(colours.contains(colour), "\(colour) \(seen.err)")
            }
        }
    }
}
