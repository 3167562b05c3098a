import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlReactor
import UncurlTLS
import UncurlTestServer

@Suite("Throttled requests", .timeLimit(.minutes(5)))
struct ThrottleTests {
    private static let throttle = Throttle(upload: 400_000, burst: 20_000)

    /// Nothing came faster than the rate allows, counted from before the task began. A loaded machine is slower; that
    /// proves nothing.
    private func expectRate(_ record: RawRecord, _ throttle: Throttle, head: Int, since start: Instant) {
        guard let rate = throttle.upload, let burst = throttle.burst, !record.arrivals.isEmpty else {
            Issue.record("nothing to measure: \(throttle)")
            return
        }
        for arrival in record.arrivals {
            let seconds = Double(arrival.time.nanoseconds(since: start)) / 1e9
            #expect(Double(arrival.total) <= Double(burst + head) + seconds * Double(rate) + 1)
        }
    }

    private func form() throws -> MultipartForm {
        var form = try MultipartForm(boundary: "B")
        try form.append(.data(Data(noise(150_000))), name: "a")
        try form.append(.stream(opening: { .of(noise(50_000)) }), name: "s")
        return form
    }

    /// Answers the head of the first request with a redirect, and takes the second whole.
    private func server() throws -> FormServer {
        let redirect =
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: /other\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        return try FormServer(
            [[.receive(.headEnd), .send(redirect), .receive(.endOfStream)]],
            otherwise: [.receive(.headEnd), .receive(.bytes(200_000)), .send(FormServer.ok), .stall]
        )
    }

    @Test("a rate holds for what is sent, and is kept along a redirect", .rows("P8", "D21"))
    func redirected() async throws {
        let server = try server()
        var request = server.request
        request.throttle = Self.throttle
        let start = Instant.current()
        _ = try await URLSession(configuration: .isolated).upload(for: request, multipart: form())
        let records = server.raw.connections
        #expect(records.count == 2)
        for (index, record) in records.enumerated() {
            expectRate(record, Self.throttle, head: server.head(index).utf8.count, since: start)
        }
        #expect(records[1].received.count > 200_000)
    }

    @Test("a delegate that answers a redirect with a request of its own keeps the rate and the form", .rows("D21"))
    func ownRedirect() async throws {
        let server = try server()
        var request = server.request
        request.throttle = Self.throttle
        let start = Instant.current()
        let session = URLSession(configuration: .isolated, delegate: Redirector(), delegateQueue: nil)
        _ = try await session.upload(for: request, multipart: form())
        let records = server.raw.connections
        #expect(records.count == 2)
        for (index, record) in records.enumerated() {
            expectRate(record, Self.throttle, head: server.head(index).utf8.count, since: start)
        }
        session.finishTasksAndInvalidate()
    }

    private final class Redirector: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) {
            var own = URLRequest(url: request.url!)
            own.httpMethod = "POST"
            completionHandler(own)
        }
    }

    @Test("data in memory and downloads keep to their rates as well", .rows("P8"))
    func dataAndDownload() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let session = URLSession(configuration: .isolated)
        var request = URLRequest(url: URL(string: server.url("/bytes/300000"))!)
        request.throttle = Throttle(download: 500_000, burst: 10_000)
        let start = ContinuousClock.now
        #expect(try await session.data(for: request).0.count == 300_000)
        #expect(ContinuousClock.now - start > .milliseconds(550))

        var upload = URLRequest(url: URL(string: server.url("/upload"))!)
        upload.httpMethod = "POST"
        upload.throttle = Throttle(upload: 500_000, burst: 10_000)
        let begin = ContinuousClock.now
        _ = try await session.upload(for: upload, from: Data(noise(200_000)))
        #expect(ContinuousClock.now - begin > .milliseconds(350))
    }

    @Test(
        "a download's rate also limits content that one read could take whole, with TLS and without",
        arguments: [false, true]
    )
    func small(isSecure: Bool) async throws {
        let tls = try TLSServerContext(TLSServerConfiguration(TestCertificates.localhost))
        let server = try TestServer.start(tls: isSecure ? tls : nil)
        defer { server.stop() }
        let manager = HTTPSessionManager(configuration: .isolated)
        manager.hooks.didReceiveChallenge = { _, _, challenge in
            challenge.protectionSpace.serverTrust.map { .useCredential(URLCredential(trust: $0)) } ?? .cancel
        }
        var request = HTTPRequest(server.url("/bytes/20000", host: isSecure ? "localhost" : "127.0.0.1"))
        request.options.throttle = Throttle(download: 40_000, burst: 1_000)
        let start = ContinuousClock.now
        #expect(await manager.response(to: request, serializer: .data).value?.count == 20_000)
        #expect(ContinuousClock.now - start > .milliseconds(isSecure ? 250 : 470))
    }

    @Test("the constants suggested for mobile networks, and a throttle is the request's value", .rows("P8"))
    func values() {
        #expect(Throttle.suggested3G == Throttle(upload: 81_920, burst: 16_384))
        var request = URLRequest(url: URL(string: "http://127.0.0.1/")!)
        #expect(request.throttle == nil)
        request.throttle = Throttle(upload: 1, download: 2, burst: 3)
        let copy = request
        request.throttle = nil
        #expect(copy.throttle == Throttle(upload: 1, download: 2, burst: 3) && request.throttle == nil)
    }
}
