import FacadeTestSupport
import Foundation
import TestServer
import TestSupport
import Testing
import Uncurl

@Suite("Paths that people write", .timeLimit(.minutes(5)))
struct PathInterpolationTests {
    @Test(
        "a text is one component of a path, whatever is in it",
        arguments: [
            ("Zoë", "/users/Zo%C3%AB"), ("a/b", "/users/a%2Fb"), ("..", "/users/%2E%2E"), (".", "/users/%2E"),
            ("a b?c#d", "/users/a%20b%3Fc%23d"), ("100%", "/users/100%25"), ("x;y=z:@", "/users/x%3By%3Dz%3A%40"),
        ]
    )
    func component(text: String, target: String) async throws {
        let server = try RawServer.answering(["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        let response = await server.manager().response(to: "users/\(component: text)", serializer: .data)
        #expect(response.error == nil)
        let sent = String(decoding: server.received(0), as: UTF8.self)
        #expect(sent.hasPrefix("GET \(target) HTTP/1.1\r\n"), "\(sent)")
    }

    @Test("a text is one value of a query, and a path is encoded as URL(string:) does")
    func query() async throws {
        let server = try RawServer.answering(["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        let manager = server.manager()
        let (name, term) = ("Zoë", "a&b=c d")
        try await manager.post("users/\(component: name) 1?near=\(query: term)&\(query: "k/")=1")
        let sent = String(decoding: server.received(0), as: UTF8.self)
        #expect(sent.hasPrefix("POST /users/Zo%C3%AB%201?near=a%26b%3Dc%20d&k%2F=1 HTTP/1.1\r\n"), "\(sent)")
    }
}
