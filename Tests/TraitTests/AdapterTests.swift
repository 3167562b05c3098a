#if SwiftLog && SwiftMetrics && SwiftDistributedTracing
import FacadeTestSupport
import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import UncurlTestServer
import Testing
import Tracing
import Uncurl

@Suite("AdapterTests", .timeLimit(.minutes(5)), .serialized)
struct AdapterTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("the end of a request is logged with its status and without its query, a failure as an error")
    func logging() async {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .debug
        let manager = server.manager()
        let log = LoggingMonitor(logger)
        manager.monitors = [log]
        _ = await manager.response(to: HTTPRequest("get?token=secret"), serializer: .data)
        _ = await manager.response(to: HTTPRequest("status/500"), serializer: .data)
        await withCheckedContinuation { continuation in log.queue.async { continuation.resume() } }
        let entries = handler.entries
        #expect(entries.contains { $0.level == .info && $0.metadata["status"] == "200" })
        #expect(entries.contains { $0.level == .error && $0.metadata["status"] == "500" })
        #expect(!entries.contains { "\($0.metadata)".contains("secret") })
    }

    @Test("requests are counted by method and outcome, and timed")
    func metrics() async throws {
        let factory = TestMetrics()
        let monitor = MetricsMonitor(factory: factory)
        let manager = server.manager()
        manager.monitors = [monitor]
        _ = await manager.response(to: HTTPRequest("bytes/1"), serializer: .data)
        _ = await manager.response(to: HTTPRequest(.post, "status/503"), serializer: .data)
        await withCheckedContinuation { continuation in monitor.queue.async { continuation.resume() } }
        let ok = try factory.expectCounter("http_client_requests_total", [("method", "GET"), ("outcome", "200")])
        #expect(ok.totalValue == 1)
        let refused = try factory.expectCounter("http_client_requests_total", [("method", "POST"), ("outcome", "503")])
        #expect(refused.totalValue == 1)
        let timer = try factory.expectTimer("http_client_request_duration", [("method", "GET"), ("outcome", "200")])
        #expect(timer.values.count == 1)
    }

    @Test("a request has a span, whose context goes with each attempt")
    func tracing() async throws {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        let tracing = TracingInterceptor()
        let manager = server.manager()
        manager.interceptors = [tracing]
        manager.monitors = [tracing]
        _ = await manager.response(to: HTTPRequest("status/404"), serializer: .data)
        await withCheckedContinuation { continuation in tracing.queue.async { continuation.resume() } }
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.operationName == "GET")
        #expect(span.attributes["http.response.status_code"]?.toSpanAttribute() == .int64(404))
        #expect(!tracer.performedContextInjections.isEmpty)
    }
}
#endif
