import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

@Suite("Stream tasks", .ownThread, .timeLimit(.minutes(5)))
struct StreamTaskTests {
    private func session(_ recorder: StreamRecorder?) -> URLSession {
        URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
    }

    private func task(_ session: URLSession, _ server: RawServer, host: String = "127.0.0.1") -> URLSessionStreamTask {
        let task = session.streamTask(withHostName: host, port: Int(server.port))
        task.resume()
        return task
    }

    private func text(_ data: Data?) -> String? { data.map { String(decoding: $0, as: UTF8.self) } }

    private func code(_ body: () async throws -> some Any) async -> URLError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    @Test("both sides send at will, minimum and maximum apply, and the end is told once all has been read")
    func conversation() async throws {
        let server = try RawServer.start([
            [.receive(.bytes(5)), .send("one two"), .receive(.bytes(5)), .send(" three"), .finish]
        ])
        let recorder = StreamRecorder()
        let session = session(recorder)
        let task = task(session, server)
        try await task.write(Data("hello".utf8), timeout: 10)
        let first = try await task.readData(ofMinLength: 3, maxLength: 3, timeout: 10)
        #expect(text(first.0) == "one" && !first.1)
        try await task.write(Data("again".utf8), timeout: 0)
        let second = try await task.readData(ofMinLength: 10, maxLength: 100, timeout: 10)
        #expect(text(second.0) == " two three")
        let third = try await task.readData(ofMinLength: 1, maxLength: 100, timeout: 10)
        #expect(third.0 == nil && third.1)
        #expect(task.countOfBytesSent == 10 && task.countOfBytesReceived == 13)
        task.closeWrite()
        await recorder.milestone()
        #expect(recorder.events == ["read closed", "write closed", "end"] && task.state == .completed)
        #expect(try server.waitForEnd(of: 0).sawFinish)
        #expect(text(Data(server.received(0))) == "helloagain")
        session.finishTasksAndInvalidate()
    }

    @Test("calls made before the task begins take effect in their order, and are answered on the delegate queue")
    func early() async throws {
        let server = try RawServer.start([[.receive(.bytes(6)), .send("abcdef"), .finish]])
        let queue = OperationQueue()
        let session = URLSession(configuration: .isolated, delegate: nil, delegateQueue: queue)
        let task = session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
        let heard = Mutex<[String]>([])
        let texts = await withCheckedContinuation { (told: CheckedContinuation<[String], Never>) in
            for word in ["12", "34", "56"] {
                task.write(Data(word.utf8), timeout: 0) { error in
                    #expect(error == nil && OperationQueue.current === queue)
                    heard.withLock { $0.append(word) }
                }
            }
            task.readData(ofMinLength: 2, maxLength: 2, timeout: 0) { data, _, _ in
                heard.withLock { $0.append(String(decoding: data ?? Data(), as: UTF8.self)) }
            }
            task.readData(ofMinLength: 4, maxLength: 9, timeout: 0) { data, _, _ in
                heard.withLock { $0.append(String(decoding: data ?? Data(), as: UTF8.self)) }
                told.resume(returning: heard.withLock { $0 })
            }
            task.resume()
        }
        #expect(texts == ["12", "34", "56", "ab", "cdef"])
        #expect(server.received(0) == Array("123456".utf8))
        session.invalidateAndCancel()
    }

    @Test("a suspended task writes nothing, and neither do later calls; time limits stop")
    func suspended() async throws {
        let server = try RawServer.start(otherwise: [.receive(.bytes(1)), .send("!"), .receive(.bytes(100))])
        let session = session(nil)
        let (task, other) = (task(session, server), task(session, server))
        try await task.write(Data("a".utf8), timeout: 0)
        _ = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
        task.suspend()
        let answered = Mutex<[String]>([])
        let (answers, tell) = AsyncStream.makeStream(of: String.self)
        let answer = { @Sendable (what: String) in
            answered.withLock { $0.append(what) }
            tell.yield(what)
        }
        task.write(Data("b".utf8), timeout: 30) { answer($0 == nil ? "written" : "not written") }
        task.readData(ofMinLength: 1, maxLength: 1, timeout: 0.05) { _, _, error in
            answer((error as? URLError)?.code == .timedOut ? "nothing read" : "read")
        }
        task.closeWrite()
        // Longer by the clock of the same loop, and behind all of it.
        #expect(await code { try await other.readData(ofMinLength: 1, maxLength: 1, timeout: 0.1) } == .timedOut)
        #expect(answered.withLock(\.self) == [])
        #expect(server.received(0) == Array("a".utf8) && !server.connections[0].sawFinish)
        task.resume()
        var heard: [String] = []
        for await what in answers {
            heard.append(what)
            if heard.count == 2 { break }
        }
        #expect(heard == ["written", "nothing read"])
        try server.wait(for: 0, "the end") { $0.sawFinish }
        #expect(server.received(0) == Array("ab".utf8))
        session.invalidateAndCancel()
    }

