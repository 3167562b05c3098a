import Foundation
import Synchronization
import TestSupport
import Testing
import URLLoading
import UncurlTestServer

extension Recorder: URLSessionWebSocketDelegate {
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        note("open \(`protocol` ?? "-")")
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        note("close \(closeCode.rawValue) \(reason.map { String(decoding: $0, as: UTF8.self) } ?? "-")")
    }
}

extension URLSessionWebSocketTask.Message {
    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
    fileprivate var data: Data? {
        if case .data(let data) = self { data } else { nil }
    }
}

@Suite("WebSocket tasks", .timeLimit(.minutes(5)))
struct WebSocketTaskTests {
    private func session(_ recorder: Recorder? = nil) -> URLSession {
        URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
    }

    private func url(_ server: TestServer, _ path: String = "/websocket") -> URL {
        URL(string: "ws" + server.url(path).dropFirst(4))!
    }

    private func url(_ peer: Peer, _ path: String) -> URL { URL(string: "ws://127.0.0.1:\(peer.port)\(path)")! }

    private func failure(_ body: () async throws -> Void) async -> URLError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? URLError
        }
    }

    @Test("messages are sent and received, and the delegate hears of the beginning and the end")
    func echo() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let recorder = Recorder()
        let session = session(recorder)
        let task = session.webSocketTask(with: url(server))
        #expect(task.closeCode == .invalid && task.maximumMessageSize == 1 << 20)
        task.resume()
        for text in ["", "hello", "κόσμε 😀", String(repeating: "long ", count: 30_000)] {
            try await task.send(.string(text))
            #expect(try await task.receive().text == text)
        }
        for count in [0, 1, 126, 70_000] {
            let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try await task.send(.data(data))
            #expect(try await task.receive().data == data)
        }
        try await task.sendPing()
        #expect((task.response as? HTTPURLResponse)?.statusCode == 101)
        task.cancel(with: .normalClosure, reason: Data("done".utf8))
        await recorder.end()
        #expect(recorder.events == ["created", "open -", "close 1000 done", "metrics", "end"])
        #expect(task.closeCode == .normalClosure && task.closeStatus == 1000 && task.closeReason == Data("done".utf8))
        #expect(task.state == .completed && task.error == nil)
        #expect(task.countOfBytesSent == task.countOfBytesReceived && task.countOfBytesSent > 200_000)
        let late = await failure { _ = try await task.receive() }
        #expect(late?.code == .networkConnectionLost)
        session.finishTasksAndInvalidate()
    }

    @Test("handlers are called on the delegate queue, in order; calls made before the task begins wait for it")
    func handlers() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(configuration: .isolated, delegate: nil, delegateQueue: queue)
        let task = session.webSocketTask(with: url(server))
        let story = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { word in
            let place = OperationQueue.current === queue ? "" : " elsewhere"
            story.withLock { $0.append(word + place) }
        }
        await withCheckedContinuation { continuation in
            for number in 0..<3 {
                task.receive { note("got \((try? $0.get())?.text ?? "?")\(number == 2 ? "" : "")") }
                task.send(.string("\(number)")) { error in if error != nil { note("not sent") } }
            }
            task.sendPing { error in
                note(error == nil ? "pong" : "no pong")
                continuation.resume()
            }
            task.resume()
        }
        #expect(story.withLock { $0 } == ["got 0", "got 1", "got 2", "pong"])
        session.invalidateAndCancel()
    }

    @Test("subprotocols are offered by the request or by name, and the choice is told")
    func subprotocols() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let target = url(server)
        var request = URLRequest(url: target)
        request.setValue("fourth, fifth", forHTTPHeaderField: "sec-websocket-protocol")
        request.setValue("mine", forHTTPHeaderField: "Sec-WebSocket-Key")
        let fieldRequest = request
        let makers: [(String, (URLSession) -> URLSessionWebSocketTask)] = [
            ("second", { $0.webSocketTask(with: target, protocols: ["second", "third"]) }),
            ("fourth", { $0.webSocketTask(with: fieldRequest) }),
        ]
        for (expected, make) in makers {
            let recorder = Recorder()
            let task = make(session(recorder))
            task.resume()
            try await task.send(.string("x"))
            #expect(try await task.receive().text == "x")
            // What the delegate's queue has not told by the time of a cancel is not told any more.
            await until { recorder.events.contains("open \(expected)") }
            task.cancel()
            await recorder.end()
            #expect(recorder.events == ["created", "open \(expected)", "metrics", "end -999"])
        }
    }

    @Test(
        "an answer other than a switch of protocols is an error, and the response is kept",
        arguments: [200, 403, 503]
    )
    func refused(status: Int) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let recorder = Recorder()
        let target = url(server, "/status/\(status)")
        let task = session(recorder).webSocketTask(with: target)
        task.resume()
        let error = try #require(await failure { _ = try await task.receive() })
        #expect(error.code == .badServerResponse && error.failingURL == target)
        #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == target.absoluteString)
        #expect(error.userInfo[NSUnderlyingErrorKey] != nil)
        await recorder.end()
        #expect((task.response as? HTTPURLResponse)?.statusCode == status)
        #expect((task.error as? URLError)?.code == .badServerResponse && task.closeCode == .invalid)
        #expect(!recorder.events.contains { $0.hasPrefix("open") })
    }

    @Test("a redirect is followed, and told")
    func redirected() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let recorder = Recorder()
        let task = session(recorder).webSocketTask(with: url(server, "/redirect-to?url=/websocket"))
        task.resume()
        try await task.send(.string("there"))
        #expect(try await task.receive().text == "there")
        task.cancel(with: .goingAway, reason: nil)
        await recorder.end()
        #expect(recorder.events.contains("redirect 302") && recorder.events.contains("close 1001 -"))
    }

    @Test("a redirect to a URL of a WebSocket's scheme is followed", arguments: ["ws", "WS"])
    func redirectedToSocket(scheme: String) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let recorder = Recorder()
        let place = scheme + server.url("/websocket").dropFirst(4)
        let task = session(recorder).webSocketTask(with: url(server, "/redirect-to?url=\(place)"))
        task.resume()
        try await task.send(.string("there"))
        #expect(try await task.receive().text == "there")
        task.cancel(with: .goingAway, reason: nil)
        await recorder.end()
        #expect(recorder.events.contains("redirect 302"))
    }

    @Test("a redirect of a data task to a WebSocket's URL is the answer")
    func notForOthers() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let place = "ws" + server.url("/websocket").dropFirst(4)
        let url = try #require(URL(string: server.url("/redirect-to?url=\(place)")))
        let (_, response) = try await URLSession(configuration: .isolated).data(from: url)
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
    }

    @Test("a request that cannot be a WebSocket's fails", arguments: ["ftp://127.0.0.1/", "ws:", "file:///tmp"])
    func unsupported(text: String) async throws {
        let recorder = Recorder()
        let task = session(recorder).webSocketTask(with: URL(string: text)!)
        task.resume()
        let error = await failure { try await task.sendPing() }
        #expect(error?.code == .unsupportedURL || error?.code == .badURL)
        await recorder.end()
        var post = URLRequest(url: URL(string: "ws://127.0.0.1:1/")!)
        post.httpMethod = "POST"
        let other = session().webSocketTask(with: post)
        other.resume()
        #expect(await failure { try await other.send(.string("")) }?.code == .unsupportedURL)
    }

    @Test("a task of no session, and one of a session that has ended, fail all calls")
    func homeless() async throws {
        let alone = URLSessionWebSocketTask()
        alone.resume()
        #expect(await failure { _ = try await alone.receive() } != nil)
        alone.cancel(with: .invalid, reason: Data([0xFF]))
        let session = session()
        session.invalidateAndCancel()
        let late = session.webSocketTask(with: URL(string: "ws://127.0.0.1:1/")!)
        let waiting = Task { await failure { _ = try await late.receive() } }
        late.resume()
        #expect(await waiting.value != nil)
    }

    @Test("a Swift task that is cancelled stops waiting, and takes no message with it")
    func cancelledWait() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let task = session().webSocketTask(with: url(server))
        for isRunning in [false, true] {
            if isRunning {
                task.resume()
                try await task.sendPing()
            }
            let waiting = Task { await failure { _ = try await task.receive() } }
            waiting.cancel()
            #expect(await waiting.value?.code == .cancelled)
        }
        try await task.send(.string("kept"))
        #expect(try await task.receive().text == "kept")
        task.cancel()
    }

    @Test("a server has to wait for its reader: no more is read ahead than a message and 64 KiB")
    func backPressure() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let task = session().webSocketTask(with: url(server))
        task.resume()
        let data = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) })
        let count = 100
        for _ in 0..<count { task.send(.data(data)) { _ in } }
        for number in 0..<count {
            let isSame = try await task.receive().data == data
            #expect(isSame)
            let ahead = Int(task.countOfBytesReceived) - (number + 1) * data.count
            #expect(ahead <= (64 << 10) + data.count)
        }
        task.cancel()
    }

    @Test("cancelling ends waiting calls at once")
    func cancelled() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let recorder = Recorder()
        let task = session(recorder).webSocketTask(with: url(server))
        task.resume()
        try await task.sendPing()
        let waiting = Task { await failure { _ = try await task.receive() } }
        task.cancel()
        #expect(await waiting.value?.code == .cancelled)
        await recorder.end()
        #expect(recorder.events.last == "end -999")
        #expect(await failure { try await task.send(.string("late")) }?.code == .cancelled)
    }
}

