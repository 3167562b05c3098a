import FacadeTestSupport
import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import Uncurl

@Suite("Event sources", .timeLimit(.minutes(5)))
struct EventSourceTests {
    private enum Opening: Sendable {
        case pieces([String], then: URLError?)
        case refusal(URLError)
        case other
        case noContent
    }

    private struct Other: Error {}

    /// What happened, and what happens next.
    private final class Script: Sendable {
        private let openings: Mutex<[Opening]>
        let ids = Mutex<[String?]>([])
        let waits = Mutex<[Duration]>([])

        init(_ openings: [Opening]) { self.openings = Mutex(openings) }

        func open(_ id: String?) throws -> AsyncThrowingStream<Data, any Error>? {
            ids.withLock { $0.append(id) }
            switch openings.withLock({ $0.isEmpty ? .noContent : $0.removeFirst() }) {
            case .pieces(let pieces, let error): return stream(pieces, then: error)
            case .refusal(let error): throw error
            case .other: throw Other()
            case .noContent: return nil
            }
        }

        func source(
            _ policy: ReconnectionPolicy,
            limit: Int = 1000
        ) -> EventSource<AsyncThrowingStream<Data, any Error>> {
            EventSource(limit: limit, policy: policy) { time in
                self.waits.withLock { $0.append(time) }
            } open: { id in
                try self.open(id)
            }
        }
    }

    private static var exact: ReconnectionPolicy {
        var policy = ReconnectionPolicy()
        policy.jitter = 0
        return policy
    }

    private func collect(_ script: Script, _ policy: ReconnectionPolicy = exact) async throws -> [String] {
        var got: [String] = []
        for try await event in script.source(policy) { got.append(event.data) }
        return got
    }

    @Test(
        "an ended stream is requested again behind the last event, after the stream's own pause; a 204 ends it",
        .rows("B26")
    )
    func reconnects() async throws {
        let script = Script([
            .pieces(["data: a\n\nid: 7\nretry: 750\ndata: b\n\n"], then: nil),
            .pieces(["data: c\n\nid: 8\ndata: cut"], then: URLError(.networkConnectionLost)),
            .noContent,
        ])
        #expect(try await collect(script) == ["a", "b", "c"])
        #expect(script.ids.withLock { $0 } == [nil, "7", "7"])
        #expect(script.waits.withLock { $0 } == [.milliseconds(750), .milliseconds(750)])
    }

    @Test(
        "openings that bring no event wait longer each time, up to a limit, and one that brings an event begins anew",
        .rows("B26")
    )
    func backoff() async throws {
        let lost = Opening.refusal(URLError(.cannotConnectToHost))
        let script = Script([
            lost, lost, .pieces([], then: nil), lost, .pieces([": alive\nretry: 1000\ndata: cut"], then: nil), lost,
            .pieces(["data: a\n\n"], then: nil), lost, .noContent,
        ])
        var policy = Self.exact
        (policy.retry, policy.longest) = (.seconds(1), .seconds(10))
        #expect(try await collect(script, policy) == ["a"])
        #expect(script.waits.withLock { $0 } == [1, 2, 4, 8, 10, 10, 1, 1].map { .seconds($0) })
    }

    @Test("a server's own pause is used, up to the longest that it may name", .rows("B26"))
    func longRetry() async throws {
        let script = Script([
            .pieces(["retry: 120000\n\n"], then: nil), .pieces(["retry: 99999999999999999999\n\n"], then: nil),
            .noContent,
        ])
        _ = try await collect(script)
        #expect(script.waits.withLock { $0 } == [.seconds(120), .seconds(3600)])
    }

    @Test(
        "a server that asks for no pause gets the shortest, and where no event comes a longer one each time",
        arguments: [0, 1]
    )
    func noPause(retry: Int) async throws {
        let event = Opening.pieces(["retry: \(retry)\ndata: a\n\n"], then: nil)
        let nothing = Opening.pieces(["retry: \(retry)\n\n"], then: nil)
        let script = Script([event, event, nothing, nothing, nothing, nothing, .noContent])
        #expect(try await collect(script) == ["a", "a"])
        #expect(script.waits.withLock { $0 } == [500, 500, 500, 1000, 2000, 4000].map { .milliseconds($0) })
    }

    @Test(
        "streams without an event are attempts: as many as the policy allows, whether they end, break or say something else"
    )
    func noEvents() async throws {
        var policy = Self.exact
        policy.attempts = 3
        let script = Script([
            .pieces(["data: a\n\n"], then: nil), .pieces([": hello\n\n"], then: nil),
            .pieces(["retry: 1\n"], then: nil),
            .pieces(["<html>"], then: nil), .pieces(["data: never\n\n"], then: nil),
        ])
        let error = await #expect(throws: StreamFailure.self) { try await collect(script, policy) }
        guard case .noEvent(attempts: 3)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(script.ids.withLock { $0.count } == 4)
    }

