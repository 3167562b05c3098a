import Foundation
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// Checks that volley's reports are honest, in short forms. The full checks are in `Tests/honesty/checks_outputs.py`;
/// numbers 9 and 10 are with the merges and the streams.
@Suite(.ownThread, .serialized)
struct HonestOutputTests {
    @Test("the reported bytes equal the server's, to the last one")
    func bytes() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley(["--format", "json", "-n", "500", "-c", "5", server.url("/bytes/100")])
        #expect(ended.status == 0, "\(ended.err)")
        #expect(UInt64(ended.number("bytes", "in") ?? -1) == server.bytesSent)
        #expect(UInt64(ended.number("bytes", "out") ?? -1) == server.bytesReceived)
        #expect(ended.number("bytes", "in_content") == 50_000)
    }

    @Test("with one connection per request, ended by RST, thousands of connects succeed")
    func connections() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let ended = try volley([
            "--format", "json", "-n", "3000", "-c", "16", "--close", "rst", server.url("/bytes/10"),
        ])
        #expect(ended.status == 0, "\(ended.err)")
        #expect(ended.number("connections", "opened") == 3_000)
        #expect(ended.number("connections", "failed") == 0)
        #expect(server.requestCount == 3_000)
    }

    @Test("without RST, a run that would use up the ports is warned of before it starts")
    func ports() throws {
        var limits = SystemLimits.usual
        limits.timeWaitReuse = 0
        let plan = try plan("-n", "100k", "--close", "fin", "http://127.0.0.1:1/", limits: limits)
        #expect(plan.notes.contains { $0.contains("TIME_WAIT") && $0.contains("--close=rst") })
    }

    @Test("a server that takes twice as long is reported as slower, and the same server is not")
    func compared() throws {
        let reports = [TemporaryFile(), TemporaryFile()]
        for (report, pause) in zip(reports, ["0.02", "0.04"]) {
            let server = try TestServer.start()
            defer { server.stop() }
            let ended = try volley(
                ["-d", "2s", "-c", "2", "-t", "1", "--interval", "100ms", "-q", "--format", "json=\(report.path)"]
                    + [server.url("/delay/\(pause)")]
            )
            #expect(ended.status == 0, "\(ended.err)")
        }
        let found = try EndedProgram(built: "volley", ["compare", reports[0].path, reports[1].path])
        #expect(found.status == 2, "\(found.out)\(found.err)")
        #expect(found.out.contains("p50") && found.out.contains("WORSE"))
        let same = try EndedProgram(built: "volley", ["compare", reports[0].path, reports[0].path])
        #expect(same.status == 0, "\(same.out)")
    }
}
