import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Response streams", .timeLimit(.minutes(5)))
struct ResponseStreamTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("a stream gives all content in pieces and in order", .rows("B14", "A2"))
    func pieces() async throws {
        let stream = try await server.manager().stream(HTTPRequest("bytes/300000?seed=1"))
        #expect(stream.response.statusCode == 200)
        var count = 0
        for try await piece in stream { count += piece.count }
        #expect(count == 300_000)
        #expect(stream.control.state == .finished)
    }

    @Test("a head that is refused is an error, with the content that says why", .rows("B14"))
    func refused() async throws {
        let raw = try RawServer.answering(["HTTP/1.1 400 Bad\r\nContent-Length: 4\r\n\r\nwhy?"])
        let error = await #expect(throws: UncurlError.self) { _ = try await raw.manager().stream(HTTPRequest("x")) }
        guard case .validation(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.data == Data("why?".utf8))
    }

    @Test("of a stream's refused answer no more than a mebibyte is read", .rows("B14"))
    func longRefusal() async throws {
        let head = Array("HTTP/1.1 500 No\r\nContent-Length: 4000000\r\n\r\n".utf8)
        let part = [UInt8](repeating: 0x61, count: 2_000_000)
        let raw = try RawServer.start([RawScript([.receive(.headEnd), .send(head + part), .stall])])
        let error = await #expect(throws: UncurlError.self) { _ = try await raw.manager().stream("x") }
        #expect(error?.responseData == Data(part.prefix(1 << 20)), "\(String(describing: error?.responseData?.count))")
    }

    @Test("a check of the program's own sees a stream's head once, and takes none of its content", .rows("A12"))
    func checked() async throws {
        struct NotEmpty: Error {}
        let raw = try RawServer.start(
            [],
            otherwise: .answering(Array("HTTP/1.1 200 OK\r\nX-Mark: a\r\nContent-Length: 7\r\n\r\ncontent".utf8))
        )
        let seen = Log<Data>()
        var request = HTTPRequest("x")
        request.options.validation = ResponseValidation(checks: [
            { answer in
                seen.add(answer.data)
                if !answer.data.isEmpty { throw NotEmpty() }
            }
        ])
        var content = Data()
        for try await piece in try await raw.manager().stream(request) { content += piece }
        #expect(content == Data("content".utf8) && seen.entries == [Data()])
        let strict = ResponseValidation(
            statusCodes: [201],
            checks: [
                { answer in
                    seen.add(answer.data)
                    throw NotEmpty()
                }
            ]
        )
        request.options.validation = strict
        let error = await #expect(throws: UncurlError.self) { _ = try await raw.manager().stream(request) }
        guard case .validation(let failure)? = error, case .status(200)? = failure.reasons.first,
            case .rejected(is NotEmpty)? = failure.reasons.last
        else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.reasons.count == 2 && failure.data == Data("content".utf8))
        #expect(seen.entries == [Data(), Data()])
    }

    @Test("a released stream is cancelled", .rows("B14"))
    func letGo() async throws {
        let manager = server.manager()
        do {
            let stream = try await manager.stream(HTTPRequest("infinite"))
            var iterator = stream.makeAsyncIterator()
            #expect(try await iterator.next()?.isEmpty == false)
        }
        await until { manager.tasks.isEmpty }
    }

    @Test("lines of an endless answer come as they are sent", .rows("W10"))
    func lines() async throws {
        let stream = try await server.manager().stream(HTTPRequest("stream/5"))
        var count = 0
        for try await line in stream.lines() where !line.isEmpty { count += 1 }
        #expect(count == 5)
    }

    @Test("events come over connections that break, behind the last one seen, until a 204", .rows("B26"))
    func events() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        let raw = try RawServer.start(
            [
                head + "id: 1\ndata: one\n\nid: 2\ndata: two\n\n", head + "id: 3\ndata: three\n\n",
                "HTTP/1.1 204 No Content\r\n\r\n",
            ].map { RawScript([.receive(.headEnd), .send(Array($0.utf8)), .finish]) }
        )
        let manager = raw.manager()
        manager.clock = ImmediateClock()
        var data: [String] = []
        for try await event in manager.events(HTTPRequest("events")) { data.append(event.data) }
        #expect(data == ["one", "two", "three"])
        #expect(sent(raw, 0).contains("accept: text/event-stream\r\n"))
        #expect(!sent(raw, 0).contains("last-event-id"))
        #expect(sent(raw, 1).contains("last-event-id: 2\r\n"))
        #expect(sent(raw, 2).contains("last-event-id: 3\r\n"))
    }

    @Test("an answer of another type is no stream of events: it ends them at once, with its content in the error")
    func anotherType() async throws {
        let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
        let raw = try RawServer.start([], otherwise: .answering(Array(page.utf8)))
        for validation in [nil, ResponseValidation.none] {
            let manager = raw.manager()
            manager.clock = ImmediateClock()
            var request = HTTPRequest("events")
            request.options.validation = validation
            let error = await #expect(throws: UncurlError.self) { for try await _ in manager.events(request) {} }
            guard case .validation(let failure)? = error, case .contentType("text/html", _)? = failure.reasons.first
            else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.data == Data("<html>".utf8))
        }
        #expect(raw.connections.count == 2)
    }

    /// A manager, and the ends that its monitor hears of.
    private func watched(_ manager: HTTPSessionManager) -> (HTTPSessionManager, Log<(Int?, UncurlError?)>) {
        let ends = Log<(Int?, UncurlError?)>()
        manager.monitors = [
            ClosureEventMonitor { event in
                if case .finished(let status, let error, _) = event.kind { ends.add((status, error)) }
            }
        ]
        return (manager, ends)
    }

    @Test("monitors hear a stream's end once: when it is read, breaks off, or is released", .rows("B19"))
    func ends() async throws {
        let (manager, ends) = watched(server.manager())
        for try await _ in try await manager.stream(HTTPRequest("bytes/10")) {}
        await ends.wait(for: 1)
        #expect(ends.entries[0].0 == 200 && ends.entries[0].1 == nil)
        _ = try await manager.stream(HTTPRequest("infinite"))
        await ends.wait(for: 2)
        guard case (200?, .cancelled?) = ends.entries[1] else {
            Issue.record("\(ends.entries)")
            return
        }
        let raw = try RawServer.answering(["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"])
        let (broken, breaks) = watched(raw.manager())
        let stream = try await broken.stream(HTTPRequest("x"))
        await #expect(throws: UncurlError.self) { for try await _ in stream {} }
        #expect(stream.control.state == .finished)
        await breaks.wait(for: 1)
        guard case (200?, .transport?) = breaks.entries[0] else {
            Issue.record("\(breaks.entries)")
            return
        }
    }

    @Test("a stream that is cancelled before its head has an end too", .rows("B19"))
    func cancelledBeforeHead() async {
        let (manager, ends) = watched(server.manager())
        let created = Log<Bool>()
        manager.hooks.didCreate = { _, _ in created.add(true) }
        let waiting = Task { try await manager.stream(HTTPRequest("never")) }
        await created.wait(for: 1)
        waiting.cancel()
        await #expect(throws: UncurlError.self) { _ = try await waiting.value }
        await ends.wait(for: 1)
        guard case (nil, .cancelled?) = ends.entries[0] else {
            Issue.record("\(ends.entries)")
            return
        }
    }

    @Test("a stream's task has the priority that its request asks for", .rows("B14"))
    func priority() async throws {
        var request = HTTPRequest("bytes/10")
        request.options.priority = 0.75
        let stream = try await server.manager().stream(request)
        #expect(stream.control.task?.priority == 0.75)
    }
    @Test(
        "the end of a stream's task posts its notification and opens its delegate's queue, however the stream ends",
        .rows("U18", "K4")
    )
    func taskEnds() async throws {
        let center = NotificationCenter()
        let ends = Log<(isOver: Bool, hasError: Bool)>()
        let token = center.addObserver(forName: URLSessionManager.taskDidComplete, object: nil, queue: nil) { note in
            let error = note.userInfo?[URLSessionManager.errorKey] as? UncurlError
            ends.add(((note.object as? URLSessionTask)?.state == .completed, error != nil))
        }
        defer { center.removeObserver(token) }
        let manager = server.manager(center: center)
        let read = try await manager.stream(HTTPRequest("bytes/10"))
        let opened = Log<Bool>()
        if let task = read.control.task { manager.delegate(for: task)?.queue.addOperation { opened.add(true) } }
        for try await _ in read {}
        await ends.wait(for: 1)
        _ = try await manager.stream(HTTPRequest("infinite"))
        await ends.wait(for: 2)
        await #expect(throws: UncurlError.self) { _ = try await manager.stream(HTTPRequest("status/500")) }
        await #expect(throws: UncurlError.self) { _ = try await manager.stream(HTTPRequest("http://127.0.0.1:1/")) }
        await ends.wait(for: 4)
        #expect(ends.entries.map(\.isOver) == [true, true, true, true])
        #expect(ends.entries.map(\.hasError) == [false, true, true, true])
    }

    private func sent(_ raw: RawServer, _ connection: Int) -> String {
        String(decoding: raw.received(connection), as: UTF8.self).lowercased()
    }
}
