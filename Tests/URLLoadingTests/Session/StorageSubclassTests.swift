import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlTestServer

@testable import URLLoading

/// Storages of cookies, credentials and answers whose classes are the program's, as Apple's documentation allows them.
@Suite("Storage subclasses", .timeLimit(.minutes(5)))
struct StorageSubclassTests {
    /// Adds a cookie of its own, and stores all but those that track.
    private final class Screening: HTTPCookieStorage, @unchecked Sendable {
        let stored = Sightings<String>()

        override func getCookiesFor(
            _ task: URLSessionTask,
            completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
        ) {
            let own = HTTPCookie(properties: [.name: "own", .value: "1", .path: "/", .domain: "localhost"])
            super.getCookiesFor(task) { completionHandler(($0 ?? []) + [own].compactMap(\.self)) }
        }

        override func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
            stored.add("\(task.currentRequest?.url?.path ?? "") \(cookies.map(\.name))")
            super.storeCookies(cookies.filter { $0.name != "track" }, for: task)
        }
    }

    /// Lets go of its handlers, and keeps nothing.
    private final class Forgetful: HTTPCookieStorage, @unchecked Sendable {
        override func getCookiesFor(
            _ task: URLSessionTask,
            completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
        ) {}
        override func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {}
    }

    private func session(_ storage: HTTPCookieStorage, _ delegate: Recorder? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        configuration.httpCookieStorage = storage
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private func sentCookies(_ server: RawServer, _ connection: Int = 0) -> [String] {
        let lines = String(decoding: server.received(connection), as: UTF8.self).components(separatedBy: "\r\n")
        return lines.filter { $0.hasPrefix("Cookie:") }
    }

    private static let moved = """
        HTTP/1.1 302 Found\r
        Location: /next\r
        Set-Cookie: a=1; Path=/\r
        Set-Cookie: track=1; Path=/\r
        Set-Cookie: foreign=1; Domain=example.com\r
        Content-Length: 5\r
        \r
        moved
        """
    private static let plain = "HTTP/1.1 200 OK\r\nSet-Cookie: b=2; Path=/\r\nContent-Length: 5\r\n\r\nhello"

    @Test("a session gets its cookies from a subclass, and has it store what each answer of a redirect sets")
    func cookies() async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send(Self.moved), .receive(.headEnd), .send(Self.plain), .receive(.headEnd),
                .send(Self.plain),
            ]
        ])
        let storage = Screening()
        let session = session(storage)
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try url(server.url("/first")))
        #expect(data == Data("hello".utf8))
        _ = try await session.data(from: try url(server.url("/third")))
        #expect(storage.stored.all == ["/first [\"a\", \"track\"]", "/next [\"b\"]", "/third [\"b\"]"])
        #expect(sentCookies(server) == ["Cookie: own=1", "Cookie: a=1; own=1", "Cookie: a=1; b=2; own=1"])
        #expect(Set(storage.cookies?.map(\.name) ?? []) == ["a", "b"])
    }

    @Test("a storage that keeps nothing, and lets go of its handler, leaves requests and answers as they are")
    func forgetful() async throws {
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.plain)], [.receive(.headEnd), .send(Self.moved)],
        ])
        var answers = Recorder.Answers()
        answers.redirect = { _ in nil }
        for (path, content) in [("/a", "hello"), ("/b", "moved")] {
            let recorder = Recorder(answers)
            let session = session(Forgetful(), recorder)
            session.dataTask(with: try url(server.url(path))).resume()
            await recorder.end()
            #expect(recorder.told.error == nil && recorder.told.data == Data(content.utf8))
            session.finishTasksAndInvalidate()
        }
        #expect(sentCookies(server, 0).isEmpty && sentCookies(server, 1).isEmpty)
    }

    @Test("a request with a Cookie field of its own, and one that wants no cookies, do not ask a subclass")
    func unasked() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let server = try RawServer.start([[.receive(.headEnd), .send(answer), .startOver]])
        let session = session(Screening())
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/")))
        request.setValue("mine=1", forHTTPHeaderField: "Cookie")
        _ = try await session.data(for: request)
        request = URLRequest(url: try url(server.url("/")))
        request.httpShouldHandleCookies = false
        _ = try await session.data(for: request)
        #expect(sentCookies(server) == ["Cookie: mine=1"])
    }

    @Test("a subclass stores the cookies of a switch of protocols")
    func switching() async throws {
        let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\nSet-Cookie: s=1\r\n\r\n"
        let server = try RawServer.start([[.receive(.headEnd), .send(head)]])
        let storage = Screening()
        let session = session(storage)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url("/")))
        request.setValue("chat", forHTTPHeaderField: "Upgrade")
        _ = try await session.data(for: request)
        #expect(await storage.stored.wait { $0 == ["/ [\"s\"]"] })
    }

    @Test("a subclass stores the cookies of an answer that nobody waits for")
    func refreshing() async throws {
        let kept = "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, stale-while-revalidate=600\r\nETag: \"a\"\r\n"
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send(kept + "Content-Length: 3\r\n\r\none"),
                .receive(.headEnd), .send(kept + "Set-Cookie: late=1\r\nContent-Length: 3\r\n\r\ntwo"),
            ]
        ])
        let storage = Screening()
        let configuration = URLSessionConfiguration.isolated
        configuration.httpCookieStorage = storage
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 {
            let (data, _) = try await session.data(from: try url(server.url("/a")))
            #expect(data == Data("one".utf8))
        }
        #expect(await storage.stored.wait { $0 == ["/a [\"late\"]"] })
    }

    /// Notes which data tasks it is asked for.
    private final class AskedCache: URLCache, @unchecked Sendable {
        let asked = Sightings<String>()

        override func getCachedResponse(
            for dataTask: URLSessionDataTask,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            asked.add(dataTask.currentRequest?.url?.path ?? "")
            super.getCachedResponse(for: dataTask, completionHandler: completionHandler)
        }
    }

    @Test("a session asks a subclass of URLCache by the method that takes a data task, and serves what it finds")
    func cache() async throws {
        let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\nfound"
        let server = try RawServer.start([[.receive(.headEnd), .send(answer)]])
        let cache = AskedCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = cache
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 {
            let (data, _) = try await session.data(from: try url(server.url("/a")))
            #expect(data == Data("found".utf8))
        }
        #expect(cache.asked.all == ["/a", "/a"])
    }

    /// Knows one password, and notes what it is asked.
    private final class Vault: URLCredentialStorage, @unchecked Sendable {
        let calls = Sightings<String>()

        override func getDefaultCredential(
            for space: URLProtectionSpace,
            task: URLSessionTask,
            completionHandler: (URLCredential?) -> Void
        ) {
            calls.add("get \(space.realm ?? "") \(task.currentRequest?.url?.path ?? "")")
            completionHandler(URLCredential(user: "user", password: "pass", persistence: .forSession))
        }

        override func set(_ credential: URLCredential, for space: URLProtectionSpace, task: URLSessionTask) {
            calls.add("set \(space.realm ?? "") \(credential.user ?? "")")
        }
    }

    @Test("a challenged session gets the credential from a subclass, and has it store what the server accepts")
    func credentials() async throws {
        let server = try TestServer.start()
        let storage = Vault()
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCredentialStorage = storage
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let (_, response) = try await session.data(from: try url(server.url("/basic-auth/user/pass")))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(await storage.calls.wait { $0.count == 2 })
        #expect(storage.calls.all.first?.hasSuffix(" /basic-auth/user/pass") == true)
        #expect(storage.calls.all.last?.hasPrefix("set ") == true && storage.calls.all.last?.hasSuffix(" user") == true)
        await session.reset()
    }
}