    @Test("errors other than network errors end the source, and so does one attempt too many", .rows("B26"))
    func fatal() async throws {
        await #expect(throws: Other.self) { try await collect(Script([.pieces(["data: a\n\n"], then: nil), .other])) }
        let untrusted = Script([.refusal(URLError(.serverCertificateUntrusted)), .noContent])
        await #expect(throws: URLError(.serverCertificateUntrusted)) { try await collect(untrusted) }
        var policy = Self.exact
        policy.attempts = 2
        let lost = Opening.refusal(URLError(.timedOut))
        let script = Script([lost, lost, lost])
        await #expect(throws: URLError(.timedOut)) { try await collect(script, policy) }
        #expect(script.ids.withLock { $0.count } == 2)
    }

    @Test("an event that is too long ends the source, because another request would bring it again", .rows("B26"))
    func tooLong() async throws {
        let script = Script([.pieces(["data: ok\n\ndata: " + String(repeating: "x", count: 2000)], then: nil)])
        var got: [String] = []
        await #expect(throws: StreamFailure.self) {
            for try await event in script.source(Self.exact) { got.append(event.data) }
        }
        #expect(got == ["ok"])
    }

    @Test("cancelling the task ends it, while it opens its stream, while it reads and while it waits", .rows("B26"))
    func cancelled() async throws {
        let (opened, reached) = (Log<String?>(), Log<Bool>())
        /// Says that it is reached, and ends with its Swift task.
        @Sendable func stay() async {
            reached.add(true)
            let (nothing, source) = AsyncStream<Void>.makeStream()
            for await _ in nothing {}
            source.finish()
        }
        let wait: @Sendable (Duration) async throws -> Void = { _ in
            await stay()
            try Task.checkCancellation()
        }
        let opening = EventSource(wait: wait) { id -> AsyncThrowingStream<Data, any Error>? in
            opened.add(id)
            await stay()
            try Task.checkCancellation()
            return nil
        }
        let noWait: @Sendable (Duration) async throws -> Void = { _ in }
        let reading = EventSource(wait: noWait) { id -> AsyncThrowingStream<Data, any Error>? in
            opened.add(id)
            guard opened.entries.count == 2 else { return nil }
            // The stream ends without an error, as that of a cancelled request may.
            return AsyncThrowingStream(unfolding: {
                await stay()
                return nil
            })
        }
        let waiting = EventSource(wait: wait) { id -> AsyncThrowingStream<Data, any Error>? in
            opened.add(id)
            throw URLError(.timedOut)
        }
        for (count, source) in zip(1..., [opening, reading, waiting]) {
            let task = Task { for try await _ in source {} }
            await reached.wait(for: count)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(opened.entries.count == count && reached.entries.count == count)
        }
    }

    @Test("jitter shortens a delay by no more than its share")
    func jitter() async throws {
        let lost = Opening.refusal(URLError(.timedOut))
        var policy = ReconnectionPolicy()
        (policy.retry, policy.jitter, policy.factor) = (.seconds(10), 0.5, 1)
        let script = Script(Array(repeating: lost, count: 50))
        _ = try await collect(script, policy)
        let waits = script.waits.withLock { $0 }
        #expect(waits.count == 50 && waits.allSatisfy { $0 >= .seconds(5) && $0 <= .seconds(10) })
        #expect(Set(waits).count > 1)
    }
}

/// Over real sockets, with a plain session.
@Suite("Event sources over sessions", .timeLimit(.minutes(5)))
struct EventSourceSessionTests {
    private func answer(_ status: String, _ body: String) -> RawScript {
        let head = "HTTP/1.1 \(status)\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        return [.receive(.headEnd), .pieces(of: 3), .send(head + body), .finish, .receive(.endOfStream)]
    }

    @Test("a lost connection is resumed behind the last event, and a 204 ends the stream", .rows("B26", "W10"))
    func session() async throws {
        let server = try RawServer.start(
            [
                answer("200 OK", "id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: cut"),
                answer("200 OK", "data: c\n\n"),
            ],
            otherwise: [.receive(.headEnd), .send("HTTP/1.1 204 No Content\r\n\r\n")]
        )
        let session = URLSession(configuration: .isolated)
        let url = URL(string: server.url("/events"))!
        let open: @Sendable (String?) async throws -> URLSession.AsyncBytes.AsyncChunks? = { id in
            var request = URLRequest(url: url)
            request.setValue(id, forHTTPHeaderField: "Last-Event-ID")
            let (bytes, response) = try await session.bytes(for: request)
            return (response as? HTTPURLResponse)?.statusCode == 200 ? bytes.chunks : nil
        }
        var got: [ServerSentEvent] = []
        for try await event in EventSource(wait: { _ in }, open: open) { got.append(event) }
        #expect(got.map(\.data) == ["a", "b", "c"] && got.map(\.id) == ["1", "2", "2"])
        let asked = server.connections.map {
            $0.receivedText.contains("Last-Event-ID: 2") || $0.receivedText.contains("Last-Event-Id: 2")
        }
        #expect(asked == [false, true, true])
    }
}
