import Foundation
import TestSupport
import Testing
import UncurlReactor
import UncurlSemantics

@testable import URLLoading

@Suite("CookieStore")
struct CookieStoreTests {
    /// A folder of a test's own, gone with it.
    private final class Folder {
        let path: String
        var file: CookieFile { CookieFile(path: path + "/jar.json") }
        var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

        init(_ name: String = "cookies") {
            path = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)").path
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private let folder = Folder()
    private var store: CookieStore { CookieStore(file: folder.file) }

    @discardableResult
    private func set(_ store: CookieStore, _ name: String, _ value: String = "v", age: Double? = 1000) -> Bool {
        var cookie = Cookie(name: name, value: value, domain: "h.test", isHostOnly: true, path: "/")
        cookie.expires = age.map { CookieStore.now + $0 }
        return store.set(cookie, created: CookieStore.now)
    }

    private func content(_ store: CookieStore) -> [String: String] {
        Dictionary(store.all().map { ($0.cookie.name, $0.cookie.value) }) { $0 + $1 }
    }

    @Test("cookies with a date outlive the process, with everything they say; others do not")
    func persistence() throws {
        let first = store
        var cookie = Cookie(name: "n\t\"ü\\", value: "v", domain: "h.test", isHostOnly: false, path: "/p")
        cookie.expires = (CookieStore.now + 1000).rounded()
        cookie.isSecure = true
        cookie.isHTTPOnly = true
        cookie.sameSite = .lax
        cookie.version = 1
        cookie.comment = "c"
        cookie.commentURL = "u"
        cookie.ports = [80]
        #expect(first.set(cookie, created: 5))
        set(first, "session", age: nil)
        first.flush()
        let second = store
        #expect(second.all().map(\.cookie) == [cookie])
        #expect(second.all().first?.creation == 5)
        #expect(first.all().count == 2)
    }

    @Test("a date that no file can hold keeps nothing off the disk")
    func endlessDate() throws {
        let first = store
        for (name, time) in [("later", Double.infinity), ("never", -.infinity), ("none", .nan)] {
            let cookie = try #require(
                HTTPCookie(properties: [
                    .name: name, .value: "v", .domain: "h.test", .path: "/",
                    .expires: Date(timeIntervalSince1970: time),
                ])
            )
            #expect(!cookie.description.isEmpty)
            _ = first.set(cookie.cookie, created: 1)
        }
        set(first, "other")
        first.flush()
        #expect(first.failure == nil)
        #expect(Set(content(store).keys) == ["later", "other"])
    }

    @Test("the file is readable by its owner alone, and nothing but the lock lies beside it")
    func mode() throws {
        let store = store
        set(store, "a")
        store.flush()
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(folder.names == ["jar.json", "jar.json.lock"])
    }

    @Test("no file is written if no cookie is to be kept")
    func noFile() {
        let store = store
        #expect(content(store).isEmpty)
        set(store, "session", age: nil)
        let header = store.header(for: CookieScope(URL(string: "http://h.test/")!)!, document: nil)
        #expect(header == Array("session=v".utf8))
        let another = self.store
        another.flush()
        #expect(folder.names.isEmpty)
    }

    @Test("changes reach the file without a call of flush")
    func eventually() async throws {
        set(store, "a")
        while (try? folder.file.read())?.count != 1 { await Task.yield() }
    }

    @Test(
        "requests come to carry what another process has written, though nothing else reads the file",
        .timeLimit(.minutes(5))
    )
    func headerOfOthers() async throws {
        let (reader, writer) = (store, store)
        let scope = try #require(URL(string: "http://h.test/").flatMap { CookieScope($0) })
        #expect(reader.header(for: scope, document: nil) == nil)
        set(writer, "a")
        writer.flush()
        await until { reader.header(for: scope, document: nil) == Array("a=v".utf8) }
    }

    @Test("two processes that share a file keep each other's cookies, and the last change of each cookie counts")
    func merging() {
        let (one, other) = (store, store)
        set(one, "a", "1")
        set(other, "b", "1")
        one.flush()
        other.flush()
        #expect(content(one) == ["a": "1", "b": "1"])
        #expect(content(other) == ["a": "1", "b": "1"])
        set(one, "a", "2")
        set(other, "c", "1")
        #expect(other.remove(Cookie.Key(name: "b", domain: "h.test", isHostOnly: true, path: "/")))
        set(one, "session", age: nil)
        other.flush()
        one.flush()
        #expect(content(one) == ["a": "2", "c": "1", "session": "v"])
        #expect(content(other) == ["a": "2", "c": "1"])
        #expect(content(store) == ["a": "2", "c": "1"])
    }

    @Test("reading shows what another process has written")
    func reading() {
        let (reader, writer) = (store, store)
        #expect(content(reader).isEmpty)
        for value in ["1", "2", "3"] {
            set(writer, "a", value)
            writer.flush()
            #expect(content(reader) == ["a": value])
        }
        #expect(writer.remove(since: 0))
        writer.flush()
        #expect(content(reader).isEmpty)
    }

