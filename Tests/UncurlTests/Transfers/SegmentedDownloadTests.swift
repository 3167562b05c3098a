import FacadeTestSupport
import Foundation
import TestServer
import TestSupport
import Testing

@testable import Uncurl

@Suite("Downloads in several parts at once", .timeLimit(.minutes(5)))
struct SegmentedDownloadTests {
    private static let total = 400_000
    /// Where the second of two parts begins.
    private static let half = Int(SegmentPlan.shortest)
    private static let content = (0..<total).map { UInt8(truncatingIfNeeded: $0 / 7) }

    private static func part(_ range: Range<Int>, tag: String = "a", sending count: Int? = nil) -> [RawStep] {
        let head =
            "HTTP/1.1 206 Partial Content\r\nContent-Length: \(range.count)\r\nETag: \"\(tag)\"\r\n"
            + "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)\r\nConnection: close\r\n\r\n"
        return [.receive(.headEnd), .send(Array(head.utf8) + content[range].prefix(count ?? .max))]
    }

    private static func whole(_ octets: [UInt8]) -> RawScript {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(octets.count)\r\nETag: \"b\"\r\nConnection: close\r\n\r\n"
        return RawScript([.receive(.headEnd), .send(Array(head.utf8) + octets), .finish])
    }

    private static func heads(_ server: RawServer) -> [String] {
        server.connections.indices.map { String(decoding: server.received($0), as: UTF8.self) }
    }

    private static func content(_ response: Response<URL>) throws -> [UInt8] {
        let file = try response.result.get()
        defer { try? FileManager.default.removeItem(at: file) }
        return Array(try Data(contentsOf: file))
    }

