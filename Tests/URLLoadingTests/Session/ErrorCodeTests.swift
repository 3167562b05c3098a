import Foundation
import TestServer
import TestSupport
import Testing

@testable import URLLoading

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
