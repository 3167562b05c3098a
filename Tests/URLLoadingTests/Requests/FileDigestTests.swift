import Foundation
import Testing
import UncurlTestServer

@testable import URLLoading

@Suite("Digest with protected content (auth-int), from files", .timeLimit(.minutes(5)))
struct FileDigestTests {
    private let server: TestServer
    private let folder = TemporaryFolder()

    init() throws {
        server = try TestServer.start()
        try folder.make()
    }

    @Test(
        "a file of any length is hashed and sent",
        arguments: [0, 1, 1 << 20, 2_500_000],
        ["MD5", "SHA-256"]
    )
    func file(length: Int, algorithm: String) async throws {
        folder.write((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }, to: "file")
        let plain = try #require(URL(string: server.url("/digest-auth/auth-int/user/pass/\(algorithm)")))
        var parts = try #require(URLComponents(url: plain, resolvingAgainstBaseURL: false))
        (parts.user, parts.password) = ("user", "pass")
        var request = URLRequest(url: try #require(parts.url))
        request.httpMethod = "PUT"
        let session = URLSession(configuration: .isolated)
        let file = URL(fileURLWithPath: folder.path + "/file")
        for _ in 0..<2 {
            let (data, response) = try await session.upload(for: request, fromFile: file)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(String(decoding: data, as: UTF8.self).contains("true"))
        }
    }
}