    @Test("a read that times out fails, and leaves the bytes to the next read")
    func readTimeout() async throws {
        let gate = RawGate()
        let server = try RawServer.start([[.send("a"), .wait(gate), .send("b")]])
        let session = session(nil)
        let task = task(session, server)
        #expect(await code { try await task.readData(ofMinLength: 2, maxLength: 2, timeout: 0.05) } == .timedOut)
        gate.open()
        let next = try await task.readData(ofMinLength: 2, maxLength: 2, timeout: 10)
        #expect(text(next.0) == "ab")
        session.invalidateAndCancel()
    }

    @Test("a Swift task that is cancelled stops waiting, and the stream goes on")
    func takenBack() async throws {
        let gate = RawGate()
        let server = try RawServer.start([[.receive(.bytes(1)), .wait(gate), .send("late")]])
        let session = session(nil)
        let task = task(session, server)
        let reader = Task { try await task.readData(ofMinLength: 1, maxLength: 9, timeout: 0) }
        try await task.write(Data("x".utf8), timeout: 0)
        reader.cancel()
        #expect(await code { try await reader.value } == .cancelled)
        gate.open()
        #expect(text(try await task.readData(ofMinLength: 4, maxLength: 9, timeout: 0).0) == "late")
        session.invalidateAndCancel()
    }

    @Test("a write that the peer does not take times out, and so does everything after it")
    func writeTimeout() async throws {
        let server = try RawServer.start([[.stall]])
        let session = session(nil)
        let task = task(session, server)
        let large = Data(count: 64 << 20)
        #expect(await code { try await task.write(large, timeout: 0.2) } == .timedOut)
        #expect(await code { try await task.write(Data("x".utf8), timeout: 0) } == .networkConnectionLost)
        session.invalidateAndCancel()
    }

    @Test(
        "without a server, with a wrong port and with a wrong host a stream task fails, and what was asked for fails first",
        arguments: 0..<4
    )
    func unreachable(which: Int) async throws {
        let closed = try RawServer.start()
        let port = Int(closed.port)
        closed.stop()
        let (host, number) = [("127.0.0.1", port), ("127.0.0.1", 0), ("127.0.0.1", 70_000), ("no host", 80)][which]
        let recorder = StreamRecorder()
        let session = session(recorder)
        let task = session.streamTask(withHostName: host, port: number)
        task.resume()
        let failure = await code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
        #expect(failure == (which == 0 ? .cannotConnectToHost : .badURL))
        await recorder.milestone()
        #expect(recorder.events == ["end \(failure?.rawValue ?? 0)"])
        #expect(await code { try await task.write(Data("x".utf8), timeout: 0) } == failure)
        #expect((task.error as? URLError)?.userInfo[NSUnderlyingErrorKey] != nil)
        session.finishTasksAndInvalidate()
    }

    @Test("a cancelled task fails the calls that wait, and does not reset a connection whose writes were complete")
    func cancelled() async throws {
        let server = try RawServer.start([[.receive(.bytes(2))]])
        let recorder = StreamRecorder()
        let session = session(recorder)
        let task = task(session, server)
        try await task.write(Data("hi".utf8), timeout: 0)
        async let read = code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
        task.cancel()
        #expect(await read == .cancelled)
        await recorder.milestone()
        #expect(recorder.events == ["end -999"])
        #expect(try server.waitForEnd(of: 0).sawFinish)
    }

    @Test("a connection that breaks ends the task with an error")
    func broken() async throws {
        let server = try RawServer.start([[.receive(.bytes(1)), .reset]])
        let recorder = StreamRecorder()
        let session = session(recorder)
        let task = task(session, server)
        task.write(Data("x".utf8), timeout: 0) { _ in }
        let failure = await code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
        #expect(failure == .networkConnectionLost)
        await recorder.milestone()
        #expect(recorder.events == ["end -1005"])
    }

    @Test("each direction is closed by itself, after earlier calls")
    func halves() async throws {
        let server = try RawServer.start([[.receive(.bytes(4)), .send("more"), .receive(.endOfStream), .send("rest")]])
        let recorder = StreamRecorder()
        let session = session(recorder)
        let task = task(session, server)
        async let written: Void = task.write(Data("data".utf8), timeout: 0)
        try await written
        #expect(text(try await task.readData(ofMinLength: 4, maxLength: 4, timeout: 0).0) == "more")
        task.closeWrite()
        #expect(await code { try await task.write(Data("x".utf8), timeout: 0) } == .networkConnectionLost)
        #expect(text(try await task.readData(ofMinLength: 4, maxLength: 4, timeout: 0).0) == "rest")
        task.closeRead()
        await recorder.milestone()
        #expect(recorder.events == ["write closed", "read closed", "end"])
        #expect(await code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) } != nil)
    }

