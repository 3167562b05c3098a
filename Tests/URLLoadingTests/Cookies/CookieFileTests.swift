import Foundation
import Glibc
import Testing
import UncurlReactor
import UncurlSemantics

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

    @Test("another process's cookies are kept and seen")
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

    @Test("what the program set last is on disk when it has ended, in the shared storage and in a group's")
    func exits() async throws {
        try await inFolder { path in
            let folder = URL(filePath: path).deletingLastPathComponent().path
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                setenv("XDG_DATA_HOME", folder, 1)
                HTTPCookieStorage.shared.setCookie(HTTPCookie(CookieFileTests.cookie("shared", "1"), created: 1))
                HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "a/group")
                    .setCookie(HTTPCookie(CookieFileTests.cookie("group", "2"), created: 2))
                exit(EXIT_SUCCESS)
            }
            let own = "\(folder)/\(URL(fileURLWithPath: Bundle.main.bundlePath).lastPathComponent)/.cookies.shared"
            let shared = try #require(try CookieFile(path: own).read())
            let group = try #require(try CookieFile(path: "\(folder)/a%2Fgroup/cookies.group").read())
            #expect(shared.map(\.cookie.name) == ["shared"] && group.map(\.cookie.name) == ["group"])
        }
    }

    @Test("the shared storage's file exists once its first cookie is set, even if the cookie ends with the process")
    func first() async throws {
        try await inFolder { path in
            let store = CookieStore(file: CookieFile(path: path), writesFirstAtOnce: true)
            var cookie = Self.cookie("a", "1")
            (cookie.expires, cookie.isDiscarded) = (nil, true)
            _ = store.set(cookie, created: 1)
            #expect(FileManager.default.fileExists(atPath: path))
            let written = try CookieFile(path: path).read()
            #expect(written?.isEmpty == true)
        }
    }

    @Test("the program's own storage writes its file with its first cookie, before the program ends")
    func ownFirst() async throws {
        try await inFolder { path in
            let folder = URL(filePath: path).deletingLastPathComponent().path
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                setenv("XDG_DATA_HOME", folder, 1)
                HTTPCookieStorage.shared.setCookie(HTTPCookie(CookieFileTests.cookie("a", "1"), created: 1))
                let own = "\(folder)/\(URL(fileURLWithPath: Bundle.main.bundlePath).lastPathComponent)/.cookies.shared"
                guard FileManager.default.fileExists(atPath: own) else { exit(2) }
            }
        }
    }

    /// What FoundationNetworking of Swift 6.3 writes for three cookies. The name of the third holds an equals sign.
    private static let foundationFile = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>.a.test/kept</key>
        \t<dict>
        \t\t<key>Domain</key>
        \t\t<string>.a.test</string>
        \t\t<key>Expires</key>
        \t\t<real>4000000000</real>
        \t\t<key>Name</key>
        \t\t<string>kept</string>
        \t\t<key>Path</key>
        \t\t<string>/</string>
        \t\t<key>Secure</key>
        \t\t<true/>
        \t\t<key>Value</key>
        \t\t<string>1</string>
        \t\t<key>Version</key>
        \t\t<integer>0</integer>
        \t</dict>
        \t<key>b.test/pported</key>
        \t<dict>
        \t\t<key>Comment</key>
        \t\t<string>c</string>
        \t\t<key>CommentURL</key>
        \t\t<string>http://b.test/c</string>
        \t\t<key>Domain</key>
        \t\t<string>b.test</string>
        \t\t<key>Expires</key>
        \t\t<real>4000000000.5</real>
        \t\t<key>Name</key>
        \t\t<string>ported</string>
        \t\t<key>Path</key>
        \t\t<string>/p</string>
        \t\t<key>Port</key>
        \t\t<array>
        \t\t\t<integer>80</integer>
        \t\t\t<integer>81</integer>
        \t\t</array>
        \t\t<key>Secure</key>
        \t\t<false/>
        \t\t<key>Value</key>
        \t\t<string>2</string>
        \t\t<key>Version</key>
        \t\t<integer>1</integer>
        \t</dict>
        \t<key>a.test/x=y</key>
        \t<dict>
        \t\t<key>Domain</key>
        \t\t<string>a.test</string>
        \t\t<key>Expires</key>
        \t\t<real>4000000000</real>
        \t\t<key>Name</key>
        \t\t<string>x=y</string>
        \t\t<key>Path</key>
        \t\t<string>/</string>
        \t\t<key>Secure</key>
        \t\t<false/>
        \t\t<key>Value</key>
        \t\t<string>3</string>
        \t\t<key>Version</key>
        \t\t<integer>0</integer>
        \t</dict>
        </dict>
        </plist>

        """

    @Test("FoundationNetworking's file is read, and ours replaces it")
    func foundation() async throws {
        try await inFolder { path in
            try Data(Self.foundationFile.utf8).write(to: URL(filePath: path))
            let store = CookieStore(file: CookieFile(path: path))
            var kept = Cookie(name: "kept", value: "1", domain: "a.test", isHostOnly: false, path: "/")
            (kept.isSecure, kept.expires) = (true, 4_000_000_000)
            var ported = Cookie(name: "ported", value: "2", domain: "b.test", isHostOnly: true, path: "/p")
            (ported.version, ported.ports, ported.expires) = (1, [80, 81], 4_000_000_000.5)
            (ported.comment, ported.commentURL) = ("c", "http://b.test/c")
            #expect(store.all().map(\.cookie).sorted { $0.name < $1.name } == [kept, ported])
            _ = store.set(Self.cookie("new", "2"), created: 1)
            store.flush()
            let names = try #require(try CookieFile(path: path).read()).map(\.cookie.name)
            #expect(Set(names) == ["kept", "ported", "new"])
            let octets = try Data(contentsOf: URL(filePath: path))
            #expect(StoreRecord.isWhole(Array(octets), .cookies))
        }
    }

    @Test("a process that is killed while it writes leaves a whole file")
    func killed() async throws {
        try await inFolder { path in
            let file = CookieFile(path: path)
            var seen: Set<String> = []
            for round in 1...8 {
                let start = (0..<40).map { index in
                    CookieJar.Entry(cookie: Self.cookie("c\(index)", "start"), creation: 0, lastAccess: 0)
                }
                _ = try file.locked(upTo: .seconds(1)) { () throws(Errno) in try file.write(start) }
                await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
                    let store = CookieStore(file: CookieFile(path: path))
                    guard store.all().count == 40 else { exit(1) }
                    for value in 1... {
                        // The first writing is done: it dies in a later one, or between two.
                        if value == 2 {
                            Thread.detachNewThread {
                                usleep(UInt32(round * 6_000 + .random(in: 0..<6_000)))
                                kill(getpid(), SIGKILL)
                            }
                        }
                        // All of them get one value, so that a mixture would show; at once, as from one answer: the store writes on its
                        // own a tenth of a second after a change, and would find half of them set.
                        guard CookieFileTests.setAll(40, "\(value)", in: store) else { exit(2) }
                        store.flush()
                    }
                }
                let store = CookieStore(file: file)
                let values = Set(store.all().map(\.cookie.value))
                #expect(store.failure == nil)
                #expect(store.all().count == 40)
                #expect(values.count == 1, "\(values)")
                seen.formUnion(values)
            }
            #expect(!seen.contains("start"))
        }
    }

    private static func setAll(_ count: Int, _ value: String, in store: CookieStore) -> Bool {
        guard let url = URL(string: "http://h.test/"), let scope = CookieScope(url) else { return false }
        let cookies = (0..<count).map { cookie("c\($0)", value) }
        return store.store(cookies, from: scope, document: nil, policy: .always)
    }

    static func cookie(_ name: String, _ value: String) -> Cookie {
        var cookie = Cookie(name: name, value: value, domain: "h.test", isHostOnly: true, path: "/")
        cookie.expires = CookieStore.now + 1000
        return cookie
    }

    @Test("a file with a name of too many combining marks is none of FoundationNetworking's")
    func longNames() throws {
        let long = "e" + String(repeating: "\u{345}", count: 129)
        for (name, isRead) in [("a", true), (long, false)] {
            let list = try PropertyListSerialization.data(fromPropertyList: [name: 1], format: .xml, options: 0)
            #expect((CookieFile.foundation(Array(list), now: 0) != nil) == isRead)
            #expect((list.xmlPropertyList != nil) == isRead)
        }
    }

    @Test("a property list in XML is read in UTF-8 alone: in another encoding single octets can be combining marks")
    func otherEncodings() throws {
        let list = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .xml, options: 0)
        let text = try #require(String(data: list, encoding: .utf8))
        let other = text.replacingOccurrences(of: "UTF-8", with: "windows-1258")
        #expect(Data(text.utf8).xmlPropertyList != nil && Data(other.utf8).xmlPropertyList == nil)
    }
}
