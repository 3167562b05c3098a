import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl

/// Credentials stay with the origin that they are for, also where a download is resumed at another one.
@Suite("Resumed downloads at another origin", .timeLimit(.minutes(5)))
struct LeftOriginDownloadTests {
    private struct Token: Authenticator {
        func apply(_ credential: String, to request: inout URLRequest) {
            request.setValue("Bearer \(credential)", forHTTPHeaderField: "Authorization")
        }

        func refresh(_ credential: String) async throws -> String { credential }

        func isRequest(_ request: URLRequest, authenticatedWith credential: String) -> Bool {
            request.value(forHTTPHeaderField: "Authorization") == "Bearer \(credential)"
        }
    }

    @Test(
        "a download that a redirect has led elsewhere resumes there without the manager's token and the credential",
        .rows("A23")
    )
    func resumed() async throws {
        let target = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 10\r\n\r\n01234"), .finish],
            [
                .receive(.headEnd),
                .send("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"),
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ],
        ])
        let redirect = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: \(target.url("/there"))\r\n\r\n"
        let source = try RawServer.start([[.receive(.headEnd), .send(redirect)]])
        let manager = source.manager()
        manager.interceptors = [AuthenticationInterceptor(authenticator: Token(), credential: "secret")]
        let data = try #require(await manager.downloadResponse(HTTPRequest("file")).resumeData)
        #expect(String(decoding: source.received(0), as: UTF8.self).contains("Bearer secret"))
        var options = RequestOptions()
        options.credential = URLCredential(user: "user", password: "pass", persistence: .none)
        let response = await manager.downloadResponse(resuming: data, options: options)
        #expect(response.response?.statusCode == 401)
        let sent = String(decoding: target.received(1), as: UTF8.self)
        #expect(sent.contains("Range: bytes=5-\r\n") && !sent.contains("Authorization"), "\(sent)")
    }
}
