#if SwiftLog && SwiftMetrics && SwiftDistributedTracing
import CoreMetrics
import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import ScriptedPeer
import UncurlTestServer
import TestSupport
import Testing
import Tracing

@testable import URLLoading

/// What a session's log, metrics and traces hear.
@Suite("ObservationTests", .timeLimit(.minutes(5)))
struct ObservationTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    /// All that was to be told to observers has been.
    private func told() async {
        await withCheckedContinuation { continuation in TaskObservation.whenTold { continuation.resume() } }
    }

    // MARK: Logs

    private func logging(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> (URLSession, InMemoryLogHandler) {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .debug
        let configuration = URLSessionConfiguration.isolated
        configuration.logger = logger
        change(configuration)
        return (URLSession(configuration: configuration), handler)
    }

    @Test("a task is written with its beginning, its redirects and its end, and none of its secrets")
    func log() async throws {
        let (session, handler) = logging()
        defer { session.invalidateAndCancel() }
        let place = "user:geheim@127.0.0.1:\(server.port)"
        let target = try url("http://\(place)/redirect-to?url=/bytes/100%3Fkey=geheim#geheim")
        var request = URLRequest(url: target)
        request.setValue("Bearer geheim", forHTTPHeaderField: "Authorization")
        request.setValue("a=geheim", forHTTPHeaderField: "Cookie")
        _ = try await session.data(for: request)
        await told()
        let entries = handler.entries
        #expect(entries.map { "\($0.message)" } == ["sending", "redirected", "done"])
        #expect(entries.map(\.level) == [.debug, .debug, .info])
        #expect(!"\(entries.map(\.metadata))".contains("geheim"))
        #expect(entries[0].metadata["url"] == "http://127.0.0.1:\(server.port)/redirect-to?REDACTED")
        #expect(entries[1].metadata["status"] == "302")
        let end = entries[2].metadata
        #expect(end["status"] == "200" && end["received"] == "100" && end["sent"] == "0" && end["resends"] == "1")
        #expect(end["duration"] != nil && Set(entries.map { "\($0.metadata["task"] ?? "")" }).count == 1)
    }

    /// Makes a download of its data task, and suspends and resumes that.
    private final class Converter: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
        @available(*, deprecated)
        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            completionHandler(.becomeDownload)
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didBecome downloadTask: URLSessionDownloadTask
        ) {
            downloadTask.suspend()
            downloadTask.resume()
        }

        func urlSession(
            _ session: URLSession,
            downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) {}
    }

    @Test("a data task that becomes a download is written once, though the download is resumed")
    func becomesDownload() async throws {
        let (session, handler) = logging()
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try url(server.url("/bytes/100")))
        task.delegate = Converter()
        task.resume()
        await until { handler.entries.contains { "\($0.message)" == "done" } }
        await told()
        #expect(handler.entries.map { "\($0.message)" } == ["sending", "done"])
    }

    @Test("queries are written where the configuration says so; users and passwords are not")
    func queries() async throws {
        let (session, handler) = logging { $0.observesQueries = true }
        defer { session.invalidateAndCancel() }
        _ = try await session.data(from: url("http://user:geheim@127.0.0.1:\(server.port)/get?page=2"))
        await told()
        #expect(handler.entries[0].metadata["url"] == "http://127.0.0.1:\(server.port)/get?page=2")
    }

    @Test("a failure is an error without the URL, a cancel is none, and an answer to a challenge is another request")
    func ends() async throws {
        let raw = try RawServer.start([[.receive(.headEnd), .reset], [.receive(.headEnd), .stall]])
        let (session, handler) = logging()
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(raw.url("/?key=geheim")))
        request.httpMethod = "POST"
        await #expect(throws: URLError.self) { try await session.data(for: request) }
        let task = session.dataTask(with: try url(raw.url("/")))
        task.resume()
        try raw.wait(for: 1, "the request") { !$0.received.isEmpty }
        task.cancel()
        await until { task.state == .completed }
        let guarded = "http://user:secret@127.0.0.1:\(server.port)/digest-auth/auth/user/secret"
        _ = try await session.data(from: url(guarded))
        await told()
        let entries = handler.entries.filter { $0.message != "sending" }
        #expect(entries.map { "\($0.message)" } == ["failed", "cancelled", "trying again", "done"])
        #expect(entries.map(\.level) == [.error, .debug, .debug, .info])
        #expect(entries[0].metadata["error"] != nil && !"\(entries.map(\.metadata))".contains("geheim"))
    }

    @Test("what is no request by HTTP is not observed")
    func others() async throws {
        let (session, handler) = logging()
        defer { session.invalidateAndCancel() }
        _ = try await session.data(from: url("data:,hello"))
        await told()
        #expect(handler.entries.isEmpty)
    }

    // MARK: Metrics

    @Test("tasks are counted and timed by OpenTelemetry's names, with their content's sizes")
    func metrics() async throws {
        let factory = TestMetrics()
        let configuration = URLSessionConfiguration.isolated
        configuration.metricsFactory = factory
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/status/503")))
        request.httpMethod = "POST"
        _ = try await session.upload(for: request, from: Data(count: 300))
        request.httpMethod = "UNHEARD"
        request.url = try url(server.url("/anything"))
        _ = try await session.data(for: request)
        await told()
        let place = [("server.address", "127.0.0.1"), ("server.port", "\(server.port)")]
        let failed =
            [("http.request.method", "POST")] + place
            + [("http.response.status_code", "503"), ("error.type", "503")]
        let timer = try factory.expectTimer("http.client.request.duration", failed)
        #expect(timer.values.count == 1 && timer.displayUnit == .seconds)
        #expect(try factory.expectRecorder("http.client.request.body.size", failed).values == [300])
        #expect(try factory.expectRecorder("http.client.response.body.size", failed).values == [0])
        let active = [("http.request.method", "POST")] + place + [("url.scheme", "http")]
        #expect(try factory.expectMeter("http.client.active_requests", active).values == [1, 0])
        #expect(factory.timers.contains { $0.dimensions.contains { $0 == ("http.request.method", "_OTHER") } })
    }

    @Test("tasks that are cancelled right after they are resumed, and those of an invalid session, end too")
    func unbegun() async throws {
        let factory = TestMetrics()
        let configuration = URLSessionConfiguration.isolated
        configuration.metricsFactory = factory
        let session = URLSession(configuration: configuration)
        let target = try url(server.url("/get"))
        var tasks: [URLSessionTask] = []
        for _ in 0..<50 {
            let task = session.dataTask(with: target)
            task.resume()
            task.cancel()
            tasks.append(task)
        }
        session.invalidateAndCancel()
        let late = session.dataTask(with: target)
        late.resume()
        for task in tasks + [late] { await until { task.state == .completed } }
        await told()
        #expect(factory.meters.first?.values.last == 0)
        #expect(factory.timers.map(\.values.count).reduce(0, +) == 51)
    }

    // MARK: Traces

    @Test("a task has a span beneath the caller's, and each of its requests carries the span's context")
    func tracing() async throws {
        let tracer = InMemoryTracer()
        let configuration = URLSessionConfiguration.isolated
        configuration.tracer = tracer
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let answer = "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
        let last = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        let raw = try RawServer.start([[.receive(.headEnd), .send(answer), .receive(.headEnd), .send(last)]])
        let parent = tracer.startSpan("caller")
        try await ServiceContext.$current.withValue(parent.context) {
            _ = try await session.data(from: url(raw.url("/a?key=geheim")))
        }
        await told()
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.operationName == "GET" && span.kind == .client && span.parentSpanID == parent.spanID)
        let attributes = span.attributes
        #expect(attributes["url.full"]?.toSpanAttribute() == .string("http://127.0.0.1:\(raw.port)/a?REDACTED"))
        #expect(attributes["http.response.status_code"]?.toSpanAttribute() == .int64(404))
        #expect(attributes["http.request.resend_count"]?.toSpanAttribute() == .int64(1))
        #expect(attributes["error.type"]?.toSpanAttribute() == .string("404") && span.status?.code == .error)
        #expect(tracer.performedContextInjections.count == 1)
        let line = "\(InMemoryTracer.spanIDKey): \(span.spanID)".lowercased()
        let lines = String(decoding: raw.received(0), as: UTF8.self).lowercased().components(separatedBy: "\r\n")
        #expect(lines.filter { $0 == line }.count == 2)
    }

    @Test("a span of a failure tells what has failed, without the URL")
    func failingSpan() async throws {
        let tracer = InMemoryTracer()
        let configuration = URLSessionConfiguration.isolated
        configuration.tracer = tracer
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let raw = try RawServer.start([[.receive(.headEnd), .send("nonsense\r\n\r\n"), .close]])
        await #expect(throws: URLError.self) { try await session.data(from: url(raw.url("/?key=geheim"))) }
        await told()
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.status?.code == .error && span.errors.count == 1)
        #expect(!span.errors.contains { "\($0.error)".contains("geheim") })
    }
}
#endif
