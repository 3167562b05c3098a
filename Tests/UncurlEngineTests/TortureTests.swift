import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTestServer

@testable import UncurlEngine

/// Every system call of a task fails once, with each of several errnos.
@Suite("Every system call fails once", .ownThread, .serialized, .timeLimit(.minutes(5)))
struct TortureTests {
    static let errnos: [Errno] = [
        .outOfMemory, .tooManyOpenFiles, .connectionReset, .brokenPipe, .wouldBlock, .interrupted, .invalidArgument,
    ]

    private func origin(_ port: UInt16) throws -> Origin { try Origin(host: Torture.host, port: port) }

    /// - Parameter least: calls that the task makes at least; fewer would mean that the plan was not asked.
    private func torture(_ errno: Errno, least: Int, _ task: @escaping Torture.Task) async throws {
        let calls = try await Torture(task: task).run(failing: errno)
        #expect(calls >= least)
    }

    @Test("a GET", arguments: errnos)
    func get(errno: Errno) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let request = try EngineRequest(origin: origin(server.port), target: "/get")
        try await torture(errno, least: 20) { [await $0.run(request)] }
    }

    @Test("a POST with a body", arguments: errnos)
    func post(errno: Errno) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let body = [UInt8](repeating: 0x61, count: 300_000)
        let request = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            target: "/echo",
            body: .bytes(body)
        )
        try await torture(errno, least: 20) { [await $0.run(request)] }
    }

    @Test("a download in chunks, and one in gzip", arguments: errnos)
    func downloads(errno: Errno) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let requests = try ["/stream/20", "/gzip"].map { try EngineRequest(origin: origin(server.port), target: $0) }
        try await torture(errno, least: 20) { engine in
            var results: [Recorded] = []
            for request in requests { results.append(await engine.run(request)) }
            return results
        }
    }

    @Test("a streamed upload with pauses of its source", arguments: errnos)
    func upload(errno: Errno) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let request = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            target: "/echo",
            body: .stream(length: nil, replayable: false)
        )
        let part = [UInt8](repeating: 0x62, count: 100_000)
        try await torture(errno, least: 20) { engine in
            let result = await engine.run(request) {
                var left: [BodyPart] = [.bytes(part), .later, .bytes(part), .end(trailers: nil)]
                $0.onNeedsBody = { recorder, _ in
                    let next = left.removeFirst()
                    if case .later = next, let id = recorder.id { recorder.engine.bodyReady(id) }
                    return next
                }
            }
            return [result]
        }
    }

    @Test("an upload of files and memory", arguments: errnos)
    func files(errno: Errno) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let file = TemporaryFile([UInt8](repeating: 0x66, count: 150_000))
        let parts = [
            Content.bytes(bytes("<")), .file(try FileBody(path: file.path)),
            .file(try FileBody(path: file.path, range: 5..<10)),
        ]
        let request = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            target: "/echo",
            body: .parts(parts)
        )
        try await torture(errno, least: 24) { [await $0.run(request)] }
    }

    @Test("an upgrade, and a word on it", arguments: errnos)
    func upgrade(errno: Errno) async throws {
        let answer = "HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello"
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(answer), .receive(.bytes(3)), .finish])
        var options = EngineRequest.Options()
        options.upgrade = ["x"]
        let request = try EngineRequest(origin: origin(server.port), options: options)
        try await torture(errno, least: 20) { engine in
            let speaker = Speaker(
                onReceive: { connection, _ in connection.write(Array("bye".utf8)) },
                onFinish: { $0.finishWriting() }
            )
            let result = await engine.run(request) { $0.onUpgrade = { $1.start(speaker) } }
            if result.succeeded { await speaker.closes.reaches(1) }
            return [result]
        }
    }

    @Test("a paused download, resumed", arguments: errnos)
    func paused(errno: Errno) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let request = try EngineRequest(origin: origin(server.port), target: "/bytes/200000?seed=1")
        try await torture(errno, least: 20) { engine in
            let result = await engine.run(request) {
                var pauses = 0
                $0.onBytes = { recorder, _ in
                    pauses += 1
                    guard pauses <= 2, let id = recorder.id else { return }
                    recorder.engine.pause(id)
                    // Two turns later the pause has reached the socket.
                    recorder.engine.handle.post { $0.handle.post { $0.resume(id) } }
                }
            }
            return [result]
        }
    }

    @Test("two that wait for one connection, and a retry when it closes unanswered", arguments: errnos)
    func retry(errno: Errno) async throws {
        let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(ok), .receive(.bytes(1)), .close])
        let request = try EngineRequest(origin: origin(server.port))
        try await torture(errno, least: 30) { engine in
            let pending = [await engine.begin(request), await engine.begin(request)]
            return [await pending[0].outcome(), await pending[1].outcome()]
        }
    }

    @Test("a POST that its connection's end meets is not sent twice, whatever fails", arguments: errnos)
    func postOnce(errno: Errno) async throws {
        let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .send(ok), .startOver])
        let numbers = Counter()
        let origin = try origin(server.port)
        try await torture(errno, least: 20) { engine in
            numbers.add()
            let request = try EngineRequest(method: "POST", origin: origin, target: "/\(numbers.value)")
            return [await engine.run(request)]
        }
        var seen: [Substring: Int] = [:]
        for connection in server.connections {
            for line in connection.receivedText.split(separator: "\r\n") where line.hasPrefix("POST ") {
                seen[line, default: 0] += 1
            }
        }
        #expect(seen.values.allSatisfy { $0 == 1 } && seen.count >= 20)
    }
}
