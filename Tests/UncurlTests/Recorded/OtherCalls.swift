import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Uncurl
import UncurlTestServer

/// The calls about tasks of which there is one kind of course each: WebSockets, streams, resumed downloads and uploads.
enum OtherCalls {
    private typealias Run = @Sendable (Calls) async throws -> Void

    private static let runs: [(label: String, run: Run)] = [
        (
            "WebSocket closed by the client",
            { try await webSocket($0) { $0.cancel(with: .normalClosure, reason: Data("done".utf8)) } }
        ),
        ("WebSocket cancelled", { try await webSocket($0) { $0.cancel() } }),
        ("WebSocket refused", { try await refused($0) }),
        ("stream to its end", { try await stream($0) }),
        ("resumed download", { try await download($0) }),
        ("a manager's resumed download", { try await managersDownload($0) }),
        ("upload cut and resumed", { try await upload($0, "cut") }),
        ("upload cut and begun anew", { try await upload($0, "cut and forgotten") }),
    ]

    static func blocks() async throws -> [(label: String, text: String)] {
        var blocks: [(label: String, text: String)] = []
        for (label, run) in runs {
            let calls = Calls()
            try await run(calls)
            blocks.append((label, calls.text))
        }
        return blocks
    }

    private static func session(
        _ calls: Calls,
        _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        change(configuration)
        let watch = Watch("session delegate", calls)
        let session = URLSession(configuration: configuration, delegate: watch, delegateQueue: nil)
        calls.watch(session.delegateQueue)
        return session
    }

    private static func end(_ session: URLSession, _ calls: Calls) async {
        await calls.wait(for: "session delegate", "end")
        session.finishTasksAndInvalidate()
        await calls.wait(for: "session delegate", "invalid")
    }

    private static func webSocket(_ calls: Calls, _ close: (URLSessionWebSocketTask) -> Void) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let session = session(calls)
        let task = session.webSocketTask(with: URL(string: "ws" + server.url("/websocket").dropFirst(4))!)
        task.send(.string("hello")) { calls.add("handlers", "sent", code($0)) }
        task.receive { result in
            if case .success(.string(let text)) = result { calls.add("handlers", "received", text) }
        }
        task.sendPing { calls.add("handlers", "pong", code($0)) }
        task.resume()
        await calls.wait(for: "handlers", "received")
        await calls.wait(for: "handlers", "pong")
        close(task)
        await end(session, calls)
    }

    private static func refused(_ calls: Calls) async throws {
        let server = try RawServer.answering([reply("400 No")])
        let session = session(calls)
        let task = session.webSocketTask(with: URL(string: "ws" + server.url("/").dropFirst(4))!)
        task.receive { result in
            if case .failure(let error) = result { calls.add("handlers", "received", code(error)) }
        }
        task.resume()
        await end(session, calls)
    }

    private static func stream(_ calls: Calls) async throws {
        let server = try RawServer.start([[.receive(.bytes(4)), .send("pong"), .receive(.endOfStream), .finish]])
        let session = session(calls)
        let task = session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
        task.write(Data("ping".utf8), timeout: 0) { calls.add("handlers", "wrote", code($0)) }
        task.readData(ofMinLength: 4, maxLength: 4, timeout: 0) { data, isEnd, error in
            calls.add("handlers", "read", data?.count, isEnd, code(error))
        }
        task.resume()
        await calls.wait(for: "handlers", "read")
        task.closeWrite()
        task.readData(ofMinLength: 1, maxLength: 4, timeout: 0) { data, isEnd, error in
            calls.add("handlers", "read the end", data?.count, isEnd, code(error))
        }
        await calls.wait(for: "handlers", "read the end")
        await end(session, calls)
    }

    // MARK: Rests

    private static func cutServer() throws -> RawServer {
        let cut = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 20\r\n\r\n0123456789"
        let rest = reply("206 Part", "ETag: \"a\"", "Content-Range: bytes 10-19/20", content: "abcdefghij")
        return try RawServer.start([
            [.receive(.request), .send(cut), .finish], [.receive(.request), .send(rest)],
        ])
    }

    private static func download(_ calls: Calls) async throws {
        let server = try cutServer()
        let session = session(calls)
        calls.turn(off: true)
        let data = await resumeData(URL(string: server.url("/"))!, session)
        calls.turn(off: false)
        session.downloadTask(withResumeData: data).resume()
        await end(session, calls)
    }

    private static func resumeData(_ url: URL, _ session: URLSession) async -> Data {
        do {
            _ = try await session.download(from: url)
            return Data()
        } catch {
            return (error as? URLError)?.downloadTaskResumeData ?? Data()
        }
    }

    private static func managersDownload(_ calls: Calls) async throws {
        let server = try cutServer()
        let manager = server.manager()
        let data = await manager.downloadResponse("file").resumeData ?? Data()
        let (monitored, completed) = (DispatchQueue(label: "monitor"), DispatchQueue(label: "completion"))
        manager.completionQueue = completed
        calls.watch(manager.session.delegateQueue)
        calls.watch(manager, Answers(), monitored)
        Door.note(await manager.downloadResponse(resuming: data), calls)
        await Door.end(manager, calls, monitored, completed)
    }

    private static func upload(_ calls: Calls, _ course: String) async throws {
        let server = try RawServer.start(SequenceCases.scripts(.six, course))
        let session = session(calls) { $0.resumableUploads = .six }
        let request = SessionCases.request(URL(string: server.url("/files"))!, "POST")
        session.uploadTask(withStreamedRequest: request).resume()
        await end(session, calls)
    }
}
