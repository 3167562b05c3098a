import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Progress as a sequence", .timeLimit(.minutes(5)))
struct ProgressSequenceTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("a download's sequence rises, ends with the transfer and has its length last")
    func download() async {
        let transfer = server.manager().downloadTransfer(HTTPRequest("bytes/100000"))
        let sequence = transfer.downloadProgress()
        transfer.resume()
        var seen: [TransferProgress] = []
        for await progress in sequence { seen.append(progress) }
        #expect(seen.last == TransferProgress(completed: 100_000, total: 100_000))
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.completed < $1.completed })
        if let file = await transfer.response.fileURL { try? FileManager.default.removeItem(at: file) }
    }

    @Test("an upload's sequence ends with the transfer and has the content's length last")
    func upload() async {
        let request = HTTPRequest(.post, "post", body: .data(Data(count: 300_000)))
        let transfer = server.manager().transfer(request, serializer: .data)
        let sequence = transfer.uploadProgress()
        transfer.resume()
        var last: TransferProgress?
        for await progress in sequence { last = progress }
        #expect(last == TransferProgress(completed: 300_000, total: 300_000))
    }

    @Test("a late reader gets the later progress, and its sequence ends when the transfer is cancelled")
    func late() async throws {
        let content = [UInt8](repeating: 7, count: 3000)
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n".utf8)
        let raw = try RawServer.start([
            RawScript([.receive(.headEnd), .send(head + content[..<1000]), .stall])
        ])
        let manager = raw.manager()
        let transfer = manager.start(HTTPRequest("x"), serializer: .data)
        let early = transfer.downloadProgress()
        var reader = early.makeAsyncIterator()
        // The first thousand may have come before the reader did: the end tells of it then.
        await until { transfer.control.downloadProgress.completed == 1000 }
        transfer.cancel()
        let first = await reader.next()
        #expect(first?.completed == 1000)
        #expect(await reader.next() == nil)
        _ = await transfer.response
    }

    @Test("a sequence of a transfer that is over is empty")
    func over() async {
        let transfer = server.manager().start(HTTPRequest("bytes/4"), serializer: .data)
        _ = await transfer.response
        for await _ in transfer.downloadProgress() { Issue.record("a value after the end") }
    }

    @Test("a reader that stops early, or whose task is cancelled, ends its own sequence and not the transfer")
    func early() async throws {
        let (gate, content) = (RawGate(), [UInt8](repeating: 7, count: 3000))
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n".utf8)
        let raw = try RawServer.start([.pausing(head + content, at: head.count + 1000, until: gate)])
        let transfer = raw.manager().transfer(HTTPRequest("x"), serializer: .data)
        let (stopped, cancelled, read) = (
            transfer.downloadProgress(), transfer.downloadProgress(), transfer.downloadProgress()
        )
        let seen = Log<Int64>()
        let reader = Task { for await progress in cancelled { seen.add(progress.completed) } }
        transfer.resume()
        for await progress in stopped {
            #expect(progress.completed > 0)
            break
        }
        await seen.wait(for: 1)
        reader.cancel()
        await reader.value
        #expect(transfer.control.state == .resumed)
        gate.open()
        var last: TransferProgress?
        for await progress in read { last = progress }
        #expect(last == TransferProgress(completed: 3000, total: 3000))
        #expect(await transfer.response.value?.count == 3000)
    }
}
