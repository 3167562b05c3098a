import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine
import UncurlReactor
import UncurlTLS
import UncurlTestServer

@testable import URLLoading
@testable import UncurlClient

/// What errors are called and say of themselves, as programs that come from Apple's platforms compare it.
@Suite("Codes and words of errors", .timeLimit(.minutes(5)))
struct ErrorCodeTests {
    private func failure(_ task: URLSessionTask) async -> URLError? {
        task.resume()
        await until { task.state == .completed }
        return task.error as? URLError
    }

    @Test("localizedDescription is CFNetwork's by the code, and what happened is the underlying error's")
    func words() async throws {
        let raw = try RawServer.start([], otherwise: [.receive(.headEnd), .stall])
        let server = try TestServer.start()
        let configuration = URLSessionConfiguration.isolated
        configuration.timeoutIntervalForRequest = 0.2
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let late = await failure(session.dataTask(with: try url(raw.url("/"))))
        #expect(late?.localizedDescription == "The request timed out.")
        var long = URLRequest(url: try url(server.url("/bytes/100")))
        long.maximumDataLength = 10
        long.timeoutInterval = 30
        let excess = await failure(session.dataTask(with: long) { _, _, _ in })
        #expect(excess?.localizedDescription == "resource exceeds maximum size")
        let cancelled = session.dataTask(with: long)
        cancelled.cancel()
        let end = await failure(cancelled)
        #expect(end?.localizedDescription == "cancelled")
        for error in [late, excess, end] {
            let reason = try #require(error?.userInfo[NSUnderlyingErrorKey] as? NSError)
            #expect(reason.localizedDescription != error?.localizedDescription)
        }
    }

    /// What a server does once a request has come, and the code of the task's error.
    static let faults: [([RawStep], URLError.Code)] = [
        ([.stall], .timedOut), ([.reset], .networkConnectionLost), ([.finish], .networkConnectionLost),
        ([.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut"), .finish], .networkConnectionLost),
        (
            [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ncut\r\n"), .finish],
            .networkConnectionLost
        ),
        ([.send("hello\r\n"), .finish], .cannotParseResponse),
        ([.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n")], .cannotParseResponse),
        (
            [.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope")],
            .cannotDecodeContentData
        ),
        (
            [.send("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"), .startOver],
            .httpTooManyRedirects
        ),
    ]

    @Test("each fault of a server, and of its place, has the code that MIGRATION.md names", arguments: faults.indices)
    func codes(index: Int) async throws {
        let (steps, code) = Self.faults[index]
        let raw = try RawServer.start([], otherwise: RawScript([.receive(.headEnd)] + steps))
        let configuration = URLSessionConfiguration.isolated
        // Only the first of them waits for it.
        configuration.timeoutIntervalForRequest = code == .timedOut ? 0.2 : 60
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        #expect(await failure(session.dataTask(with: try url(raw.url("/"))))?.code == code)
    }

    @Test("a server that is gone, speaks no TLS or is not trusted, and an unknown scheme have codes of their own")
    func places() async throws {
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let gone = try RawServer.start([])
        gone.stop()
        let plain = try RawServer.start([], otherwise: [.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .finish])
        let strange = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(TestCertificates.localhost)))
        for (address, code) in [
            (gone.url("/"), URLError.Code.cannotConnectToHost), (plain.secureURL("/"), .secureConnectionFailed),
            (strange.url("/"), .serverCertificateHasUnknownRoot), ("unknown://h/", .unsupportedURL),
        ] {
            #expect(await failure(session.dataTask(with: try url(address)))?.code == code, "\(address)")
        }
        let unknown = EngineError.connect(ConnectError(attempts: [], resolution: .noAddress))
        #expect(URLError(unknown, nil).code == .cannotFindHost && unknown.isWithoutConnectivity)
    }

    @Test(
        "a look-up that was not made says nothing about the host or the network",
        arguments: [
            ResolveError.system(.tooManyOpenFiles), .system(.outOfMemory), .tooManyLookups, .shutDown,
        ]
    )
    func withoutLookup(reason: ResolveError) {
        let error = EngineError.connect(ConnectError(attempts: [], resolution: reason))
        #expect(URLError(error, nil).code == .cannotConnectToHost && !error.isWithoutConnectivity)
    }

    @Test("a request without a URL, and resume data that is none, are unsupported URLs")
    func nowhere() async throws {
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url("http://a.test/"))
        request.url = nil
        #expect(await failure(session.dataTask(with: request))?.code == .unsupportedURL)
        #expect(await failure(session.downloadTask(withResumeData: Data([1])))?.code == .unsupportedURL)
        #expect(await failure(session.uploadTask(withResumeData: Data([1])))?.code == .unsupportedURL)
    }

    @Test("an authentication method of no known name is the default one")
    func methods() {
        let space = URLProtectionSpace(
            host: "a.test",
            port: 80,
            protocol: "http",
            realm: nil,
            authenticationMethod: "Unheard"
        )
        #expect(space.authenticationMethod == NSURLAuthenticationMethodDefault)
    }
}
