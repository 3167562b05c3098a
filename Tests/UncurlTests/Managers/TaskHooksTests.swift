import Dispatch
import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Hooks", .timeLimit(.minutes(5)))
struct TaskHooksTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("a request that a hook has made a download is cancelled by its transfer", .rows("U26"))
    @available(*, deprecated)
    func cancelledDownload() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
        let raw = try RawServer.start([], otherwise: RawScript([.receive(.headEnd), .send(head), .stall]))
        let manager = raw.manager()
        let became = Log<Int>()
        manager.hooks.didReceiveResponse = { _, _, _ in .becomeDownload }
        manager.hooks.didBecomeDownloadTask = { _, _, task in became.add(task.taskIdentifier) }
        let transfer = manager.start(HTTPRequest("x"), serializer: .data)
        await became.wait(for: 1)
        transfer.cancel()
        #expect(await transfer.response.error?.isCancelled == true)
        #expect(transfer.control.task is URLSessionDownloadTask)
    }

    @Test("a hook makes no request a stream task, and no operation a download: the content follows", .rows("U26"))
    @available(*, deprecated)
    func contentFollows() async throws {
        let manager = server.manager()
        var request = HTTPRequest("bytes/10")
        request.options.onResponse = { _ in .becomeStream }
        #expect(await manager.response(to: request, serializer: .data).value?.count == 10)
        request.options.onResponse = { _ in .becomeDownload }
        let operation = try HTTPRequestOperation(request, manager: manager, serializer: .data)
        let ended = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            operation.start()
        }
        #expect(ended.data.count == 10)
    }

    @Test(
        "a hook for metrics that is set while the answer is awaited gets the metrics of every transaction",
        .rows("U26")
    )
    func lateMetrics() async throws {
        let gate = RawGate()
        let raw = try RawServer.start([
            [
                .receive(.headEnd), .send("HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n"),
                .receive(.headEnd), .wait(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            ]
        ])
        let manager = raw.manager()
        let transfer = manager.start(HTTPRequest("x"), serializer: .data)
        await until { String(decoding: raw.received(0), as: UTF8.self).contains("GET /y") }
        let log = Log<URLSessionTaskMetrics>()
        manager.hooks.didFinishCollectingMetrics = { _, _, metrics in log.add(metrics) }
        gate.open()
        #expect(await transfer.response.value?.count == 2)
        await log.wait(for: 1)
        let metrics = try #require(log.entries.first)
        #expect(metrics.redirectCount == 1)
        #expect(metrics.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode } == [302, 200])
    }

    @Test("hooks set after the session was made are called when their event happens", .rows("U26", "U27"))
    func late() async {
        let manager = server.manager()
        _ = manager.session
        let log = Log<String>()
        manager.hooks.didCreate = { _, _ in log.add("created") }
        manager.hooks.willPerformRedirection = { _, _, response, request in
            log.add("redirect \(response.statusCode)")
            return request
        }
        manager.hooks.didReceiveResponse = { _, _, response in
            log.add("response")
            return .allow
        }
        manager.hooks.didReceiveData = { _, _, data in log.add("data") }
        manager.hooks.didFinishCollectingMetrics = { _, _, _ in log.add("metrics") }
        manager.hooks.didComplete = { _, _, error in log.add("complete \(error == nil)") }
        let response = await manager.response(to: HTTPRequest("redirect/2"), serializer: .data)
        #expect(response.statusCode == 200)
        await log.wait(for: 7)
        #expect(
            log.entries == [
                "created", "redirect 302", "redirect 302", "response", "data", "metrics", "complete true",
            ]
        )
    }

    @Test(
        "a request's own hook hears of its task's creation after the manager's, for requests of all kinds",
        .rows("U26")
    )
    func creation() async throws {
        let manager = server.manager()
        let log = Log<String>()
        manager.hooks.didCreate = { _, task in log.add("manager \(task.taskIdentifier)") }
        var hooks = TaskHooks()
        hooks.didCreate = { _, task in log.add("own \(task.taskIdentifier)") }
        var request = HTTPRequest("bytes/10")
        request.options.hooks = hooks
        _ = await manager.response(to: request, serializer: .data)
        for try await _ in try await manager.stream(request) {}
        let file = try #require(await manager.downloadResponse(request).value)
        try FileManager.default.removeItem(at: file)
        let operation = try HTTPRequestOperation(request, manager: manager)
        operation.start()
        await log.wait(for: 8)
        let numbers = log.entries.compactMap { $0.split(separator: " ").last }
        #expect(Set(numbers).count == 4)
        #expect(
            log.entries == stride(from: 0, to: 8, by: 2).flatMap { ["manager \(numbers[$0])", "own \(numbers[$0])"] }
        )
    }

    @Test(
        "a redirect that is not followed is the response; a changed redirect goes to its new target",
        .rows("U30", "B12")
    )
    func redirects() async {
        let manager = server.manager()
        var request = HTTPRequest("redirect/1")
        request.options.redirects = .doNotFollow
        request.options.validation = ResponseValidation(statusCodes: nil)
        #expect(await manager.response(to: request, serializer: .data).statusCode == 302)
        manager.hooks.willPerformRedirection = { _, _, _, _ in nil }
        request.options.redirects = nil
        #expect(await manager.response(to: request, serializer: .data).statusCode == 302)
        manager.hooks.willPerformRedirection = nil
        let elsewhere = URLRequest(url: server.location("/bytes/77"))
        manager.redirects = .modify { _, _, _ in elsewhere }
        #expect(await manager.response(to: request, serializer: .data).value?.count == 77)
    }

    @Test(
        "a challenge is answered by credential, refused, cancelled, or ended with exactly the hook's error",
        .rows("U28")
    )
    func challenges() async {
        struct Mine: Error {}
        let request = HTTPRequest("basic-auth/me/secret")
        let right = URLCredential(user: "me", password: "secret", persistence: .none)
        let admitted = server.manager()
        admitted.hooks.didReceiveChallenge = { _, _, _ in .useCredential(right) }
        #expect(await admitted.response(to: request, serializer: .data).statusCode == 200)
        let manager = server.manager()
        manager.hooks.didReceiveChallenge = { _, _, _ in .rejectProtectionSpace }
        #expect(await manager.response(to: request, serializer: .data).statusCode == 401)
        manager.hooks.didReceiveChallenge = { _, _, _ in .cancel }
        guard case .cancelled? = await manager.response(to: request, serializer: .data).error else {
            Issue.record("not cancelled")
            return
        }
        manager.hooks.didReceiveChallenge = { _, _, _ in .fail(Mine()) }
        guard case .challenge(let error)? = await manager.response(to: request, serializer: .data).error else {
            Issue.record("no error of the hook's")
            return
        }
        #expect(error is Mine)
    }

    @Test("a request's own credential answers the first challenge, and is not offered twice", .rows("B28", "A5"))
    func ownCredential() async {
        var request = HTTPRequest("basic-auth/me/secret")
        request.options.credential = URLCredential(user: "me", password: "secret", persistence: .none)
        #expect(await server.manager().response(to: request, serializer: .data).statusCode == 200)
        let manager = server.manager()
        request.options.credential = URLCredential(user: "me", password: "wrong", persistence: .none)
        let before = server.requestCount
        #expect(await manager.response(to: request, serializer: .data).statusCode == 401)
        #expect(server.requestCount - before == 2)
    }

    @Test("a streamed upload asks for its first body stream, and for another when it is redirected", .rows("U31"))
    func bodyStreams() async throws {
        let manager = server.manager()
        let log = Log<Int>()
        let request = HTTPRequest(
            .post,
            "anything",
            body: .stream(length: 5, contentType: "text/plain") {
                log.add(1)
                return InputStream(data: Data("hello".utf8))
            }
        )
        let response = await manager.response(to: request, serializer: .string)
        #expect(response.value?.contains("hello") == true)
        #expect(log.entries.count == 1)
        var redirected = request
        redirected.path = "redirect-to?url=/anything&status_code=307"
        let again = await manager.response(to: redirected, serializer: .string)
        #expect(again.value?.contains("hello") == true, "\(again)")
        #expect(log.entries.count == 3)
    }

    @Test("an upload of a stream has its declared length for its total", .rows("U22"))
    func uploadTotal() async {
        let manager = server.manager()
        let log = Log<Int64>()
        manager.hooks.didSendBodyData = { _, _, bytes in log.add(bytes.expected ?? -1) }
        let request = HTTPRequest(.post, "upload", body: .stream(length: 5) { InputStream(data: Data("hello".utf8)) })
        #expect(await manager.response(to: request, serializer: .data).statusCode == 200)
        #expect(log.entries.last == 5)
    }

    @Test("a form of unknown length has no total, whatever Content-Length its caller sets", .rows("U22"))
    func unknownTotal() async throws {
        let manager = server.manager()
        let (hooked, told) = (Log<Int64?>(), Log<Int64?>())
        manager.hooks.didSendBodyData = { _, _, bytes in hooked.add(bytes.expected) }
        var form = MultipartForm()
        try form.append(.stream(length: nil) { InputStream(data: Data(count: 100_000)) }, name: "part")
        var request = HTTPRequest(.post, "upload", headers: ["Content-Length": "7"], body: .multipart(form))
        request.options.uploadProgress = { told.add($0.total) }
        let response = await manager.response(to: request, serializer: .data)
        #expect(response.statusCode == 200, "\(response)")
        #expect(!hooked.entries.isEmpty && hooked.entries.allSatisfy { $0 == nil }, "\(hooked.entries)")
        #expect(!told.entries.isEmpty && told.entries.allSatisfy { $0 == nil }, "\(told.entries)")
    }

    @Test("an answer is stored as the hook says", .rows("U26"))
    func caching() async throws {
        let manager = server.manager()
        let log = Log<Int>()
        manager.hooks.willCacheResponse = { _, _, proposed in
            log.add(proposed.data.count)
            return nil
        }
        _ = await manager.response(to: HTTPRequest("cache/60"), serializer: .data)
        let before = server.requestCount
        _ = await manager.response(to: HTTPRequest("cache/60"), serializer: .data)
        #expect(server.requestCount == before + 1)
        manager.hooks.willCacheResponse = nil
        manager.caching = .cache
        _ = await manager.response(to: HTTPRequest("cache/60"), serializer: .data)
        _ = await manager.response(to: HTTPRequest("cache/60"), serializer: .data)
        #expect(server.requestCount == before + 2)
        #expect(log.entries.count == 2)
    }

    @Test(
        "a request's own rule of caching goes before the manager's: it stores nothing",
        .rows("U26"),
        arguments: [false, true]
    )
    func ownCaching(modifies: Bool) async {
        let manager = server.manager()
        let changed = Log<Int>()
        var request = HTTPRequest("cache/60")
        func load() async { _ = await manager.response(to: request, serializer: .data) }
        manager.caching = .cache
        request.options.caching =
            modifies
            ? .modify { _, proposed in
                changed.add(proposed.data.count)
                return nil
            } : .doNotCache
        await load()
        await load()
        #expect(server.requestCount == 2 && changed.entries.count == (modifies ? 2 : 0))
        (manager.caching, request.options.caching) = (request.options.caching, nil)
        await load()
        await load()
        #expect(server.requestCount == 4)
        request.options.caching = .cache
        await load()
        await load()
        #expect(server.requestCount == 5)
    }

    /// Who hears of a task's waiting.
    private enum Listener: CaseIterable { case manager, request, monitor }

    @Test(
        "a hook or a monitor hears once that a task waits for the network",
        .rows("U26"),
        arguments: Listener.allCases
    )
    private func connectivity(listener: Listener) async {
        let configuration = URLSessionConfiguration.isolated
        configuration.waitsForConnectivity = true
        configuration.timeoutIntervalForResource = 1
        let manager = URLSessionManager(configuration: configuration)
        // A broadcast address: the kernel has no route for TCP, and sends nothing.
        var request = HTTPRequest(URLRequest(url: URL(string: "http://255.255.255.255/")!))
        let (told, ends) = (Log<Int>(), Log<Bool>())
        var hooks = TaskHooks()
        hooks.isWaitingForConnectivity = { _, task in told.add(task.taskIdentifier) }
        switch listener {
        case .manager: manager.hooks = hooks
        case .request: request.options.hooks = hooks
        case .monitor:
            manager.monitors = [
                ClosureEventMonitor(details: true) { event in
                    if case .detail(.isWaitingForConnectivity) = event.kind { told.add(1) }
                    if case .finished = event.kind { ends.add(true) }
                }
            ]
        }
        let transfer = manager.start(request, serializer: .data)
        #expect(await transfer.response.error?.isTimeout == true)
        if listener == .monitor { await ends.wait(for: 1) }
        #expect(told.entries == [1])
    }

    @Test("hooks hear of an informational response before the head", .rows("U26"), arguments: [false, true])
    func informational(ofRequest: Bool) async throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
        let raw = try RawServer.answering([hints + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
        let manager = raw.manager()
        let log = Log<String>()
        var hooks = TaskHooks()
        hooks.didReceiveInformationalResponse = { _, _, response in
            log.add("\(response.statusCode) \(response.value(forHTTPHeaderField: "Link") ?? "")")
        }
        hooks.didReceiveResponse = { _, _, response in
            log.add("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
            return .allow
        }
        var request = HTTPRequest("x")
        if ofRequest { request.options.hooks = hooks } else { manager.hooks = hooks }
        #expect(await manager.response(to: request, serializer: .data).value == Data("ok".utf8))
        #expect(log.entries == ["103 </a.css>", "200"])
    }

    @Test("a hook can read the head before the content, and end the request", .rows("B15"))
    func onResponse() async {
        let manager = server.manager()
        var request = HTTPRequest("bytes/100000")
        let log = Log<Int>()
        request.options.onResponse = { response in
            log.add(response.statusCode)
            return .cancel
        }
        guard case .cancelled? = await manager.response(to: request, serializer: .data).error else {
            Issue.record("not cancelled")
            return
        }
        #expect(log.entries == [200])
        request.options.onResponse = { _ in .allow }
        #expect(await manager.response(to: request, serializer: .data).value?.count == 100_000)
    }

    @Test(
        "a data task that becomes a download keeps its delegate object, and its file is in the response",
        .rows("U13", "A7")
    )
    @available(*, deprecated)
    func becomesDownload() async throws {
        let manager = server.manager()
        let log = Log<Bool>()
        manager.hooks.didReceiveResponse = { _, _, _ in .becomeDownload }
        manager.hooks.didBecomeDownloadTask = { [weak manager] _, old, new in
            log.add(manager?.delegate(for: new) != nil && old.taskIdentifier == new.taskIdentifier)
        }
        let response = await manager.response(to: HTTPRequest("bytes/500"), serializer: .file)
        let file = try #require(response.fileURL)
        #expect(try Data(contentsOf: file).count == 500)
        try FileManager.default.removeItem(at: file)
        #expect(log.entries == [true])
    }

    @Test("the manager's hook chooses before the task's destination; nil leaves the choice to it", .rows("U23", "U25"))
    func destinations() async throws {
        let manager = server.manager()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (hooks, own) = (folder.appendingPathComponent("hook"), folder.appendingPathComponent("own"))
        manager.hooks.didFinishDownloading = { _, _, _ in hooks }
        #expect(await manager.downloadResponse(HTTPRequest("bytes/5"), to: .file(own)).value == hooks)
        manager.hooks.didFinishDownloading = { _, _, _ in nil }
        #expect(await manager.downloadResponse(HTTPRequest("bytes/5"), to: .file(own)).value == own)
        let left = await manager.downloadResponse(HTTPRequest("bytes/5"), to: DownloadDestination { _, _ in nil })
        let file = try #require(left.value)
        #expect(try Data(contentsOf: file).count == 5)
        try FileManager.default.removeItem(at: file)
    }

    @Test(
        "the hook for a download of the program's own task is called once, and its file goes to the hook's place",
        .rows("U25")
    )
    func ownTask() async throws {
        let manager = server.manager()
        let folder = try TemporaryFolder()
        let place = folder.url.appending(path: "place")
        let (asked, ends) = (Log<Int>(), Log<Bool>())
        manager.hooks.didFinishDownloading = { _, task, _ in
            asked.add(task.taskIdentifier)
            return place
        }
        manager.hooks.didComplete = { _, _, error in ends.add(error == nil) }
        let task = manager.session.downloadTask(with: server.location("/bytes/5"))
        task.resume()
        await ends.wait(for: 1)
        #expect(asked.entries == [task.taskIdentifier] && ends.entries == [true])
        #expect(try Data(contentsOf: place).count == 5)
    }

    @Test("a hook that reads the content does not keep it from being collected", .rows("A6"))
    func watching() async {
        let manager = server.manager()
        let log = Log<Int>()
        manager.hooks.didReceiveData = { _, _, data in log.add(data.count) }
        let response = await manager.response(to: HTTPRequest("bytes/50000"), serializer: .data)
        #expect(response.value?.count == 50_000)
        #expect(log.entries.reduce(0, +) == 50_000)
    }

    @Test("where redirects are not followed, their statuses are acceptable, and other statuses stay refused")
    func acceptable() async throws {
        let manager = server.manager()
        manager.redirects = .doNotFollow
        let answer = await manager.response(to: "redirect/1", serializer: .data)
        #expect(answer.statusCode == 302 && answer.error == nil)
        let stream = try await manager.stream("redirect/1")
        #expect(stream.response.statusCode == 302)
        for try await _ in stream {}
        let download = await manager.downloadResponse("redirect/1")
        #expect(download.statusCode == 302 && download.error == nil)
        if let file = download.fileURL { try FileManager.default.removeItem(at: file) }
        #expect(await manager.response(to: "status/404", serializer: .data).error?.statusCode == 404)
        manager.redirects = nil
        var request = HTTPRequest("redirect/1")
        request.options.redirects = .doNotFollow
        #expect(await manager.response(to: request, serializer: .data).error == nil)
        // What the program says of statuses counts.
        request.options.validation = ResponseValidation(statusCodes: [200])
        #expect(await manager.response(to: request, serializer: .data).error?.statusCode == 302)
        manager.redirects = .doNotFollow
        let ended = Word<Int?>()
        let plain = URLRequest(url: server.location("/redirect/1"))
        manager.dataTask(with: plain, serializer: .data) { ended.give($0.error == nil ? $0.statusCode : nil) }.resume()
        #expect(await ended.wait("the end of the task") == 302)
        let operation = HTTPRequestOperation(request: plain, manager: manager, serializer: .data)
        let end = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0) }
            operation.start()
        }
        #expect(end.error == nil && end.statusCode == 302)
    }

    @Test("a task has its delegate when a hook hears of its creation")
    func createdWhole() async throws {
        let manager = server.manager()
        let log = Log<Bool>()
        manager.hooks.didCreate = { [weak manager] _, task in log.add(manager?.delegate(for: task) != nil) }
        let tasks = (0..<300).map { index in
            let request = URLRequest(url: server.location("/bytes/1"))
            return index % 2 == 0
                ? manager.dataTask(with: request, serializer: .data) { _ in } as URLSessionTask
                : manager.downloadTask(with: request, serializer: .file) { response in
                    if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
                }
        }
        await log.wait(for: 300)
        #expect(log.entries.allSatisfy { $0 })
        for task in tasks { task.cancel() }
    }

    @Test("a monitor hears of a request's beginning before anything else, whichever way it begins")
    func beginning() async throws {
        let manager = server.manager()
        let log = Log<(transfer: Int, word: String)>()
        let queue = DispatchQueue(label: "monitor")
        manager.monitors = [
            ClosureEventMonitor(queue: queue) { event in
                switch event.kind {
                case .began: log.add((event.transfer, "began"))
                case .resumed: log.add((event.transfer, "resumed"))
                case .cancelled: log.add((event.transfer, "cancelled"))
                case .finished: log.add((event.transfer, "finished"))
                default: break
                }
            }
        ]
        _ = await manager.response(to: "bytes/1", serializer: .data)
        for try await _ in try await manager.stream("bytes/1") {}
        _ = await manager.start("bytes/1", serializer: .data).response
        _ = await manager.transfer("bytes/1", serializer: .data).resumed.response
        let cancelled = manager.transfer("bytes/1", serializer: .data)
        cancelled.cancel()
        _ = await cancelled.response
        let closures = Word<Bool>()
        manager.start(streaming: "bytes/1", each: { _ in }, completion: { _ in closures.give(true) })
        _ = await closures.wait("the end of the stream")
        let operation = try HTTPRequestOperation("bytes/1", manager: manager)
        _ = await withCheckedContinuation { continuation in
            operation.onCompletion { continuation.resume(returning: $0.error == nil) }
            operation.start()
        }
        let download = await manager.downloadResponse("bytes/1")
        if let file = download.fileURL { try FileManager.default.removeItem(at: file) }
        await log.wait(for: 24)
        let transfers = Dictionary(grouping: log.entries, by: \.transfer).sorted { $0.key < $1.key }.map(\.value)
        #expect(transfers.count == 8)
        for words in transfers.map({ $0.map(\.word) }) {
            #expect(words == ["began", "resumed", "finished"] || words == ["began", "cancelled", "finished"])
        }
    }
}

extension Transfer {
    fileprivate var resumed: Transfer {
        resume()
        return self
    }
}
