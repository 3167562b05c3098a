import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("Paths that people write", .timeLimit(.minutes(5)))
struct PathInterpolationTests {
    @Test(
        "a text is one component of a path, whatever is in it",
        arguments: [
            ("Zoë", "/users/Zo%C3%AB"), ("a/b", "/users/a%2Fb"), ("...", "/users/..."), (":", "/users/%3A"),
            ("//h", "/users/%2F%2Fh"), ("h:1", "/users/h%3A1"), ("@h", "/users/%40h"), ("../x", "/users/..%2Fx"),
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

    /// Where a reference may have an inserted component.
    enum Place: CaseIterable {
        case first, middle, last, afterSlash, beforeQuery, twice, partOfSegment

        func reference(_ text: String) -> String {
            switch self {
            case .first: "\(component: text)/x"
            case .middle: "/users/\(component: text)/x"
            case .last: "users/\(component: text)"
            case .afterSlash: "/\(component: text)/\(component: "evil.test")/x"
            case .beforeQuery: "users/\(component: text)?a=b"
            case .twice: "/\(component: text)\(component: text)/x"
            case .partOfSegment: "users/.\(component: text)/x"
            }
        }
    }

    @Test(
        "an inserted component that is empty, . or .. is an error wherever it stands",
        arguments: Place.allCases,
        ["", ".", ".."]
    )
    func noComponent(place: Place, text: String) throws {
        let reference = place.reference(text)
        for base in [URL(string: "http://api.test/v1"), nil] {
            let manager = HTTPSessionManager(baseURL: base, configuration: .isolated)
            // A manager without a base URL takes whole URLs.
            let whole = base == nil ? "http://api.test/" + reference : reference
            do throws(UncurlError) {
                Issue.record("\(try manager.url(for: whole))")
            } catch {
                #expect("\(error)".contains("component"), "\(error)")
            }
        }
    }

    @Test(
        "an inserted component with the delimiters of a URL names no other host, path or port",
        arguments: Place.allCases,
        [":", "//h", "h:1", "@h", "../x", "\\", "?", "#", "%2e%2e", "http://h"]
    )
    func delimiters(place: Place, text: String) throws {
        let manager = HTTPSessionManager(baseURL: URL(string: "http://api.test/v1"), configuration: .isolated)
        let url = try manager.url(for: place.reference(text))
        #expect(url.host == "api.test" && url.port == nil && url.user == nil && url.fragment == nil, "\(url)")
        #expect(url.query == (place == .beforeQuery ? "a=b" : nil), "\(url)")
        let escaped = place == .twice ? "\(component: text)\(component: text)" : "\(component: text)"
        #expect(url.path(percentEncoded: true).contains(escaped), "\(url)")
    }

    @Test("with a base URL, no reference without a scheme names a host: no field of the manager leaves its server")
    func hostWithoutScheme() async throws {
        let (server, other) = (try TestServer.start(), try TestServer.start())
        let manager = server.manager()
        try manager.requestDefaults.setHeader("X-API-Key", to: "key")
        let place = "localhost:\(other.port)"
        for reference in ["//\(place)/get", "//user@\(place)/get", "///get", "////\(place)/get", "//", "//\(place)"] {
            let response = await manager.response(to: HTTPRequest(reference), serializer: .data)
            guard case .invalidURL? = response.error else {
                Issue.record("\(reference): \(response)")
                continue
            }
        }
        await #expect(throws: UncurlError.self) { try await manager.delete("\(component: "")/sessions") }
        #expect(other.requestCount == 0 && server.requestCount == 0)
    }
}
