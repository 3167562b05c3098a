import Foundation
import ScriptedPeer
import TestSupport
import Testing

@testable import URLLoading

/// Which cookies a session sends and keeps, by its configuration and by the request's main document.
@Suite("Cookies of a session", .timeLimit(.minutes(5)))
struct SessionCookiesTests {
    /// Notes what it is asked to store.
    private final class OwnStorage: HTTPCookieStorage, @unchecked Sendable {
        let stored = Sightings<String>()

        override func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
            for cookie in cookies { stored.add(cookie.name) }
            super.storeCookies(cookies, for: task)
        }
    }

    private static let elsewhere = "https://other.test/page"

    private func server(_ field: String = "") throws -> RawServer {
        let answer = "HTTP/1.1 200 OK\r\n\(field)Content-Length: 0\r\n\r\n"
        return try RawServer.start(otherwise: .answering(Array(answer.utf8)))
    }

    private func request(_ server: RawServer, document: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try url(server.url("/")))
        request.mainDocumentURL = try document.map { try url($0) }
        return request
    }

    private func sentCookies(_ server: RawServer) -> [String] {
        let lines = String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "\r\n")
        return lines.filter { $0.hasPrefix("Cookie:") }
    }

    @Test("a session that sets no cookies sends none of its storage, and keeps the answer's", arguments: [false, true])
    func unset(isOwn: Bool) async throws {
        let server = try server("Set-Cookie: b=2\r\n")
        let storage = isOwn ? OwnStorage() : HTTPCookieStorage()
        let configuration = URLSessionConfiguration.isolated
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = storage
        let cookie = HTTPCookie(properties: [.name: "a", .value: "1", .path: "/", .domain: "127.0.0.1"])
        storage.setCookie(try #require(cookie))
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 { _ = try await session.data(for: try request(server)) }
        #expect(sentCookies(server).isEmpty)
        await until { storage.cookies?.count == 2 }
        #expect(Set(storage.cookies?.map(\.name) ?? []) == ["a", "b"])
        configuration.httpShouldSetCookies = true
        let other = URLSession(configuration: configuration)
        defer { other.invalidateAndCancel() }
        let asked = try self.server()
        _ = try await other.data(for: try request(asked))
        #expect(sentCookies(asked) == ["Cookie: a=1; b=2"])
    }

    private typealias Row = (policy: HTTPCookie.AcceptPolicy, document: String?, isKept: Bool)

    private static let rows: [Row] = [
        (.onlyFromMainDocumentDomain, elsewhere, false), (.onlyFromMainDocumentDomain, nil, true),
        (.onlyFromMainDocumentDomain, "http://127.0.0.1/", true), (.always, elsewhere, true), (.never, nil, false),
    ]

    @Test(
        "the configuration's policy and the main document decide which cookies are kept, in storages of each class",
        arguments: rows,
        [false, true]
    )
    private func policies(row: Row, isOwn: Bool) async throws {
        let server = try server("Set-Cookie: a=1\r\n")
        let storage = isOwn ? OwnStorage() : HTTPCookieStorage()
        let configuration = URLSessionConfiguration.isolated
        configuration.httpCookieAcceptPolicy = row.policy
        configuration.httpCookieStorage = storage
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        _ = try await session.data(for: try request(server, document: row.document))
        #expect(storage.cookies?.map(\.name) == (row.isKept ? ["a"] : []))
        if let own = storage as? OwnStorage { #expect(own.stored.all == (row.isKept ? ["a"] : [])) }
    }

    @Test("a strict cookie is not sent with a load for another site's document", arguments: [false, true])
    func strict(isOwn: Bool) async throws {
        let server = try server("Set-Cookie: a=1; SameSite=Strict\r\n")
        let configuration = URLSessionConfiguration.isolated
        configuration.httpCookieStorage = isOwn ? OwnStorage() : HTTPCookieStorage()
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        for document in [nil, Self.elsewhere] {
            _ = try await session.data(for: try request(server, document: document))
        }
        #expect(sentCookies(server).isEmpty)
        _ = try await session.data(for: try request(server))
        #expect(sentCookies(server) == ["Cookie: a=1"])
    }
}
