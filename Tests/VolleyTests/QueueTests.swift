import Foundation
import LoadTestSupport
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// A rate on few connections is one queue with as many servers as there are connections, on any number of threads.
@Suite("The queue of a rate", .ownThread, .serialized)
struct QueueTests {
    private struct Row {
        let due, start, latency: Double
        var corrected: Double { start + latency - due }
    }

    /// The log's rows in the order in which they were due, in seconds.
    private func rows(_ file: TemporaryFile) throws -> [Row] {
        try file.text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            let times = try cells[0..<3].map { try #require(Double($0)) / 1e9 }
            return Row(due: times[0], start: times[1], latency: times[2])
        }.sorted { $0.due < $1.due }
    }

    /// The corrected latencies of one queue, first come, first served, with these instants and these service times.
    private func queue(_ rows: [Row], servers: Int) -> [Double] {
        var free = [Double](repeating: 0, count: servers)
        return rows.map { row in
            let server = free.indices.min { free[$0] < free[$1] } ?? 0
            free[server] = max(row.due, free[server]) + row.latency
            return free[server] - row.due
        }
    }

    private func figures(_ times: [Double]) -> [Double] {
        let sorted = times.sorted()
        let percentiles = [0.5, 0.9, 0.99].map { sorted[Int(Double(sorted.count - 1) * $0)] }
        return percentiles + [times.reduce(0, +) / Double(times.count)]
    }

    @Test(
        "a due request goes to the connection that is free first, whichever thread has it",
        arguments: [
            (2, 2, "poisson"), (3, 2, "even"), (3, 2, "poisson"), (5, 4, "poisson"), (9, 4, "poisson"),
            (4, 1, "poisson"),
        ]
    )
    func oneQueue(connections: Int, threads: Int, arrivals: String) throws {
        // A machine with other work lets a thread wait that has a free connection, which no queue does. One run of
        // three is nearly as it should be; with a queue for each thread, a thread with fewer connections than others
        // falls behind in each.
        var rows = try run(connections, threads, arrivals)
        for _ in 0..<2 where !isOneQueue(rows, connections) { rows = try run(connections, threads, arrivals) }
        let (found, expected) = (figures(rows.map(\.corrected)), figures(queue(rows, servers: connections)))
        #expect(isOneQueue(rows, connections), "\(found) for \(expected)")
    }

    /// Makes a run on a server of 25 ms. Each connection serves 40 requests a second, of which 28 come due.
    private func run(_ connections: Int, _ threads: Int, _ arrivals: String) throws -> [Row] {
        let server = try TestServer.start()
        defer { server.stop() }
        let log = TemporaryFile()
        let (rate, count) = (connections * 28, connections * 50)
        let pace = ["-R", "\(rate)", "-n", "\(count)", "--arrivals", arrivals, "--drain", "60s", "--max-lag", "60s"]
        let line = ["--format", "json", "--format", "requests=\(log.path)", "-c", "\(connections)", "-t", "\(threads)"]
        let ended = try volley(line + pace + [server.url("/latency?ms=25")])
        #expect([0, 3].contains(ended.status), "\(ended.err)\(ended.out)")
        let rows = try rows(log)
        #expect(rows.count == count && Int(server.requestCount) == count)
        return rows
    }

    private func isOneQueue(_ rows: [Row], _ servers: Int) -> Bool {
        let pairs = zip(figures(rows.map(\.corrected)), figures(queue(rows, servers: servers)))
        return pairs.allSatisfy { found, expected in abs(found - expected) <= 0.05 * expected + 0.01 }
    }

    @Test("a run by count with fewer requests than connections sends them, by a rate", arguments: ["1", "3"])
    func fewRequests(count: String) throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let line = ["-R", "100", "-n", count, "-c", "8", "-t", "4", "--max-lag", "60s"]
        let ended = try volley(["--format", "json"] + line + [server.url("/bytes/10")])
        #expect([0, 3].contains(ended.status), "\(ended.err)")
        #expect(ended.number("requests", "completed") == Int(count) && server.requestCount == Int(count) ?? 0)
    }
}
