import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import Uncurl

@Suite("Downloads in several parts at once", .timeLimit(.minutes(5)))
struct SegmentedDownloadTests {
    private static let total = 400_000
    /// Where the second of two parts begins.
    private static let half = Int(SegmentPlan.shortest)
    private static let content = (0..<total).map { UInt8(truncatingIfNeeded: $0 / 7) }

    private static func part(
        _ range: Range<Int>,
        tag: String = "a",
        sending count: Int? = nil,
        _ fields: String = ""
    ) -> [RawStep] {
        let head =
            "HTTP/1.1 206 Partial Content\r\nContent-Length: \(range.count)\r\nETag: \"\(tag)\"\r\n\(fields)"
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
        let response = await manager.downloadResponse(request, to: .file(place), segments: 4)
        #expect(try response.result.get() == place && response.statusCode == 206)
        let plain = try #require(await manager.downloadResponse(HTTPRequest("range/\(length)")).value)
        defer { try? FileManager.default.removeItem(at: plain) }
        #expect(try Data(contentsOf: place) == Data(contentsOf: plain))
        #expect(server.requestCount >= 12)
        let counts = seen.entries.map(\.completed)
        #expect(counts == counts.sorted() && counts.last == Int64(length))
        #expect(seen.entries.last?.total == Int64(length))
        #expect(manager.transfers.isEmpty)
    }

    @Test("the parts are loaded also where the session's configuration has a label", .rows("W2"))
    func labelled() async throws {
        let server = try RawServer.start([
            RawScript(Self.part(0..<Self.half) + [.finish]), RawScript(Self.part(Self.half..<Self.total) + [.finish]),
        ])
        let configuration = URLSessionConfiguration.isolated
        configuration.identifier = "label"
        let manager = HTTPSessionManager(baseURL: URL(string: server.url("/")), configuration: configuration)
        #expect(try Self.content(await manager.downloadResponse(HTTPRequest("file"), segments: 2)) == Self.content)
        #expect(server.connections.count == 2)
    }

    @Test("no progress is told after the end of a download that is cancelled or refused", arguments: [true, false])
    func lastProgress(isCancelled: Bool) async throws {
        let rest = Self.half..<Self.total
        let (begun, end) = (RawGate(), Gate())
        let more = RawStep.send(Array(Self.content[rest].dropFirst(1_000).prefix(isCancelled ? 1_000 : .max)))
        let second = Self.part(rest, sending: 1_000) + [.wait(begun), more, isCancelled ? .stall : .finish]
        let server = try RawServer.start([RawScript(Self.part(0..<Self.half) + [.finish]), RawScript(second)])
        let manager = server.manager()
        let late = Log<Int64>()
        var request = HTTPRequest("file")
        request.options.downloadProgress = { progress in
            if end.isOpen { late.add(progress.completed) }
            guard progress.completed == Int64(Self.half + 1_000) else { return }
            begun.open()
            // Keeps the queue busy while the other content comes. The end must not come meanwhile.
            end.wait(atMost: .milliseconds(500))
        }
        request.options.validation = ResponseValidation(checks: [{ _ in throw CocoaError(.fileReadCorruptFile) }])
        let download = Task { [request] in
            let response = await manager.downloadResponse(request, segments: 2)
            end.open()
            return response
        }
        if isCancelled {
            let most = Int64(Self.half + 2_000)
            #expect(await Sightings<Void>.eventually { manager.transfers.first?.downloadProgress.completed == most })
            manager.cancelAll()
        }
        #expect(await download.value.error?.isCancelled == isCancelled)
        await withCheckedContinuation { continuation in
            manager.session.delegateQueue.addOperation { continuation.resume() }
        }
        #expect(late.entries.isEmpty, "\(late.entries)")
    }

