import Foundation
import ScriptedPeer
import Synchronization
import Testing
import UncurlSemantics

@testable import URLLoading

@Suite("HTTPCookieStorage")
struct HTTPCookieStorageTests {
    private let storage = HTTPCookieStorage()
    private let url = URL(string: "https://www.shop.test/dir/")!

    private func cookie(
        _ name: String,
        _ value: String = "v",
        _ more: [HTTPCookiePropertyKey: Any] = [:]
    ) throws -> HTTPCookie {
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .path: "/", .domain: "www.shop.test",
        ]
        return try #require(HTTPCookie(properties: properties.merging(more) { $1 }))
    }

    private func receive(_ lines: [String], document: String? = nil, policy: HTTPCookie.AcceptPolicy = .always) throws {
        storage.store.store(
            setCookieLines: lines.map { Array($0.utf8)[...] },
            from: try #require(CookieScope(url)),
            document: document.flatMap { URL(string: $0) }.flatMap { CookieScope($0) },
            policy: policy
        )
    }

    private var header: String? {
        CookieScope(url).flatMap { storage.store.header(for: $0, document: nil) }.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test("cookies are set, replaced, found, deleted")
    func lifeCycle() throws {
        #expect(storage.cookies == [])
        storage.setCookie(try cookie("a"))
        storage.setCookie(try cookie("a", "w"))
        storage.setCookie(try cookie("b", "x", [.path: "/dir"]))
        #expect(storage.cookies(for: url)?.map(\.value) == ["x", "w"])
        #expect(storage.cookies?.count == 2)
        #expect(storage.cookies(for: URL(filePath: "/etc")) == nil)
        #expect(try storage.cookies(for: #require(URL(string: "https://other.test"))) == [])
        storage.deleteCookie(try cookie("a", "any value"))
        #expect(header == "b=x")
        storage.setCookie(try cookie("b", "x", [.path: "/dir", .expires: Date.distantPast]))
        #expect(storage.cookies == [])
    }

    @Test("a cookie without a name is stored and sent by the loader, as RFC 6265bis has it")
    func nameless() async throws {
        let answer = "HTTP/1.1 200 OK\r\nSet-Cookie: bare\r\nSet-Cookie: =other; Path=/x\r\nContent-Length: 0\r\n\r\n"
        let server = try RawServer.start([[.receive(.headEnd), .send(answer), .startOver]])
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        for path in ["/", "/x"] { _ = try await session.data(from: try URLLoadingTests.url(server.url(path))) }
        let sent = String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "\r\n")
        #expect(sent.filter { $0.hasPrefix("Cookie:") } == ["Cookie: other; bare"])
    }

    @Test("the cookies that the loader stores are those that it sends and that the program sees")
    func loader() throws {
        #expect(header == nil)
        try receive(["a=1; Path=/; Secure; HttpOnly", "b=2; Domain=shop.test", "c=3; Domain=other.test", "", "d\0=4"])
        #expect(header == "b=2; a=1")
        #expect(Set(storage.cookies?.map(\.domain) ?? []) == ["www.shop.test", ".shop.test"])
        let copy = HTTPCookieStorage()
        copy.setCookies(storage.cookies ?? [], for: url, mainDocumentURL: nil)
        #expect(Set(copy.cookies ?? []) == Set(storage.cookies ?? []))
    }

    @Test("the cookies of one response are sent in its order, whatever their domains")
    func order() throws {
        try receive([
            "d=1; Path=/", "a=2; Domain=shop.test; Path=/", "c=3; Path=/", "b=4; Domain=www.shop.test; Path=/",
        ])
        #expect(header == "d=1; a=2; c=3; b=4")
    }

    @Test("of one response's fields fifty are looked at")
    func manyLines() throws {
        try receive((0..<60).map { "c\($0)=1" })
        #expect(storage.cookies?.count == 50)
    }

    @Test("setCookies refuses what the URL may not set")
    func setCookies() throws {
        let cookies = try [
            cookie("own"), cookie("parent", "v", [.domain: ".shop.test"]),
            cookie("other", "v", [.domain: "other.test"]),
            cookie("below", "v", [.domain: ".a.www.shop.test"]), cookie("safe", "v", [.secure: true]),
            cookie("__Host-x", "v"), cookie("sibling", "v", [.domain: "img.shop.test"]),
        ]
        storage.setCookies(cookies, for: nil, mainDocumentURL: nil)
        #expect(storage.cookies == [])
        storage.setCookies(cookies, for: URL(string: "http://www.shop.test/"), mainDocumentURL: nil)
        #expect(Set(storage.cookies?.map(\.name) ?? []) == ["own", "parent"])
        storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        #expect(Set(storage.cookies?.map(\.name) ?? []) == ["own", "parent", "safe"])
    }

    @Test("the accept policies take all cookies, none, or those of the main document's site")
    func policies() throws {
        storage.cookieAcceptPolicy = .never
        storage.setCookie(try cookie("a"))
        storage.setCookies([try cookie("a")], for: url, mainDocumentURL: nil)
        try receive(["a=1"])
        #expect(storage.cookies == [])
        storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
        try receive(["a=1"], document: "https://other.test/")
        storage.setCookies([try cookie("a")], for: url, mainDocumentURL: URL(string: "https://evilshop.test/"))
        #expect(storage.cookies == [])
        try receive(["a=1"], document: "http://shop.test/")
        try receive(["b=1"])
        #expect(storage.cookies?.count == 2)
        storage.cookieAcceptPolicy = .always
        try receive(["c=1"], document: "https://other.test/", policy: .onlyFromMainDocumentDomain)
        try receive(["c=1"], policy: .never)
        #expect(storage.cookies?.count == 2)
        try receive(["c=1"], document: "https://other.test/")
        #expect(storage.cookies?.count == 3)
    }

    @Test("the program's rule for public suffixes decides in place of the list, until it is taken away")
    func publicSuffixRule() async {
        await #expect(processExitsWith: .success) {
            guard let scope = URL(string: "https://a.corp.test/").flatMap({ CookieScope($0) }) else { _exit(2) }
            let storage = HTTPCookieStorage()
            func names() -> [String] {
                storage.store.store(
                    setCookieLines: [Array("c=1; Domain=corp.test".utf8)[...]],
                    from: scope,
                    document: nil,
                    policy: .always
                )
                return storage.cookies?.map(\.domain) ?? []
            }
            HTTPCookieStorage.isPublicSuffix = { $0 == "corp.test" }
            guard names() == [] else { _exit(3) }
            HTTPCookieStorage.isPublicSuffix = nil
            _exit(names() == [".corp.test"] ? EXIT_SUCCESS : 4)
        }
    }

    @Test("cookies made after a date can be removed, older ones stay")
    func removeSince() throws {
        try receive(["old=1"])
        let created = try #require(storage.store.all().first?.creation)
        storage.removeCookies(since: Date(timeIntervalSince1970: created))
        #expect(storage.cookies?.count == 1)
        storage.removeCookies(since: Date(timeIntervalSince1970: created - 1))
        #expect(storage.cookies == [])
        try receive(["old=1"])
        storage.removeCookies(since: .distantPast)
        #expect(storage.cookies == [])
    }

    @Test("a task's cookies are those of its current request and main document")
    func tasks() throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: url)
        let task = session.dataTask(with: request)
        request.mainDocumentURL = URL(string: "https://elsewhere.test/")
        let foreign = session.dataTask(with: request)
        storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
        storage.storeCookies([try cookie("foreign")], for: foreign)
        storage.storeCookies([try cookie("a"), try cookie("b", "v", [.sameSitePolicy: "strict"])], for: task)
        let found = Mutex<[String]>([])
        storage.getCookiesFor(task) { cookies in found.withLock { $0 = cookies?.map(\.name) ?? ["nil"] } }
        #expect(found.withLock { $0 } == ["a", "b"])
        storage.getCookiesFor(foreign) { cookies in found.withLock { $0 = cookies?.map(\.name) ?? ["nil"] } }
        #expect(found.withLock { $0 } == ["a"])
    }

    @Test("cookies are sorted by the given descriptors")
    func sorted() throws {
        try receive(["b=1", "c=2", "a=3"])
        let byName = storage.sortedCookies(using: [NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: true)])
        #expect(byName.map(\.name) == ["a", "b", "c"])
        let byValue = storage.sortedCookies(using: [NSSortDescriptor(keyPath: \HTTPCookie.value, ascending: false)])
        #expect(byValue.map(\.value) == ["3", "2", "1"])
    }

    /// Counts a storage's notifications.
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    @Test("each change is announced once, on the thread that made it; a call that changes nothing is not announced")
    func notifications() throws {
        let counter = Counter()
        let center = NotificationCenter.default
        let tokens = [Notification.Name.NSHTTPCookieManagerCookiesChanged, .NSHTTPCookieManagerAcceptPolicyChanged].map
        {
            center.addObserver(forName: $0, object: storage, queue: nil) { _ in counter.add() }
        }
        defer { tokens.forEach(center.removeObserver) }
        storage.setCookie(try cookie("a"))
        #expect(counter.value == 1)
        storage.setCookie(try cookie("a"))
        storage.deleteCookie(try cookie("b"))
        #expect(counter.value == 1)
        storage.deleteCookie(try cookie("a"))
        #expect(counter.value == 2)
        storage.removeCookies(since: .distantPast)
        storage.cookieAcceptPolicy = .always
        #expect(counter.value == 2)
        storage.cookieAcceptPolicy = .never
        #expect(counter.value == 3)
        HTTPCookieStorage().setCookie(try cookie("a"))
        #expect(counter.value == 3)
    }

    @Test("a change from the network is announced on another thread, where observers may ask the storage")
    func networkNotification() async throws {
        let (changes, tell) = AsyncStream.makeStream(of: Int.self)
        let storage = storage
        let token = NotificationCenter.default.addObserver(
            forName: .NSHTTPCookieManagerCookiesChanged,
            object: storage,
            queue: nil
        ) { [weak storage] _ in
            tell.yield(storage?.cookies?.count ?? -1)
        }
        try receive(["a=1"])
        for await count in changes {
            #expect(count == 1)
            break
        }
        NotificationCenter.default.removeObserver(token)
    }

    @Test("there is one shared storage, and one for each group")
    func shared() {
        #expect(HTTPCookieStorage.shared === HTTPCookieStorage.shared)
        let group = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "test.group")
        #expect(group === HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "test.group"))
        #expect(group !== HTTPCookieStorage.shared)
        #expect(!HTTPCookieStorage.shared.store.isEphemeral)
        #expect(storage.description == "Ephemeral<NSHTTPCookieStorage cookies count:0>")
    }

    @Test("files lie in a folder below the user's data, whatever the group's identifier")
    func paths() {
        let shared = CookieStore.sharedPath
        for identifier in ["../../etc", "..", ".", "", "a/b"] {
            let path = CookieStore.path(ofGroup: identifier)
            let base = path.split(separator: "/").dropLast(2)
            #expect(base.elementsEqual(shared.split(separator: "/").dropLast(2)), "\(path)")
            #expect(!path.contains("/../") && !path.contains("/./") && !path.contains("//"))
        }
        #expect(CookieStore.path(ofGroup: "a/b") != CookieStore.path(ofGroup: "a%2Fb"))
    }

    @Test(
        "the shared storage's file is FoundationNetworking's: it lies in a folder with the bundle's name",
        arguments: [
            ("/opt/tool/bin", "bin"), ("/opt/My App 1.2 b", "My App 1"), ("/x.y.z/", "x.y"), ("/opt/.hidden", ""),
            ("/a%20b/é ü", "é ü"), ("/trail.", "trail"), ("/", ""),
        ]
    )
    func sharedPath(bundle: String, folder: String) {
        let path = CookieStore.sharedPath(ofBundle: bundle)
        #expect(path == StoreFile.data(of: folder) + "/.cookies.shared")
        #expect(CookieStore.sharedPath == CookieStore.sharedPath(ofBundle: Bundle.main.bundlePath))
    }
}
