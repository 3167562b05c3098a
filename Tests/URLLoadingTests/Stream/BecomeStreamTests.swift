import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

@Suite("Data tasks that become streams", .ownThread, .timeLimit(.minutes(5)))
struct BecomeStreamTests {
    private func becoming(
        _ server: RawServer,
        _ change: (inout URLRequest) -> Void = { _ in }
    ) async throws -> (URLSession, StreamRecorder, URLSessionStreamTask) {
        let recorder = StreamRecorder()
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        var request = URLRequest(url: try url(server.url("/")))
        change(&request)
        let task = session.dataTask(with: request)
        task.resume()
        await recorder.milestone()
        let stream = try #require(recorder.told.streamTask)
        #expect(stream.taskIdentifier == task.taskIdentifier)
        return (session, recorder, stream)
    }

    @Test("an answer's content is read to its end as it is asked for, and there is nothing to write to")
    func content() async throws {
        let body = String(repeating: "0123456789", count: 100_000)
        let server = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")]
        ])
        let (session, recorder, stream) = try await becoming(server)
        await #expect(throws: URLError.self) { try await stream.write(Data("x".utf8), timeout: 0) }
        var text = ""
        var isEnd = false
        while !isEnd {
            let (data, end) = try await stream.readData(ofMinLength: 70_000, maxLength: 70_000, timeout: 10)
            text += String(decoding: data ?? Data(), as: UTF8.self)
            isEnd = end
        }
        #expect(text == body)
        await recorder.milestone(2)
        #expect(recorder.events == ["response 200", "became stream", "read closed", "end"])
        session.finishTasksAndInvalidate()
    }

    @Test("a short answer that has already come can be read")
    func short() async throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
        ])
        let (_, recorder, stream) = try await becoming(server)
        var (data, isEnd) = try await stream.readData(ofMinLength: 2, maxLength: 9, timeout: 10)
        // The answer's end may be known a moment after its content.
        if !isEnd {
            let (rest, isOver) = try await stream.readData(ofMinLength: 1, maxLength: 9, timeout: 10)
            data = (data ?? Data()) + (rest ?? Data())
            isEnd = isOver
        }
        #expect(data == Data("ok".utf8) && isEnd)
        await recorder.milestone(2)
        #expect(recorder.events.last == "end")
    }

    @Test("an answer that is cut short is an error of the stream")
    func cut() async throws {
        // The end waits until there is a stream: one that comes before is the data task's error.
        let gate = RawGate()
        let server = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), .wait(gate), .finish]
        ])
        let (_, recorder, stream) = try await becoming(server)
        gate.open()
        await #expect(throws: URLError.self) { try await stream.readData(ofMinLength: 9, maxLength: 9, timeout: 10) }
        await recorder.milestone(2)
        #expect(recorder.events.last == "end -1005")
    }

    @Test("after 101 the stream has the whole connection")
    func upgraded() async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd),
                .send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\nhi"),
                .receive(.bytes(5)), .send("bye"), .finish,
            ]
        ])
        let (_, recorder, stream) = try await becoming(server) {
            $0.setValue("chat, chat/2", forHTTPHeaderField: "Upgrade")
            $0.setValue("Upgrade", forHTTPHeaderField: "Connection")
        }
        #expect(try await stream.readData(ofMinLength: 2, maxLength: 9, timeout: 10).0 == Data("hi".utf8))
        try await stream.write(Data("hello".utf8), timeout: 10)
        #expect(try await stream.readData(ofMinLength: 3, maxLength: 9, timeout: 10).0 == Data("bye".utf8))
        stream.closeWrite()
        _ = try await stream.readData(ofMinLength: 1, maxLength: 9, timeout: 10)
        await recorder.milestone(2)
        #expect(recorder.events.first == "response 101" && recorder.events.last == "end")
        let sent = String(decoding: server.received(0), as: UTF8.self)
        #expect(sent.contains("Upgrade: chat, chat/2\r\n") && sent.hasSuffix("hello"))
    }

    @Test("TLS after 101 asks the task's delegate about the server", arguments: [true, false])
    func securedAfterSwitch(isOfTask: Bool) async throws {
        let context = try TLSServerContext(TLSServerConfiguration(TestCertificates.localhost))
        let server = try RawServer.start([
            [
                .receive(.headEnd),
                .send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: TLS/1.3\r\n\r\n"),
                .handshake(context), .receive(.bytes(5)), .send("bye"), .closeNotify, .finish,
            ]
        ])
        let recorder = StreamRecorder()
        let session = URLSession(
            configuration: .isolated,
            delegate: isOfTask ? nil : recorder,
            delegateQueue: nil
        )
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/")))
        request.setValue("TLS/1.3", forHTTPHeaderField: "Upgrade")
        let task = session.dataTask(with: request)
        if isOfTask { task.delegate = recorder }
        task.resume()
        await recorder.milestone()
        let stream = try #require(recorder.told.streamTask)
        stream.startSecureConnection()
        try await stream.write(Data("hello".utf8), timeout: 0)
        #expect(try await stream.readData(ofMinLength: 3, maxLength: 3, timeout: 0).0 == Data("bye".utf8))
        #expect(recorder.events.prefix(3) == ["response 101", "became stream", "challenge 127.0.0.1"])
    }

    @Test(
        "a switch of protocols of which the delegate makes no stream is the answer, and the connection is closed",
        arguments: [URLSession.ResponseDisposition.allow, .becomeDownload]
    )
    @available(*, deprecated)
    func notWanted(disposition: URLSession.ResponseDisposition) async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd),
                .send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"),
            ]
        ])
        let recorder = StreamRecorder(disposition: disposition)
        let session = URLSession(configuration: .isolated, delegate: recorder, delegateQueue: nil)
        var request = URLRequest(url: try url(server.url("/")))
        request.setValue("chat", forHTTPHeaderField: "Upgrade")
        session.dataTask(with: request).resume()
        await recorder.milestone()
        #expect(recorder.events == ["response 101", "end"])
        let end = try server.waitForEnd(of: 0)
        #expect(end.sawFinish || end.sawReset)
        session.finishTasksAndInvalidate()
    }

    @Test("a switch of protocols that no delegate makes a stream of is the answer, and the connection is closed")
    func notTaken() async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd),
                .send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"),
            ]
        ])
        let session = URLSession(configuration: .isolated)
        var request = URLRequest(url: try url(server.url("/")))
        request.setValue("chat", forHTTPHeaderField: "Upgrade")
        let (data, response) = try await session.data(for: request)
        #expect(data.isEmpty && (response as? HTTPURLResponse)?.statusCode == 101)
        let end = try server.waitForEnd(of: 0)
        #expect(end.sawFinish || end.sawReset)
    }
}
