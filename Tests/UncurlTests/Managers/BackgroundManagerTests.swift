import FacadeTestSupport
import Foundation
import Glibc
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

/// Uses processes of its own, which are killed or end in the middle of a call, with `_exit`: the leak sanitizer would
/// report the objects of that call.
@Suite("Background managers", .ownThread, .timeLimit(.minutes(5)))
struct BackgroundManagerTests {
    private static let content = String(repeating: "0123456789", count: 2000)

    private static func head(_ status: String, _ fields: String...) -> String {
        "HTTP/1.1 \(status)\r\nETag: \"v1\"\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    @Test(
        "a download that ended before kill -9, without a hook to take it, waits for the hook of a later process",
        .rows("U32")
    )
    func ended() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.head("200 OK", "Content-Length: 20000") + Self.content)]
        ])
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/file") as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.hooks.didComplete = { _, _, _ in BackgroundProcess.die() }
            guard let url = URL(string: address) else { return }
            manager.session.downloadTask(with: url).resume()
            await BackgroundProcess.waitForEnd()
        }
        // As often as no hook asks for the file.
        for _ in 1...2 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder.path as String] in
                let manager = BackgroundProcess.manager(in: folder)
                manager.hooks.didComplete = { _, _, error in if error == nil { BackgroundProcess.die() } }
                await BackgroundProcess.waitForEnd()
            }
        }
        #expect(folder.names.count { $0.hasSuffix(".part") } == 1)
        // One hook after the other, with the end told in between.
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.sessionHooks.didFinishBackgroundEvents = { _ in
                if FileManager.default.fileExists(atPath: place) { _exit(EXIT_SUCCESS) }
            }
            let (ends, told) = AsyncStream.makeStream(of: Void.self)
            manager.hooks.didComplete = { _, _, _ in told.yield() }
            for await _ in ends { break }
            manager.hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            await BackgroundProcess.waitForEnd()
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
        #expect(server.connections.count == 1)
    }

    @Test(
        "a download that kill -9 has cut resumes with the next process's manager, although no code touches its session",
        .rows("U3")
    )
    func cut() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try TestServer.start()
        let address = server.url("/range/40000000")
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = address as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.hooks.didWriteData = { _, _, bytes in
                if bytes.total > 1_000_000 { BackgroundProcess.die() }
            }
            guard let url = URL(string: address) else { return }
            manager.session.downloadTask(with: url).resume()
            await BackgroundProcess.waitForEnd()
        }
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            manager.hooks.didComplete = { _, _, error in _exit(error == nil ? EXIT_SUCCESS : EXIT_FAILURE) }
            await BackgroundProcess.waitForEnd()
        }
        let alphabet = Data(String(repeating: "abcdefghijklmnopqrstuvwxyz", count: 40_000_000 / 26 + 1).utf8)
        #expect(FileManager.default.contents(atPath: place) == alphabet.prefix(40_000_000))
    }

    @Test("a manager's own download has its handler, its serializer and its place, and leaves nothing in the journal")
    func handled() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.head("200 OK", "Content-Length: 20000") + Self.content), .close],
            [.receive(.headEnd), .send(Self.head("200 OK", "Content-Length: 20000") + Self.content), .close],
        ])
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .success) {
            [folder = folder.path as String, address = server.url("/file") as String, place = place as String] in
            var sessionHooks = SessionHooks()
            let (ends, told) = AsyncStream.makeStream(of: Void.self)
            sessionHooks.didFinishBackgroundEvents = { _ in told.yield() }
            let manager = BackgroundProcess.manager(in: folder, sessionHooks: sessionHooks)
            guard let url = URL(string: address) else { return }
            let handled: Response<Data> = await withCheckedContinuation { continuation in
                let destination = DownloadDestination.file(URL(fileURLWithPath: place))
                manager.downloadTask(with: URLRequest(url: url), to: destination, serializer: .data) {
                    continuation.resume(returning: $0)
                }.resume()
            }
            guard handled.value?.count == 20_000, handled.fileURL?.path == place else { _exit(3) }
            // Awaited, and without a place: the file is the caller's.
            let awaited = await manager.downloadResponse(HTTPRequest(URLRequest(url: url)))
            guard let file = awaited.value, (try? Data(contentsOf: file))?.count == 20_000 else { _exit(4) }
            // Every user can look into the temporary folder.
            var facts = stat()
            guard stat(file.path, &facts) == 0, facts.st_mode & 0o777 == 0o600 else { _exit(5) }
            try? FileManager.default.removeItem(at: file)
            for await _ in ends { _exit(EXIT_SUCCESS) }
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
        #expect(folder.names.count { $0.hasSuffix(".part") } == 0)
    }

    @Test(
        "a download whose handler kill -9 interrupted is reported again, to hooks and by notification",
        .rows("U3", "U18")
    )
    func unsettled() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.head("200 OK", "Content-Length: 20000") + Self.content)]
        ])
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/file") as String] in
            let manager = BackgroundProcess.manager(in: folder)
            guard let url = URL(string: address) else { return }
            let destination = DownloadDestination { _, _ in
                BackgroundProcess.die()
                return nil
            }
            manager.downloadTask(with: URLRequest(url: url), to: destination, serializer: .data) { _ in }.resume()
            await BackgroundProcess.waitForEnd()
        }
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            _ = NotificationCenter.default.addObserver(
                forName: URLSessionManager.taskDidComplete,
                object: nil,
                queue: nil
            ) { note in
                let file = note.userInfo?[URLSessionManager.assetPathKey] as? URL
                _exit(note.object is URLSessionDownloadTask && file?.path == place ? EXIT_SUCCESS : EXIT_FAILURE)
            }
            var hooks = TaskHooks()
            hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            let manager = BackgroundProcess.manager(in: folder, hooks: hooks)
            await BackgroundProcess.waitForEnd()
            withExtendedLifetime(manager) {}
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
        #expect(server.connections.count == 1)
    }

    @Test("a hook that has each download's place in a dictionary is called once for a restored download", .rows("U25"))
    func places() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.head("200 OK", "Content-Length: 20000") + Self.content)]
        ])
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/file") as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.hooks.didFinishDownloading = { _, _, _ in
                BackgroundProcess.die()
                return nil
            }
            guard let url = URL(string: address) else { return }
            manager.session.downloadTask(with: url).resume()
            await BackgroundProcess.waitForEnd()
        }
        await #expect(processExitsWith: .success) {
            [folder = folder.path as String, address = server.url("/file") as String, place = place as String] in
            let places = Mutex([address: URL(fileURLWithPath: place)])
            var hooks = TaskHooks()
            hooks.didFinishDownloading = { _, task, _ in
                let address = task.originalRequest?.url?.absoluteString ?? ""
                return places.withLock { $0.removeValue(forKey: address) }
            }
            hooks.didComplete = { _, _, error in _exit(error == nil ? EXIT_SUCCESS : EXIT_FAILURE) }
            let manager = BackgroundProcess.manager(in: folder, hooks: hooks)
            await BackgroundProcess.waitForEnd()
            withExtendedLifetime(manager) {}
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
        #expect(server.connections.count == 1)
    }

    /// Downloads to a place, or resumes what an earlier process has left, and ends after this many octets, after this
    /// time, or at the end. With neither it exits when the file is there.
    private static func load(
        _ address: String,
        _ place: String,
        in folder: String,
        octets: Int?,
        after time: Int?
    ) async {
        var hooks = TaskHooks()
        hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
        hooks.didWriteData = { _, _, bytes in if let octets, bytes.total >= octets { BackgroundProcess.die() } }
        if let time {
            let end = DispatchTime.now() + .milliseconds(time)
            DispatchQueue(label: "death").asyncAfter(deadline: end) { BackgroundProcess.die() }
        }
        let manager = BackgroundProcess.manager(in: folder, hooks: hooks)
        // In this order: a task that ends meanwhile has put the file at its place by then. The record of a download
        // before this one may still be there: its process ended before it was removed.
        let url = URL(string: address)
        let isBegun =
            manager.tasks.contains { $0.originalRequest?.url == url } || FileManager.default.fileExists(atPath: place)
        // A process that was killed before it resumed its task has left one that is suspended.
        for task in manager.tasks { task.resume() }
        if !isBegun, let url {
            manager.downloadTask(with: URLRequest(url: url), serializer: .data) { _ in }.resume()
        }
        // What the process itself has ended is no background event, of which the session would tell.
        await until { manager.tasks.isEmpty && FileManager.default.fileExists(atPath: place) }
        if octets != nil || time != nil { BackgroundProcess.die() }
        _exit(EXIT_SUCCESS)
    }

    @Test("after kill -9 at any moment and at any octet, a manager's file is complete", .rows("U3"))
    func killed() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try TestServer.start()
        var random = SplitMix(seed: 0x6d61_6e61)
        for round in 0..<4 {
            let size = 12_000_000 + round
            let address = server.url("/range/\(size)")
            let place = folder.path + "/file-\(round)"
            let (octets, time) = (Int(random.next() % UInt64(size)), Int(random.next() % 60))
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    address = address as String, place = place as String, folder = folder.path as String,
                    time = time as Int
                ] in
                await BackgroundManagerTests.load(address, place, in: folder, octets: nil, after: time)
            }
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    address = address as String, place = place as String, folder = folder.path as String,
                    octets = octets as Int
                ] in
                await BackgroundManagerTests.load(address, place, in: folder, octets: octets, after: nil)
            }
            await #expect(processExitsWith: .success) {
                [address = address as String, place = place as String, folder = folder.path as String] in
                await BackgroundManagerTests.load(address, place, in: folder, octets: nil, after: nil)
            }
            let alphabet = Data(String(repeating: "abcdefghijklmnopqrstuvwxyz", count: size / 26 + 1).utf8)
            #expect(FileManager.default.contents(atPath: place) == alphabet.prefix(size))
        }
    }

    @Test(
        "an awaited download whose process is killed before its task is resumed goes on in the next process",
        .rows("U3")
    )
    func unresumed() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try TestServer.start()
        let place = folder.path + "/taken"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/range/1000") as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.monitors = [ClosureEventMonitor { if case .createdTask = $0.kind { BackgroundProcess.die() } }]
            guard let url = URL(string: address) else { return }
            _ = await manager.downloadResponse(HTTPRequest(URLRequest(url: url)))
        }
        #expect(server.requestCount == 0 && BackgroundProcess.records(in: folder.path) == 1)
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            manager.hooks.didComplete = { _, _, error in _exit(error == nil ? EXIT_SUCCESS : EXIT_FAILURE) }
            await BackgroundProcess.waitForEnd()
        }
        #expect(FileManager.default.contents(atPath: place)?.count == 1000)
    }

    @Test("the answer of a manager's own upload that no handler has had reaches the next process's hooks", .rows("U32"))
    func answered() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.head("201 Created", "Content-Length: 20000") + Self.content)]
        ])
        let source = folder.path + "/source"
        try Data("x".utf8).write(to: URL(fileURLWithPath: source))
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path as String, address = server.url("/file") as String, source = source as String] in
            let manager = BackgroundProcess.manager(in: folder)
            guard let url = URL(string: address) else { return }
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            manager.uploadTask(with: request, from: .file(URL(fileURLWithPath: source)), serializer: .data) { _ in
                BackgroundProcess.die()
            }.resume()
            await BackgroundProcess.waitForEnd()
        }
        await #expect(processExitsWith: .success) { [folder = folder.path as String] in
            let content = Log<Data>()
            var hooks = TaskHooks()
            hooks.didReceiveData = { _, _, data in content.add(data) }
            hooks.didComplete = { _, task, error in
                let status = (task.response as? HTTPURLResponse)?.statusCode
                let count = content.entries.reduce(0) { $0 + $1.count }
                _exit(error == nil && status == 201 && count == 20_000 ? EXIT_SUCCESS : EXIT_FAILURE)
            }
            let manager = BackgroundProcess.manager(in: folder, hooks: hooks)
            await BackgroundProcess.waitForEnd()
            withExtendedLifetime(manager) {}
        }
    }

    @Test("a hook gets the head of an upload's answer, and cannot make a download of it", .rows("U26"))
    @available(*, deprecated)
    func uploadStays() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .receive(.bytes(5)), .send(Self.head("200 OK", "Content-Length: 5") + "there")]
        ])
        let source = folder.path + "/source"
        _ = FileManager.default.createFile(atPath: source, contents: Data("hello".utf8))
        await #expect(processExitsWith: .success) {
            [folder = folder.path as String, address = server.url("/file") as String, source = source as String] in
            let heads = Log<Int?>()
            var hooks = TaskHooks()
            hooks.didReceiveResponse = { _, _, response in
                heads.add((response as? HTTPURLResponse)?.statusCode)
                return .becomeDownload
            }
            let manager = BackgroundProcess.manager(in: folder, hooks: hooks)
            guard let url = URL(string: address) else { return }
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            let body = UploadBody.file(URL(fileURLWithPath: source))
            manager.uploadTask(with: request, from: body, serializer: .data) { response in
                let isWhole = response.value == Data("there".utf8) && response.error == nil
                _exit(isWhole && heads.entries == [200] ? EXIT_SUCCESS : EXIT_FAILURE)
            }.resume()
            await BackgroundProcess.waitForEnd()
        }
    }

    @Test(
        "a redirect is not followed if a request's rule, its manager's rule or a hook says so",
        .rows("U26"),
        arguments: 0..<3
    )
    func declinedRedirect(by number: Int) async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.head("302 Found", "Location: /next", "Content-Length: 0"))]
        ])
        await #expect(processExitsWith: .success) {
            [folder = folder.path as String, address = server.url("/file") as String, number = number as Int] in
            let manager = BackgroundProcess.manager(in: folder)
            guard let url = URL(string: address) else { return }
            var request = HTTPRequest(URLRequest(url: url))
            switch number {
            case 0: request.options.redirects = .doNotFollow
            case 1: manager.redirects = .doNotFollow
            default: manager.hooks.willPerformRedirection = { _, _, _, _ in nil }
            }
            let response = await manager.downloadResponse(request)
            _exit(response.statusCode == 302 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
        #expect(server.connections.count == 1)
        #expect(String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "GET ").count == 2)
    }

    @Test("a download that cannot be moved to its place is kept, and moved when that is possible")
    func stranded() async throws {
        let folder = try BackgroundProcess.Folder()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.head("200 OK", "Content-Length: 20000") + Self.content)]
        ])
        let place = folder.path + "/no/taken"
        await #expect(processExitsWith: .success) {
            [folder = folder.path as String, address = server.url("/file") as String, place = place as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.sessionHooks.didFinishBackgroundEvents = { _ in _exit(EXIT_SUCCESS) }
            manager.hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            guard let url = URL(string: address) else { return }
            manager.session.downloadTask(with: url).resume()
            await BackgroundProcess.waitForEnd()
        }
        try FileManager.default.createDirectory(atPath: folder.path + "/no", withIntermediateDirectories: true)
        await #expect(processExitsWith: .success) { [folder = folder.path as String, place = place as String] in
            let manager = BackgroundProcess.manager(in: folder)
            manager.sessionHooks.didFinishBackgroundEvents = { _ in
                if FileManager.default.fileExists(atPath: place) { _exit(EXIT_SUCCESS) }
            }
            manager.hooks.didFinishDownloading = { _, _, _ in URL(fileURLWithPath: place) }
            await BackgroundProcess.waitForEnd()
        }
        #expect(FileManager.default.contents(atPath: place) == Data(Self.content.utf8))
    }
}
