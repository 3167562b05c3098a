import Foundation
import ScriptedPeer
import Testing

@testable import URLLoading

@Suite("Secret fields on redirects", .timeLimit(.minutes(5)))
struct SecretRedirectTests {
    /// The fields of the request that follows on a redirect to another port.
    private func fields(_ change: (URLSessionConfiguration) -> Void) async throws -> String {
        let target = try RawServer.start([
            [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
        ])
        let redirect = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: \(target.url("/there"))\r\n\r\n"
        let source = try RawServer.start([[.receive(.headEnd), .send(redirect)]])
        let configuration = URLSessionConfiguration.isolated
        configuration.httpAdditionalHeaders = ["X-Auth-Token": "session", "X-Plain": "session"]
        change(configuration)
        var request = URLRequest(url: try url(source.url("/here")))
        request.setValue("own", forHTTPHeaderField: "X-API-Key")
        request.setValue("own", forHTTPHeaderField: "X-Mine")
        request.setValue("Bearer own", forHTTPHeaderField: "Authorization")
        _ = try await URLSession(configuration: configuration).data(for: request)
        #expect(String(decoding: source.received(0), as: UTF8.self).lowercased().contains("x-api-key: own"))
        return String(decoding: target.received(0), as: UTF8.self).lowercased()
    }

    @Test("a redirect to another origin takes no keys and tokens along, a request's own or its session's")
    func usual() async throws {
        let told = try await fields { _ in }
        #expect(told.contains("x-plain: session") && told.contains("x-mine: own"))
        #expect(!told.contains("x-api-key") && !told.contains("x-auth-token") && !told.contains("authorization"))
    }

    @Test("a redirect to another origin takes no field along whose name has a word for secrets")
    func words() async throws {
        let names = ["DPoP", "X-Gitlab-Token", "X-JWT-Assertion", "api-token"]
        let told = try await fields { configuration in
            for name in names { configuration.httpAdditionalHeaders?[name] = "session" }
        }
        for name in names { #expect(!told.contains(name.lowercased() + ":"), "\(name)") }
        #expect(told.contains("x-plain: session"))
    }

    @Test("names of the user's own are secret too")
    func own() async throws {
        let told = try await fields { $0.secretHeaderFields.insert("x-MINE") }
        #expect(!told.contains("x-mine") && !told.contains("x-api-key") && told.contains("x-plain"))
    }

    @Test("with an empty list all fields but Authorization are carried")
    func emptied() async throws {
        let told = try await fields { $0.secretHeaderFields = [] }
        #expect(told.contains("x-api-key: own") && told.contains("x-auth-token: session"))
        #expect(!told.contains("authorization"))
    }
}
