import Foundation
import Glibc
import Testing

@testable import URLLoading

/// With processes of their own, which share nothing with the test but the file.
@Suite("CookieFile")
struct CookieFileTests {
    private func inFolder(_ body: (_ path: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "jar.json").path)
    }

    @Test("another process's cookies are kept, and seen")
    func secondProcess() async throws {
        try await inFolder { path in
            let store = CookieStore(file: CookieFile(path: path))
            _ = store.set(Self.cookie("mine", "1"), created: 1)
            store.flush()
            await #expect(processExitsWith: .success) { [path = path as String] in
                let store = CookieStore(file: CookieFile(path: path))
                guard store.all().map(\.cookie.name) == ["mine"] else { exit(1) }
                _ = store.set(CookieFileTests.cookie("theirs", "2"), created: 2)
                store.flush()
            }
            #expect(Set(store.all().map(\.cookie.name)) == ["mine", "theirs"])
        }
    }

    @Test("a process that is killed while it writes leaves a whole file", arguments: 1...12)
    func killed(round: Int) async throws {
        try await inFolder { path in
            let start = (0..<300).map {
                CookieJar.Entry(cookie: Self.cookie("c\($0)", "0"), creation: 0, lastAccess: 0)
            }
            let file = CookieFile(path: path)
            _ = try file.locked(upTo: .seconds(1)) { () throws(CookieFile.Failure) in try file.write(start) }
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
                Thread.detachNewThread {
                    usleep(UInt32(round * 3_000 + .random(in: 0..<3_000)))
                    kill(getpid(), SIGKILL)
                }
                let store = CookieStore(file: CookieFile(path: path))
                for value in 1... {
                    // Each round gives all of them the same value, so that a mixture would show.
                    for index in 0..<300 { _ = store.set(CookieFileTests.cookie("c\(index)", "\(value)"), created: 0) }
                    store.flush()
                }
            }
            let store = CookieStore(file: file)
            let values = Set(store.all().map(\.cookie.value))
            #expect(store.failure == nil)
            #expect(store.all().count == 300)
            #expect(values.count == 1, "\(values)")
        }
    }

    static func cookie(_ name: String, _ value: String) -> Cookie {
        var cookie = Cookie(name: name, value: value, domain: "h.test", isHostOnly: true, path: "/")
        cookie.expires = CookieStore.now + 1000
        return cookie
    }
}