    @Test("the parts make the whole, with progress up to its length, at the place that was named", .rows("W2"))
    func parts() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let length = 3_000_000
        let seen = Log<TransferProgress>()
        var request = HTTPRequest("range/\(length)")
        request.options.downloadProgress = { seen.add($0) }
        let folder = try TemporaryFolder()
        let place = folder.url.appending(path: "deep/file")
        let response = await manager.download(request, to: .file(place), segments: 4)
        #expect(try response.result.get() == place && response.statusCode == 206)
        let plain = try #require(await manager.download(HTTPRequest("range/\(length)")).value)
        defer { try? FileManager.default.removeItem(at: plain) }
        #expect(try Data(contentsOf: place) == Data(contentsOf: plain))
        #expect(server.requestCount >= 12)
        let counts = seen.entries.map(\.completed)
        #expect(counts == counts.sorted() && counts.last == Int64(length))
        #expect(seen.entries.last?.total == Int64(length))
        #expect(manager.transfers.isEmpty)
    }

    @Test("a server that sends no parts is asked once, and a short or empty file is a file", .rows("W2"))
    func withoutParts() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        #expect(try Self.content(await manager.download(HTTPRequest("bytes/300000"), segments: 4)).count == 300_000)
        #expect(server.requestCount == 1)
        #expect(try Self.content(await manager.download(HTTPRequest("range/5"), segments: 4)) == Array("abcde".utf8))
        #expect(try Self.content(await manager.download(HTTPRequest("range/0"), segments: 4)).isEmpty)
        let missing = await manager.download(HTTPRequest("status/404"), segments: 4)
        #expect(missing.error?.statusCode == 404 && missing.value == nil)
    }

    @Test("a part that is cut is asked for from there on", .rows("W2"))
    func cut() async throws {
        let server = try RawServer.start([
            RawScript(Self.part(0..<Self.half) + [.finish]),
            RawScript(Self.part(Self.half..<Self.total, sending: 1_000) + [.finish]),
            RawScript(Self.part(Self.half + 1_000..<Self.total) + [.finish]),
        ])
        let response = await server.manager().download(HTTPRequest("file"), segments: 2)
        #expect(try Self.content(response) == Self.content)
        let sent = Self.heads(server)
        #expect(sent.count == 3)
        #expect(sent[0].contains("Range: bytes=0-\(Self.half - 1)\r\n") && !sent[0].contains("If-Range"))
        #expect(sent[1].contains("Range: bytes=\(Self.half)-\(Self.total - 1)\r\n"))
        #expect(sent[2].contains("Range: bytes=\(Self.half + 1_000)-\(Self.total - 1)\r\n"), "\(sent[2])")
        #expect(sent[2].contains("If-Range: \"a\"\r\n"))
    }

    @Test("a server whose content has changed is asked for the whole of it", .rows("W2"))
    func changed() async throws {
        let new = Array("new".utf8)
        for answer in [Self.whole(new), RawScript(Self.part(Self.half..<Self.total, tag: "b") + [.finish])] {
            let server = try RawServer.start([
                RawScript(Self.part(0..<Self.half) + [.finish]), answer, Self.whole(new),
            ])
            let seen = Log<Int64>()
            var request = HTTPRequest("file")
            request.options.downloadProgress = { seen.add($0.completed) }
            let response = await server.manager().download(request, segments: 2)
            #expect(try Self.content(response) == new)
            #expect(seen.entries == seen.entries.sorted(), "\(seen.entries)")
            #expect(Self.heads(server).count == 3 && !Self.heads(server)[2].contains("Range: "))
        }
    }

    @Test("a connection that the server refuses leaves its part to the others", .rows("W2"))
    func refused() async throws {
        let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let server = try RawServer.start([
            RawScript(Self.part(0..<Self.half) + [.finish]),
            RawScript([.receive(.headEnd), .send(Array(busy.utf8)), .finish]),
            RawScript(Self.part(Self.half..<Self.total) + [.finish]),
        ])
        let response = await server.manager().download(HTTPRequest("file"), segments: 2)
        #expect(try Self.content(response) == Self.content)
    }

    @Test("a download that is cancelled is resumed behind what came without a gap", .rows("W2"))
    func resumed() async throws {
        let rest = Self.half + 1_000
        let server = try RawServer.start([
            RawScript(Self.part(0..<Self.half) + [.finish]),
            RawScript(Self.part(Self.half..<Self.total, sending: 1_000) + [.stall]),
            RawScript(Self.part(rest..<Self.total) + [.finish]),
        ])
        let manager = server.manager()
        let seen = Sightings<TransferProgress>()
        var request = HTTPRequest("file")
        request.options.downloadProgress = { seen.add($0) }
        request.options.tag = "file"
        let download = Task { [request] in await manager.download(request, segments: 2) }
        #expect(await seen.wait { $0.last?.completed == Int64(rest) })
        manager.cancelAll(tagged: "file")
        let response = await download.value
        #expect(response.error?.isCancelled == true && response.fileURL == nil)
        let data = try #require(response.resumeData)
        #expect(try Self.content(await manager.download(resuming: data)) == Self.content)
        #expect(Self.heads(server)[2].contains("Range: bytes=\(rest)-\r\n"), "\(Self.heads(server)[2])")
    }

    @Test("a server that cuts a part again and again ends the download with an error", .rows("W2"))
    func failing() async throws {
        let server = try RawServer.start(
            [RawScript(Self.part(0..<Self.half) + [.finish])],
            otherwise: RawScript([.receive(.headEnd), .close])
        )
        let response = await server.manager().download(HTTPRequest("file"), segments: 2)
        #expect(response.error?.isConnectivity == true && response.resumeData != nil)
    }

    @Test("parts are handed out from the front, and what is missing first ends what is there")
    func plan() throws {
        var plan = SegmentPlan(total: 4_000_000, first: .init(first: 0, last: 262_143), segments: 2)
        let taken = plan.take()
        var second = try #require(taken)
        #expect(second.first == 262_144 && plan.prefix == 0)
        var first = SegmentPlan.Segment(first: 0, last: 262_143)
        plan.advance(&first, by: 262_144)
        #expect(plan.prefix == 262_144)
        plan.advance(&second, by: 10)
        plan.giveBack(second)
        #expect(plan.prefix == 262_154 && !plan.isWhole)
        let rest = plan.take()
        let again = try #require(rest)
        #expect(again.first == 262_154 && again.last == second.last)
    }
}