    @Test("after the file was removed, the known cookies stay, and the next change writes them again")
    func fileRemoved() throws {
        let store = store
        set(store, "a")
        store.flush()
        try FileManager.default.removeItem(atPath: folder.file.path)
        #expect(content(store) == ["a": "v"])
        set(store, "b")
        store.flush()
        #expect(content(self.store) == ["a": "v", "b": "v"])
    }

    @Test(
        "a damaged file counts as empty, is reported, and is moved aside by the next change; so is an older program's",
        arguments: [0, 1, 10, 100, -1, -2]
    )
    func corrupt(length: Int) throws {
        let first = store
        set(first, "a")
        first.flush()
        var data = try Data(contentsOf: URL(filePath: folder.file.path))
        data = length < 0 ? Data("{\"version\":\(-length),\"cookies\":[]}".utf8) : data.prefix(length)
        try data.write(to: URL(filePath: folder.file.path))
        let second = store
        #expect(content(second).isEmpty)
        #expect(second.failure == StoreFile.damage)
        // Who had read it before knows better.
        #expect(content(first) == ["a": "v"])
        set(second, "b")
        second.flush()
        #expect(second.failure == nil)
        #expect(content(store) == ["b": "v"])
        #expect(folder.names == ["jar.json", "jar.json.damaged", "jar.json.lock"])
        #expect(try Data(contentsOf: URL(filePath: StoreFile.damagedPath(of: folder.file.path))) == data)
    }

    @Test("a file that cannot be read is not overwritten, and cookies are kept in memory until it can be")
    func unreadable() throws {
        let first = store
        set(first, "a")
        first.flush()
        let size = 65 << 20
        #expect(truncate(folder.file.path, off_t(size)) == 0)
        let second = store
        #expect(content(second).isEmpty)
        for name in ["b", "c"] {
            set(second, name)
            second.flush()
            #expect(second.failure == Errno(code: EFBIG))
            #expect(folder.file.state?.size == Int64(size))
        }
        #expect(folder.names == ["jar.json", "jar.json.lock"])
        try FileManager.default.removeItem(atPath: folder.file.path)
        second.flush()
        #expect(second.failure == nil)
        #expect(content(store) == ["b": "v", "c": "v"])
    }

    @Test("a file that was moved aside stays for a week")
    func putAside() throws {
        let first = store
        set(first, "a")
        first.flush()
        StoreFile.setAside(folder.file.path)
        set(first, "b")
        first.flush()
        #expect(folder.names == ["jar.json", "jar.json.damaged", "jar.json.lock"])
        var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
        #expect(utimes(StoreFile.damagedPath(of: folder.file.path), &times) == 0)
        #expect(content(store) == ["a": "v", "b": "v"])
        #expect(folder.names == ["jar.json", "jar.json.lock"])
    }

    @Test(
        "what a killed writer left half written is ignored, and removed by the first look and by each change",
        arguments: ["cookies", "ü"]
    )
    func leftovers(name: String) throws {
        let folder = Folder(name)
        var store: CookieStore { CookieStore(file: folder.file) }
        let first = store
        set(first, "a")
        first.flush()
        func leave() throws {
            try Data("{\"version\":1,\"coo".utf8).write(to: URL(filePath: folder.file.path + ".99999-1.tmp"))
        }
        try leave()
        let second = store
        #expect(content(second) == ["a": "v"])
        #expect(folder.names == ["jar.json", "jar.json.lock"])
        try leave()
        set(second, "b")
        second.flush()
        #expect(folder.names == ["jar.json", "jar.json.lock"])
        #expect(content(store) == ["a": "v", "b": "v"])
    }

    @Test("if the folder cannot be made, the failure is reported, and cookies are kept in memory")
    func unwritable() throws {
        let store = CookieStore(file: CookieFile(path: "/dev/null/no/jar.json"))
        set(store, "a")
        store.flush()
        #expect(content(store) == ["a": "v"])
        #expect(store.failure != nil && store.failure != StoreFile.damage)
    }

    @Test("a lock that another process holds is waited for no longer than the limit, and nothing is lost")
    func locked() throws {
        let store = store
        set(store, "a")
        try folder.file.locked(upTo: .seconds(1)) { () throws(Errno) in
            store.flush(upTo: .zero)
            #expect(store.failure == .busy)
        }
        store.flush()
        #expect(store.failure == nil)
        #expect(content(self.store) == ["a": "v"])
    }

    @Test("cookies that expired while no process ran are gone")
    func expired() throws {
        var entry = CookieJar.Entry(
            cookie: Cookie(name: "old", value: "v", domain: "h.test", isHostOnly: true, path: "/"),
            creation: 0,
            lastAccess: 0
        )
        entry.cookie.expires = 5
        let file = folder.file
        _ = try file.locked(upTo: .seconds(1)) { () throws(Errno) in try file.write([entry]) }
        #expect(content(store).isEmpty)
    }
}