    @Test("a program that does not read makes the peer wait: little is read ahead, and nothing is lost")
    func backPressure() async throws {
        let bytes = (0..<8 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        let server = try RawServer.start([[.send(bytes), .finish]])
        let session = session(nil)
        let task = task(session, server)
        var all: [UInt8] = []
        var isEnd = false
        while !isEnd {
            let (data, end) = try await task.readData(ofMinLength: 1 << 20, maxLength: 1 << 20, timeout: 0)
            all += data ?? Data()
            isEnd = end
            #expect(task.countOfBytesReceived - Int64(all.count) < 2 << 20)
        }
        #expect(all == bytes)
        session.invalidateAndCancel()
    }

    // MARK: TLS

    private func secureScript(_ hello: String = "220 ready\n") throws -> RawScript {
        let context = try TLSServerContext(TLSServerConfiguration(try TestCertificates.localhost))
        return [
            .receive(.bytes(9)), .send(hello), .handshake(context), .receive(.bytes(6)), .send("inside"),
            .receive(.bytes(4)), .send("!"), .closeNotify, .finish,
        ]
    }

    @Test("STARTTLS: the delegate judges the certificate, and later bytes are encrypted")
    func startsSecurity() async throws {
        let server = try RawServer.start([try secureScript()])
        let recorder = StreamRecorder()
        let session = session(recorder)
        let task = task(session, server, host: "localhost")
        task.write(Data("STARTTLS\n".utf8), timeout: 0) { _ in }
        #expect(text(try await task.readData(ofMinLength: 10, maxLength: 10, timeout: 0).0) == "220 ready\n")
        task.startSecureConnection()
        try await task.write(Data("secret".utf8), timeout: 0)
        #expect(text(try await task.readData(ofMinLength: 6, maxLength: 6, timeout: 0).0) == "inside")
        // It has TLS already.
        task.startSecureConnection()
        try await task.write(Data("more".utf8), timeout: 0)
        #expect(text(try await task.readData(ofMinLength: 1, maxLength: 6, timeout: 0).0) == "!")
        #expect(try await task.readData(ofMinLength: 1, maxLength: 6, timeout: 0).1)
        (task as any HasStopSecure).stop()
        await recorder.milestone()
        #expect(recorder.events == ["challenge localhost", "read closed", "write closed", "end"])
        #expect(text(Data(server.received(0))) == "STARTTLS\nsecretmore")
    }

    @Test("a certificate that is not trusted ends the task")
    func distrusted() async throws {
        let server = try RawServer.start([try secureScript()])
        let recorder = StreamRecorder(trusts: false)
        let session = session(recorder)
        let task = task(session, server, host: "localhost")
        task.write(Data("STARTTLS\n".utf8), timeout: 0) { _ in }
        _ = try await task.readData(ofMinLength: 10, maxLength: 10, timeout: 0)
        task.startSecureConnection()
        let failure = await code { try await task.write(Data("secret".utf8), timeout: 0) }
        #expect(failure == .cancelled)
        await recorder.milestone()
        #expect(recorder.events.last == "end -999")
    }

    @Test("octets that came before the handshake are not taken for the secure peer's")
    func injected() async throws {
        let server = try RawServer.start([try secureScript("220 ready\nevil words")])
        let session = session(StreamRecorder())
        let task = task(session, server, host: "localhost")
        task.write(Data("STARTTLS\n".utf8), timeout: 0) { _ in }
        _ = try await task.readData(ofMinLength: 10, maxLength: 10, timeout: 0)
        try server.waitForBytes(9, on: 0)
        task.startSecureConnection()
        #expect(await code { try await task.readData(ofMinLength: 1, maxLength: 99, timeout: 0) } != nil)
        session.invalidateAndCancel()
    }

    @Test("a stream goes through a proxy by a tunnel, and the server may speak first", arguments: ["", "* OK\r\n"])
    func tunnelled(greeting: String) async throws {
        let proxy = try RawServer.start([
            [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n" + greeting), .receive(.bytes(2)), .send("yo"),
                .finish,
            ]
        ])
        let configuration = URLSessionConfiguration.isolated
        configuration.connectionProxyDictionary = [
            "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
        ]
        let session = URLSession(configuration: configuration)
        let task = session.streamTask(withHostName: "imap.example", port: 143)
        task.resume()
        if !greeting.isEmpty {
            #expect(text(try await task.readData(ofMinLength: 6, maxLength: 9, timeout: 0).0) == greeting)
        }
        try await task.write(Data("hi".utf8), timeout: 0)
        #expect(text(try await task.readData(ofMinLength: 2, maxLength: 9, timeout: 0).0) == "yo")
        #expect(text(Data(proxy.received(0)))?.hasPrefix("CONNECT imap.example:143 HTTP/1.1\r\n") == true)
        session.invalidateAndCancel()
    }
}

/// It is deprecated, and tested all the same.
private protocol HasStopSecure {
    func stop()
}

extension URLSessionStreamTask: HasStopSecure {
    @available(*, deprecated)
    fileprivate func stop() { stopSecureConnection() }
}
