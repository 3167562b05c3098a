import Foundation
import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct PreflightTests {
    private let url = "http://127.0.0.1:8080/"
    private let roomy = SystemLimits(
        softDescriptors: 1_000_000,
        hardDescriptors: 1_000_000,
        ports: 28_232,
        acceptQueue: 4_096,
        timeWaitReuse: 0,
        trackedConnections: nil
    )

    private func check(_ line: [String], _ change: (inout SystemLimits) -> Void = { _ in }) throws -> RunPlan {
        guard case .run(let command) = try Program.parse(line: line) else { throw UsageError("no run") }
        var limits = roomy
        change(&limits)
        let options = try LoadOptions(command)
        return try orUsage(try RunPlan(options, limits))
    }

    private func descriptorLimit(_ line: [String], _ change: (inout SystemLimits) -> Void) throws -> UInt64? {
        var limits = roomy
        change(&limits)
        return try check(line, change).descriptorLimit(above: limits)
    }

    @Test("the soft limit of descriptors is raised only when it has to be, and to what is needed")
    func raises() throws {
        #expect(try descriptorLimit(["-c100", "-t2", url]) { $0.softDescriptors = 140 } == nil)
        #expect(try descriptorLimit(["-c100", "-t2", url]) { $0.softDescriptors = 139 } == 140)
    }

    @Test("hosts of an input may get as many connections each, as far as the hard limit goes")
    func hosts() throws {
        let list = TemporaryFile(Array("/a\nhttp://a/1\nhttp://a/2\nhttp://b/\nhttps://b\n".utf8))
        let line = ["-c100", "-t2", "--input", "urls=\(list.path)", "https://c/"]
        #expect(try descriptorLimit(line) { $0.softDescriptors = 1 } == 4 * 140)
        #expect(try descriptorLimit(line) { ($0.softDescriptors, $0.hardDescriptors) = (1, 300) } == 300)
    }

    @Test("the embedded server's ends of the connections count too")
    func bothEnds() throws {
        #expect(try descriptorLimit(["-c100", "-t2"]) { $0.softDescriptors = 1 } == 248)
    }

    @Test("before a run the kernel's table of descriptors has room for all of them")
    func room() throws {
        let limits = SystemLimits.read()
        let plan = try check(["-c3000", url])
        try plan.prepareDescriptors(limits)
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("FDSize:") })
        #expect(try #require(Int(line.dropFirst(7).filter(\.isNumber))) >= 3000)
    }

    @Test("more connections than the hard limit holds are refused with the ulimit line and the number that fits")
    func refusesDescriptors() throws {
        let refusal = UsageError(
            "-c 30000 needs 30040 descriptors and this process may open 20000: run "
                + "`ulimit -Hn 30040 && ulimit -Sn 30040` as root first, or use -c 19960"
        )
        #expect(throws: refusal) {
            try check(["-c30000", url]) { ($0.softDescriptors, $0.hardDescriptors) = (1_024, 20_000) }
        }
        #expect(
            try descriptorLimit(["-c19960", url]) { ($0.softDescriptors, $0.hardDescriptors) = (1_024, 20_000) }
                == 20_000
        )
    }

    @Test("more connections than there are local ports are refused, and more addresses bring them back")
    func refusesPorts() throws {
        let refusal = UsageError(
            "-c 60000 needs as many local ports and there are 28232 for 1 source address: give 3 with "
                + "--source-address, or run `sysctl -w net.ipv4.ip_local_port_range='1024 65535'`"
        )
        #expect(throws: refusal) { try check(["-c60000", url]) }
        #expect(throws: UsageError.self) { try check(["-c60000", "--source-address", "127.0.0.0/31", url]) }
        _ = try check(["-c60000", "--source-address", "127.0.0.2,127.0.0.3,127.0.0.4", url])
        _ = try check(["-c60000", "--unix-socket", "@x", url])
    }

    @Test("closing by FIN is warned of only where the ports run out")
    func timeWait() throws {
        let line = ["--close", "fin", "http://192.0.2.1/"]
        #expect(
            try check(line).notes == [
                "--close=fin leaves each local port in TIME_WAIT for 60 s and there are 28232: beyond 470 connections "
                    + "a second connects will fail; use --close=rst, more addresses with --source-address, or "
                    + "`sysctl -w net.ipv4.tcp_tw_reuse=1`"
            ]
        )
        #expect(try check(["--close", "rst", "http://192.0.2.1/"]).notes.isEmpty)
        #expect(try check(["-n", "28232"] + line).notes.isEmpty)
        #expect(try check(["-n", "28233"] + line).notes.count == 1)
        #expect(try check(line) { $0.timeWaitReuse = 1 }.notes.isEmpty)
        #expect(try check(line) { $0.timeWaitReuse = 2 }.notes.count == 1)
        #expect(try check(["--close", "fin", url]) { $0.timeWaitReuse = 2 }.notes.isEmpty)
    }

    @Test("connects under way stay within half of the accept queue, and each thread has one")
    func connectsInFlight() throws {
        #expect(try check(["-c10000", url]).connectsInFlight == 2_048)
        #expect(try check(["-c100", url]).connectsInFlight == 100)
        #expect(try check(["-c100", "-t8", url]) { $0.acceptQueue = 0 }.connectsInFlight == 8)
    }

    @Test("a local server's queue and a full connection table are noted")
    func notes() throws {
        #expect(try check(["-c5000", url]).notes.first?.contains("net.core.somaxconn") == true)
        #expect(try check(["-c5000", "http://192.0.2.1/"]).notes.isEmpty)
        #expect(
            try check(["-c50", url]) { $0.trackedConnections = 49 }.notes.first?.contains("nf_conntrack_max") == true
        )
        #expect(try check(["-c50", url]) { $0.trackedConnections = 50 }.notes.isEmpty)
    }

    @Test("what this machine tells can be read")
    func realLimits() {
        let limits = SystemLimits.read()
        #expect(limits.softDescriptors > 0)
        #expect(limits.hardDescriptors >= limits.softDescriptors)
        #expect(limits.ports > 0)
    }
}
