import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

@Suite("Parts of downloads in the temporary folder", .timeLimit(.minutes(5)))
struct DownloadPartsTests {
    @Test("a week after its last octet a part is removed; complete downloads, other files, links and folders stay")
    func sweep() throws {
        let folder = TemporaryFolder()
        try folder.make()
        let now = Int(Date().timeIntervalSince1970) + 605_000
        for name in ["URLLoading_1.part", "URLLoading_2.part", "URLLoading_3.tmp", "other.part", "URLLoading_4"] {
            folder.write([1], to: name)
        }
        let young = Date(timeIntervalSince1970: Double(now - 604_000))
        try FileManager.default.setAttributes(
            [.modificationDate: young],
            ofItemAtPath: folder.path + "/URLLoading_2.part"
        )
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/URLLoading_5.part",
            withDestinationPath: folder.path + "/other.part"
        )
        try FileManager.default.createDirectory(
            atPath: folder.path + "/URLLoading_6.part",
            withIntermediateDirectories: false
        )
        let before = folder.names
        StoreFile.sweep(folder.path, at: now - 1_000)
        #expect(folder.names == before)
        StoreFile.sweep(folder.path, at: now)
        #expect(folder.names == before.filter { $0 != "URLLoading_1.part" })
    }

    @Test("a part is what a session has made, in the temporary folder or in that of a background session")
    func own() {
        let temporary = NSTemporaryDirectory()
        for path in [
            StoreFile.freshPath(in: temporary), "\(temporary)URLLoading_0.part",
            "/state/background/id-x/URLLoading_ff.kept",
        ] { #expect(StoreFile.isPart(path, of: "/state"), "\(path)") }
        for path in [
            "", "URLLoading_1.part", "/URLLoading_1.part", "\(temporary)URLLoading_.part",
            "\(temporary)URLLoading_g.part",
            "\(temporary)URLLoading_1.tmp", "\(temporary)URLLoading_1.kept", "\(temporary)x/../URLLoading_1.part",
            "\(temporary)/URLLoading_1.part", "\(temporary)URLLoading_1.part/", "\(temporary)URLLoading_1.part\u{301}",
            "/state/background/id-x/URLLoading_ff.part", "/state/background/x/URLLoading_ff.kept",
            "/state/background/URLLoading_ff.kept", "/state/background/id-x/y/URLLoading_ff.kept",
            "/other/background/id-x/URLLoading_ff.kept", "/state/background/id-x/../id-y/URLLoading_ff.kept",
        ] { #expect(!StoreFile.isPart(path, of: "/state"), "\(path)") }
    }

    @Test("a process sweeps with its first download, and then once an hour at most")
    func pace() {
        let last = Mutex<ContinuousClock.Instant?>(nil)
        let start = ContinuousClock.now
        let times = [0, 1, 3_599, 3_600, 3_601, 7_200]
        #expect(
            times.map { StoreFile.noteSweep(at: start + .seconds($0), after: last) } == [
                true, false, false, true, false, true,
            ]
        )
    }

    @Test("the folder of a process that has ended is removed, and that of one that still runs stays")
    func folders() throws {
        let temporary = TemporaryFolder()
        try temporary.make()
        let (running, ended) = try (
            #require(StoreFile.newFolder(in: temporary.path)), #require(StoreFile.newFolder(in: temporary.path))
        )
        defer { StoreFile.unlock(running.lock) }
        for folder in [running, ended] {
            #expect(FileManager.default.createFile(atPath: folder.path + "/URLLoading_1.tmp", contents: Data([1])))
        }
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path + "/URLLoading_link.files",
            withDestinationPath: ended.path
        )
        StoreFile.sweep(temporary.path, at: 0)
        #expect(temporary.names.count == 3)
        StoreFile.unlock(ended.lock)
        StoreFile.sweep(temporary.path, at: 0)
        #expect(temporary.names.count == 2)
        #expect(FileManager.default.fileExists(atPath: running.path + "/URLLoading_1.tmp"))
    }

    @Test("a complete download is in its process's folder, which the process makes again if it was removed")
    func ownFolder() throws {
        let temporary = TemporaryFolder()
        try temporary.make()
        temporary.write([1], to: "one")
        temporary.write([2], to: "two")
        let first = StoreFile.completed(temporary.path + "/one")
        defer { StoreFile.remove(first) }
        #expect(first.hasSuffix(".tmp") && StoreFile.parent(of: first).hasSuffix(".files"))
        #expect(StoreFile.newWhole(isChecked: true).hasPrefix(StoreFile.parent(of: first)))
        let second = StoreFile.completed(temporary.path + "/two")
        defer { StoreFile.remove(second) }
        #expect(StoreFile.parent(of: second) == StoreFile.parent(of: first) && second != first)
        #expect(temporary.names.isEmpty)
    }

    @Test("a downloaded file stays when its handler and its delegate have returned")
    func stays() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let target = try url(server.url("/bytes/100"))
        let file = await withCheckedContinuation { told in
            session.downloadTask(with: target) { file, _, _ in told.resume(returning: file) }.resume()
        }
        let kept = Kept()
        let other = URLSession(configuration: .isolated, delegate: kept, delegateQueue: nil)
        other.downloadTask(with: target).resume()
        let second = await kept.file.wait("the file")
        // What followed the calls has run when these have.
        for queue in [session.delegateQueue, other.delegateQueue] {
            await withCheckedContinuation { told in queue.addOperation { told.resume() } }
        }
        other.finishTasksAndInvalidate()
        for file in [file, second] {
            let file = try #require(file)
            #expect(try Data(contentsOf: file).count == 100)
            try FileManager.default.removeItem(at: file)
        }
    }

    private final class Kept: NSObject, URLSessionDownloadDelegate {
        let file = Word<URL>()

        func urlSession(
            _ session: URLSession,
            downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) { file.give(location) }
    }

    @Test("what a cut download leaves is a part until it is complete; then it is in the process's folder")
    func names() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 4\r\n\r\n"
        let rest =
            "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 2-3/4\r\nContent-Length: 2\r\n\r\ncd"
        let server = try RawServer.start([
            [.receive(.headEnd), .send(head + "ab"), .finish], [.receive(.headEnd), .send(rest)],
        ])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        var left: Data?
        do {
            _ = try await session.download(from: try url(server.url("/file")))
        } catch let error as URLError {
            left = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
        }
        let data = try #require(left)
        let part = try #require(ResumeData(data))
        #expect(part.path.hasSuffix(".part"))
        let (file, _) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: file) }
        let folder = URL(fileURLWithPath: part.path).deletingLastPathComponent().path
        let name = file.path.dropFirst(folder.count)
        #expect(file.path.hasPrefix(folder) && name.hasPrefix("/URLLoading_") && name.contains(".files/URLLoading_"))
        #expect(try Data(contentsOf: file) == Data("abcd".utf8) && !FileManager.default.fileExists(atPath: part.path))
    }
}
