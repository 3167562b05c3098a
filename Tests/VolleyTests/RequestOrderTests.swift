import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// All threads of a run keep one order, by what servers received.
@Suite("The order of requests", .ownThread, .serialized)
struct RequestOrderTests {
    private func file(_ lines: String...) -> TemporaryFile {
        TemporaryFile(Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    @Test(
        "each request of a list is sent equally often, however unequal the answers' times",
        arguments: [1, 3]
    )
    func inTurn(weight: UInt64) throws {
        let (fast, slow) = (try TestServer.start(loops: 1), try TestServer.start(loops: 1))
        defer {
            fast.stop()
            slow.stop()
        }
        let list = file(fast.url("/bytes/1") + " x\(weight)", slow.url("/latency?ms=10"))
        let line = ["--input", "urls=\(list.path)", "-t", "2", "-c", "5", "--drain", "60s", "--format", "json"]
        let timed = try volley(line + ["-d", "2s"])
        #expect(timed.status == 0, "\(timed.err)")
        #expect(slow.requestCount > 20)
        #expect(fast.requestCount.distance(to: slow.requestCount * weight).magnitude <= weight)
        #expect(timed.number("requests", "completed") == Int(fast.requestCount + slow.requestCount))
        let before = (fast.requestCount, slow.requestCount)
        let counted = try volley(line + ["-n", "80"])
        #expect(counted.status == 0, "\(counted.err)")
        let share = 80 / (weight + 1)
        #expect((fast.requestCount - before.0, slow.requestCount - before.1) == (80 - share, share))
    }

    @Test("all threads take lines and numbers in turn without a gap, although one thread is faster")
    func templates() throws {
        let server = try RawServer.start(
            otherwise: .answering(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
        )
        defer { server.stop() }
        let lines = file("a", "b")
        // Two connections on the first thread, one on the second.
        let ended = try volley([
            "--template", "-d", "300ms", "-c", "3", "-t", "2", "--drain", "60s", "--format", "json",
            server.url("/{{line:\(lines.path)}}/{{counter}}"),
        ])
        #expect(ended.status == 0, "\(ended.err)")
        let seen = server.connections.map(\.receivedText).joined().matches(of: #/GET /([ab])/(\d+) /#)
        let sent = try #require(ended.number("requests", "sent"))
        #expect(seen.count == sent && sent > 20)
        #expect(Set(seen.compactMap { Int($0.2) }) == Set(0..<sent))
        #expect(seen.allSatisfy { (Int($0.2) ?? 0) % 2 == ($0.1 == "a" ? 0 : 1) })
    }

    @Test(
        "each part of a run reaches every position of a list, and all parts take each position once per round",
        arguments: [(2, 2), (2, 4), (3, 2), (4, 6), (1, 5), (5, 1)]
    )
    func parts(count: Int, length: UInt64) throws {
        let shards = (0..<count).map { Shard(index: $0, count: count) }
        let rounds = length * UInt64(count)
        var taken: [UInt64: [UInt64: Int]] = [:]
        for shard in shards {
            let places = (0..<rounds).map { own in
                let number = shard.number(own)
                let place = shard.place(of: number, in: length)
                taken[number / length, default: [:]][place, default: 0] += 1
                return place
            }
            #expect(Set(places) == Set(0..<length))
        }
        #expect(taken.count == count * count)
        #expect(taken.values.allSatisfy { $0.count == Int(length) && $0.values.allSatisfy { $0 == 1 } })
    }
}