/// The same against a server that is not ours.
@Suite("WebSocket tasks and Python", .serialized, .timeLimit(.minutes(5)))
struct WebSocketTaskPeerTests {
    private func url(_ peer: Peer, _ path: String, scheme: String = "ws") -> URL {
        URL(string: "\(scheme)://127.0.0.1:\(peer.port)\(path)")!
    }

    private func session(_ recorder: Recorder? = nil) -> URLSession {
        URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
    }

    private func code(_ body: () async throws -> Void) async -> URLError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    @Test("the server's close code and reason are told, an application's own codes by their number")
    func closedByServer() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        for (status, code) in [(1001, URLSessionWebSocketTask.CloseCode.goingAway), (4321, .unsupportedData)] {
            let recorder = Recorder()
            let task = session(recorder).webSocketTask(with: url(peer, "/close/\(status)/enough"))
            task.resume()
            try await task.send(.string("go"))
            #expect(await self.code { _ = try await task.receive() } == .networkConnectionLost)
            await recorder.end()
            #expect(task.closeCode == code && task.closeStatus == status && task.closeReason == Data("enough".utf8))
            #expect(recorder.events.suffix(3) == ["close \(code.rawValue) enough", "metrics", "end"])
        }
    }

    @Test("the server gets the code and reason of an orderly close, and 1001 of a cancelled task")
    func closedByUs() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let long = String(repeating: "ü", count: 100)
        let ways: [(String, @Sendable (URLSessionWebSocketTask) -> Void)] = [
            ("1000 grüße", { $0.cancel(with: .normalClosure, reason: Data("grüße".utf8)) }),
            ("1008 \(long.prefix(61))", { $0.cancel(with: .policyViolation, reason: Data(long.utf8)) }),
            ("1005 ", { $0.cancel(with: .noStatusReceived, reason: nil) }),
            ("1001 ", { $0.cancel() }),
        ]
        for (expected, close) in ways {
            let recorder = Recorder()
            let task = session(recorder).webSocketTask(with: url(peer, "/remember"))
            task.resume()
            _ = try await task.receive()
            close(task)
            await recorder.end()
            let asking = session().webSocketTask(with: url(peer, "/tell"))
            asking.resume()
            guard case .string(let told) = try await asking.receive() else { return #expect(Bool(false)) }
            #expect(told == expected)
            asking.cancel()
        }
    }

    @Test("what a server sends unasked waits until a suspended task is resumed")
    func suspended() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let session = session()
        let task = session.webSocketTask(with: url(peer, "/tell"))
        task.resume()
        try await task.sendPing()
        task.suspend()
        let other = session.webSocketTask(with: url(peer, "/remember"))
        other.resume()
        _ = try await other.receive()
        // The server tells the suspended task of it.
        other.cancel(with: .goingAway, reason: nil)
        let echo = session.webSocketTask(with: url(peer, "/echo"))
        echo.resume()
        // By the same two loops: what was said before has come, and would have been read.
        for _ in 0..<50 {
            try await echo.send(.string("x"))
            _ = try await echo.receive()
        }
        #expect(task.countOfBytesReceived == 0)
        task.resume()
        guard case .string(let told) = try await task.receive() else { return #expect(Bool(false)) }
        #expect(told == "1001 ")
        session.invalidateAndCancel()
    }

    @Test("the pong of a withdrawn ping answers the pings before it")
    func withdrawnPing() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let task = session().webSocketTask(with: url(peer, "/late"))
        task.resume()
        _ = try await task.receive()
        let isAnswered = Word<Bool>()
        task.sendPing { isAnswered.give($0 == nil) }
        let withdrawn = Task { try await task.sendPing() }
        withdrawn.cancel()
        #expect(await code { try await withdrawn.value } == .cancelled)
        try await task.send(.string("answer"))
        guard case .string(let count) = try await task.receive() else { return #expect(Bool(false)) }
        #expect(count == "2")
        // Who has no answer by now gets the error of the cancel.
        task.cancel()
        #expect(await isAnswered.wait("the answer to the first ping") == true)
    }

    @Test("a message beyond the limit ends the task, one within a raised limit does not")
    func limit() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let task = session().webSocketTask(with: url(peer, "/big/1048832"))
        task.resume()
        #expect(await code { _ = try await task.receive() } == .dataLengthExceedsMaximum)
        #expect(task.closeCode == .messageTooBig)
        let larger = session().webSocketTask(with: url(peer, "/big/1048832"))
        larger.maximumMessageSize = 2 << 20
        larger.resume()
        guard case .data(let data) = try await larger.receive() else { return #expect(Bool(false)) }
        #expect(data.count == 1_048_832)
        larger.cancel()
    }

    @Test("a message that the server does not read fails when its task is cancelled")
    func unread() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let task = session().webSocketTask(with: url(peer, "/quiet"))
        task.resume()
        try await task.send(.string("first"))
        // More than all buffers of a connection hold; of what cannot be compressed.
        var random = SplitMix(seed: 1)
        let piece = Data((0..<1 << 16).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        let noise = (0..<16).reduce(into: Data()) { all, _ in all.append(piece) }
        let (answers, tell) = AsyncStream.makeStream(of: URLError.Code?.self)
        for _ in 0..<20 { task.send(.data(noise)) { tell.yield(($0 as? URLError)?.code) } }
        // The first has left, so that the others are on their way.
        while task.countOfBytesSent == 5 { await Task.yield() }
        task.cancel()
        var heard: [URLError.Code?] = []
        for await answer in answers {
            heard.append(answer)
            if heard.count == 20 { break }
        }
        #expect(heard[0] == nil && heard[19] == .cancelled)
    }

    @Test("a server that closes TCP without a close frame is an error, and the close is abnormal")
    func aborted() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let recorder = Recorder()
        let task = session(recorder).webSocketTask(with: url(peer, "/abort"))
        task.resume()
        try await task.send(.string("go"))
        #expect(await code { _ = try await task.receive() } == .networkConnectionLost)
        await recorder.end()
        #expect(task.closeCode == .abnormalClosure && recorder.events.last == "end -1005")
    }

    @Test("the handshake carries the session's and the request's fields, and over TLS all is the same")
    func secure() async throws {
        let identity = try TestCertificates.localhost
        let peer = try await WebSocketPeer.start(identity: (identity.chainPEM, identity.keyPEM))
        defer { peer.stop() }
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
            return (.useCredential, URLCredential(trust: trust))
        }
        let recorder = Recorder(answers)
        var request = URLRequest(url: url(peer, "/headers", scheme: "wss"))
        request.setValue("yes", forHTTPHeaderField: "X-Mine")
        request.setValue("13", forHTTPHeaderField: "Sec-WebSocket-Version")
        let task = session(recorder).webSocketTask(with: request)
        task.resume()
        guard case .string(let text) = try await task.receive() else { return #expect(Bool(false)) }
        let names = text.split(separator: "\n").map { $0.prefix { $0 != ":" }.lowercased() }
        #expect(Set(names).count == names.count && names.first == "host")
        #expect(text.contains("\nX-Mine: yes") && names.contains("user-agent") && names.contains("sec-websocket-key"))
        #expect(recorder.events.contains("challenge NSURLAuthenticationMethodServerTrust"))
        let echo = session(recorder).webSocketTask(with: url(peer, "/echo", scheme: "wss"))
        echo.resume()
        let long = String(repeating: "secret ", count: 20_000)
        try await echo.send(.string(long))
        guard case .string(let back) = try await echo.receive() else { return #expect(Bool(false)) }
        #expect(back == long)
        echo.cancel(with: .normalClosure, reason: nil)
    }
}