    @Test("a server that sends no parts is asked once, and a short or empty file is a file", .rows("W2"))
    func withoutParts() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        #expect(
            try Self.content(await manager.downloadResponse(HTTPRequest("bytes/300000"), segments: 4)).count == 300_000
        )
        #expect(server.requestCount == 1)
        #expect(
            try Self.content(await manager.downloadResponse(HTTPRequest("range/5"), segments: 4)) == Array("abcde".utf8)
        )
        #expect(try Self.content(await manager.downloadResponse(HTTPRequest("range/0"), segments: 4)).isEmpty)
        let missing = await manager.downloadResponse(HTTPRequest("status/404"), segments: 4)
        #expect(missing.error?.statusCode == 404 && missing.value == nil)
    }

    @Test("a part that is cut is asked for from there on", .rows("W2"))
    func cut() async throws {
        let server = try RawServer.start([
            RawScript(Self.part(0..<Self.half) + [.finish]),
            RawScript(Self.part(Self.half..<Self.total, sending: 1_000) + [.finish]),
            RawScript(Self.part(Self.half + 1_000..<Self.total) + [.finish]),
        ])
        let response = await server.manager().downloadResponse(HTTPRequest("file"), segments: 2)
        #expect(try Self.content(response) == Self.content)
        let sent = Self.heads(server)
        #expect(sent.count == 3)
        #expect(sent[0].contains("Range: bytes=0-\(Self.half - 1)\r\n") && !sent[0].contains("If-Range"))
        #expect(sent[1].contains("Range: bytes=\(Self.half)-\(Self.total - 1)\r\n"))
        #expect(sent[2].contains("Range: bytes=\(Self.half + 1_000)-\(Self.total - 1)\r\n"), "\(sent[2])")
        #expect(sent[2].contains("If-Range: \"a\"\r\n"))
    }

    @Test("a server whose content has changed, or that codes a later part, is asked for the whole of it", .rows("W2"))
    func changed() async throws {
        let new = Array("new".utf8)
        let rest = Self.half..<Self.total
        let coded = Self.part(rest, "Content-Encoding: gzip\r\n")
        for answer in [Self.whole(new), RawScript(Self.part(rest, tag: "b") + [.finish]), RawScript(coded + [.finish])]
        {
            let server = try RawServer.start([
                RawScript(Self.part(0..<Self.half) + [.finish]), answer, Self.whole(new),
            ])
            let seen = Log<Int64>()
            var request = HTTPRequest("file")
            request.options.downloadProgress = { seen.add($0.completed) }
            let response = await server.manager().downloadResponse(request, segments: 2)
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
        let response = await server.manager().downloadResponse(HTTPRequest("file"), segments: 2)
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
        let download = Task { [request] in await manager.downloadResponse(request, segments: 2) }
        #expect(await seen.wait { $0.last?.completed == Int64(rest) })
        manager.cancelAll(tagged: "file")
        let response = await download.value
        #expect(response.error?.isCancelled == true && response.fileURL == nil)
        let data = try #require(response.resumeData)
        #expect(try Self.content(await manager.downloadResponse(resuming: data)) == Self.content)
        #expect(Self.heads(server)[2].contains("Range: bytes=\(rest)-\r\n"), "\(Self.heads(server)[2])")
    }

    @Test("a server that cuts a part again and again ends the download with an error", .rows("W2"))
    func failing() async throws {
        let server = try RawServer.start(
            [RawScript(Self.part(0..<Self.half) + [.finish])],
            otherwise: RawScript([.receive(.headEnd), .close])
        )
        let response = await server.manager().downloadResponse(HTTPRequest("file"), segments: 2)
        #expect(response.error?.isConnectivity == true && response.resumeData != nil)
    }

    @Test("a request's own deadline replaces the manager's, also where the content is loaded again as a whole")
    func ownDeadline() async throws {
        let loose = "HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\nContent-Range: bytes 0-1/4\r\n\r\nab"
        let server = try RawServer.start(
            [RawScript([.receive(.headEnd), .send(loose), .finish])],
            otherwise: Self.whole(Array("abcd".utf8))
        )
        let manager = server.manager()
        let clock = StillClock()
        (manager.clock, manager.deadline) = (clock, .seconds(1))
        var request = HTTPRequest("file")
        request.options.deadline = .seconds(3600)
        #expect(try Self.content(await manager.downloadResponse(request, segments: 2)) == Array("abcd".utf8))
        #expect(server.connections.count == 2)
        #expect(Set(clock.slept.entries) == [.seconds(3600)])
    }

    @Test(
        "content that a server compresses unasked is loaded as a whole and decoded, as in any download",
        arguments: [200, 206]
    )
    func coded(status: Int) async throws {
        // "abcd", stored.
        let coded: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 1, 4, 0, 0xFB, 0xFF, 0x61, 0x62, 0x63, 0x64, 0x11, 0xCD, 0x82, 0xED,
            4, 0, 0, 0,
        ]
        func answer(_ line: String) -> RawScript {
            let fields = "ETag: \"a\"\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\nConnection: close"
            return RawScript([
                .receive(.headEnd), .send(Array("HTTP/1.1 \(line)\r\n\(fields)\r\n\r\n".utf8) + coded), .finish,
            ])
        }
        let range = "Content-Range: bytes 0-\(coded.count - 1)/\(coded.count)"
        let first = answer(status == 206 ? "206 Partial Content\r\n\(range)" : "200 OK")
        let server = try RawServer.start([first], otherwise: answer("200 OK"))
        let response = await server.manager().downloadResponse(HTTPRequest("file"), segments: 2)
        #expect(try Self.content(response) == Array("abcd".utf8))
    }

    @Test("a rate is that of the whole download, shared by its connections", .rows("W2"))
    func rate() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let rates = Log<Throttle?>()
        manager.interceptors = [
            .adapting { request, _ in
                rates.add(request.throttle)
                return request
            }
        ]
        let whole = Throttle(download: 4_000_000, burst: 400_000)
        let share = Throttle(download: 1_000_000, burst: 100_000)
        var request = HTTPRequest("range/1200000")
        request.options.throttle = whole
        let start = ContinuousClock.now
        #expect(try Self.content(await manager.downloadResponse(request, segments: 4)).count == 1_200_000)
        #expect(ContinuousClock.now - start > .milliseconds(190))
        #expect(rates.entries.count > 2 && rates.entries.allSatisfy { $0 == share }, "\(rates.entries)")
        // A server that sends no parts serves the one connection, which has all of the rate.
        let before = rates.entries.count
        request.path = "bytes/300000"
        #expect(try Self.content(await manager.downloadResponse(request, segments: 4)).count == 300_000)
        #expect(Array(rates.entries[before...]) == [share, whole])
        // No more connections share it than there may be.
        let configuration = URLSessionConfiguration.isolated
        configuration.httpMaximumConnectionsPerHost = 2
        let narrow = HTTPSessionManager(baseURL: manager.baseURL, configuration: configuration)
        narrow.interceptors = manager.interceptors
        var complete = URLRequest(url: server.location("/range/600000"))
        complete.throttle = whole
        #expect(try Self.content(await narrow.downloadResponse(HTTPRequest(complete), segments: 4)).count == 600_000)
        #expect(rates.entries.last == Throttle(download: 2_000_000, burst: 200_000))
    }

    @Test("the head of the content is reported once, and again where the content is loaded again", .rows("W2", "B15"))
    func heads() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let seen = Log<Int>()
        var options = RequestOptions()
        options.onResponse = { head in
            seen.add(head.statusCode)
            return .allow
        }
        for path in ["range/600000", "bytes/300000", "range/0"] {
            _ = try Self.content(await manager.downloadResponse(HTTPRequest(path, options: options), segments: 2))
        }
        #expect(seen.entries == [206, 200, 200])
        options.throttle = Throttle(download: 100_000_000)
        _ = try Self.content(await manager.downloadResponse(HTTPRequest("bytes/300000", options: options), segments: 2))
        #expect(seen.entries == [206, 200, 200, 200])
        // Its parts have no validator, and do not fit together.
        let weak = Self.part(0..<Self.half, tag: "a").map { step in
            guard case .send(let octets) = step else { return step }
            let text = String(decoding: octets, as: UTF8.self)
            return .send(Array(text.replacing("ETag: \"a\"", with: "ETag: W/\"a\"").utf8))
        }
        let raw = try RawServer.start([RawScript(weak + [.finish]), Self.whole(Array("new".utf8))])
        let response = await raw.manager().downloadResponse(HTTPRequest("file", options: options), segments: 2)
        #expect(try Self.content(response) == Array("new".utf8) && seen.entries == [206, 200, 200, 200, 200])
        // The content has changed after its head was reported.
        let changing = try RawServer.start([
            RawScript(Self.part(0..<Self.half) + [.finish]), Self.whole([1]), Self.whole([1, 2, 3]),
        ])
        let changed = await changing.manager().downloadResponse(HTTPRequest("file", options: options), segments: 2)
        #expect(try Self.content(changed).count == 3)
        #expect(seen.entries == [206, 200, 200, 200, 200, 206, 200])
        options.onResponse = { _ in .cancel }
        let refused = await manager.downloadResponse(HTTPRequest("range/600000", options: options), segments: 2)
        #expect(refused.error?.isCancelled == true)
    }

    @Test("the transfer of the whole has its progress, as a value and as a sequence", .rows("W2", "U21"))
    func transfer() async throws {
        let rest = Self.half + 1_000
        let server = try RawServer.start([
            RawScript(Self.part(0..<Self.half) + [.finish]),
            RawScript(Self.part(Self.half..<Self.total, sending: 1_000) + [.stall]),
        ])
        let manager = server.manager()
        let download = Task { await manager.downloadResponse(HTTPRequest("file"), segments: 2) }
        let most = TransferProgress(completed: Int64(rest), total: Int64(Self.total))
        #expect(await Sightings<Int>.eventually { manager.transfers.first?.downloadProgress == most })
        let whole = try #require(manager.transfers.first)
        let values = whole.sequence(\.downloadReaders)
        manager.cancelAll()
        _ = await download.value
        // The sequence of a download that has stopped has its last value.
        var last: TransferProgress?
        for await value in values { last = value }
        #expect(last == most && whole.downloadProgress == most && manager.transfers.isEmpty)
    }

    @Test("a suspended download takes no content and begins no part until it is resumed", .rows("W2"))
    func suspension() async throws {
        let server = try RawServer.start([
            RawScript(Self.part(0..<Self.half) + [.finish]),
            Self.whole([1, 2, 3]),
            RawScript(Self.part(Self.half..<Self.total) + [.finish]),
        ])
        let manager = server.manager()
        let stopped = Sightings<TransferControl>()
        var request = HTTPRequest("file")
        request.options.onResponse = { [weak manager] _ in
            if let whole = manager?.transfers.first {
                whole.suspend()
                stopped.add(whole)
            }
            return .allow
        }
        let download = Task { [request] in await manager.downloadResponse(request, segments: 2) }
        #expect(await stopped.wait { !$0.isEmpty })
        let whole = try #require(stopped.all.first)
        // Another request has its whole exchange meanwhile.
        let other = await manager.response(to: HTTPRequest("other"), serializer: .data)
        #expect(other.value == Data([1, 2, 3]))
        #expect(whole.state == .suspended && whole.downloadProgress.completed == 0)
        #expect(server.connections.count == 2)
        whole.resume()
        #expect(try Self.content(await download.value) == Self.content)
    }

    @Test("a download that is loaded again as a whole has its progress too", .rows("W2"))
    func transferOfWhole() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let (seen, controls) = (Log<Int64>(), Log<TransferControl>())
        var request = HTTPRequest("range/0")
        request.options.onResponse = { [weak manager] _ in
            if let control = manager?.transfers.first { controls.add(control) }
            return .allow
        }
        request.options.downloadProgress = { seen.add($0.completed) }
        _ = try Self.content(await manager.downloadResponse(request, segments: 2))
        request.path = "bytes/300000"
        request.options.throttle = Throttle(download: 100_000_000)
        _ = try Self.content(await manager.downloadResponse(request, segments: 2))
        #expect(seen.entries.last == 300_000)
        #expect(controls.entries.last?.downloadProgress.completed == 300_000)
    }

    @Test("a suspended download that is loaded again as a whole takes no content until it is resumed", .rows("W2"))
    func suspensionOfWhole() async throws {
        // Parts without a validator do not fit together.
        let part = "HTTP/1.1 206 Partial Content\r\nContent-Length: 3\r\nContent-Range: bytes 0-2/3\r\n"
        let server = try RawServer.start([
            RawScript([.receive(.headEnd), .send("\(part)Connection: close\r\n\r\nabc"), .finish]),
            Self.whole([1, 2, 3]), Self.whole([4]),
        ])
        let manager = server.manager()
        let states = Log<Set<TransferControl.State>>()
        var request = HTTPRequest("file")
        request.options.onResponse = { [weak manager] _ in
            manager?.transfers.first?.suspend()
            // The request of the part was cancelled.
            states.add(Set(manager?.transfers.map(\.state) ?? []).subtracting([.cancelled]))
            return .allow
        }
        let download = Task { [request] in await manager.downloadResponse(request, segments: 2) }
        await states.wait(for: 1)
        #expect(states.entries == [[.suspended]])
        let whole = try #require(manager.transfers.first)
        // Another request has its whole exchange meanwhile.
        let other = await manager.response(to: HTTPRequest("other"), serializer: .data)
        #expect(other.value == Data([4]) && whole.downloadProgress.completed == 0)
        whole.resume()
        #expect(try Self.content(await download.value) == [1, 2, 3])
    }

    @Test("if its process is killed, its file is removed with other downloads that nobody resumes", .rows("W2"))
    func sweptName() throws {
        let file = try SegmentFile()
        defer { file.remove() }
        // The names that `StoreFile` sweeps.
        #expect(file.url.lastPathComponent.hasPrefix("URLLoading_"))
        #expect(file.url.pathExtension == "part")
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
