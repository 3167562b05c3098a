import Testing
import UncurlReactor

@testable import URLLoading

@Suite("The file of credentials")
struct CredentialFileTests {
    private let folder = TemporaryFolder()
    private var file: CredentialFile { CredentialFile(path: folder.path + "/credentials.json") }
    private let space = ProtectionSpaceValues(host: "h", port: 80, side: .server("http"), realm: "r", method: nil)
    private let proxy = ProtectionSpaceValues(host: "p", port: 1, side: .proxy(nil), realm: nil, method: "m")

    private func credential(_ user: String, _ persistence: URLCredential.Persistence = .permanent) -> Credential {
        Credential(proof: .password(user: user, password: "päss\u{1}"), persistence: persistence)
    }

    @Test("permanent credentials come back with their spaces and their defaults")
    func roundTrip() throws {
        let written = try file.update { table in
            _ = table.set(credential("a"), for: space, isFirst: false)
            _ = table.setDefault(credential("b"), for: space)
            _ = table.set(credential("c"), for: proxy, isFirst: false)
        }
        #expect(try file.table() == written.table && written.table.spaces.count == 2)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("a lock that is never released is waited for no longer than a limit")
    func locked() throws {
        try folder.make()
        let lock = open(file.path + ".lock", O_RDWR | O_CREAT, 0o600)
        defer { close(lock) }
        #expect(lock >= 0 && flock(lock, LOCK_EX) == 0)
        #expect(throws: Errno(code: EBUSY)) {
            try file.update { _ = $0.set(credential("a"), for: space, isFirst: false) }
        }
    }

    @Test("a change is made to what the file holds at that time")
    func merging() throws {
        _ = try file.update { _ = $0.set(credential("a"), for: space, isFirst: false) }
        let both = try file.update { _ = $0.set(credential("b"), for: space, isFirst: false) }
        #expect(both.table.credentials(for: space)?.count == 2)
    }

    @Test("a change returns the state that it has left, not that after another process's change")
    func states() throws {
        let first = try file.update { _ = $0.set(credential("a"), for: space, isFirst: false) }
        #expect(first.state == file.state && first.state != nil)
        let unchanged = try file.update { _ = $0.set(credential("a"), for: space, isFirst: false) }
        #expect(unchanged.state == first.state)
        let second = try file.update { _ = $0.set(credential("b"), for: space, isFirst: false) }
        #expect(second.state == file.state && second.state != first.state)
    }

    @Test(
        "a file that cannot be read, or is an older program's, holds nothing, and the next change puts it aside",
        arguments: ["", "{", "[]", "{\"version\":1,\"credentials\":[]}"]
    )
    func damaged(text: String) throws {
        try folder.make()
        folder.write(Array(text.utf8), to: "credentials.json")
        #expect(throws: StoreFile.damage) { try file.table() }
        #expect(folder.names == ["credentials.json"])
        _ = try file.update { _ = $0.set(credential("a"), for: space, isFirst: false) }
        #expect(try file.table().credentials(for: space)?.count == 1)
        #expect(folder.names == ["credentials.json", "credentials.json.damaged", "credentials.json.lock"])
        #expect(folder.bytes(of: "credentials.json.damaged") == Array(text.utf8))
    }

    @Test("a file that cannot be read from the disk is not overwritten")
    func unreadable() throws {
        try folder.make()
        try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: true)
        #expect(throws: Errno.self) {
            try file.update { _ = $0.set(credential("a"), for: space, isFirst: false) }
        }
        #expect(folder.names == ["credentials.json", "credentials.json.lock"])
    }

    @Test(
        "what killed writers have left is removed by the first look, unless another process is writing",
        arguments: ["uncurl-test", "ü"]
    )
    func leftovers(name: String) throws {
        let folder = TemporaryFolder(name)
        let file = CredentialFile(path: folder.path + "/credentials.json")
        _ = try file.update { _ = $0.set(credential("a"), for: space, isFirst: false) }
        let leftover = "credentials.json.1-2.tmp"
        folder.write(Array("secret".utf8), to: leftover)
        let lock = open(file.path + ".lock", O_RDWR)
        #expect(lock >= 0 && flock(lock, LOCK_EX) == 0)
        var store = CredentialStore(file: file)
        #expect(store.credentials(for: space)?.count == 1)
        #expect(folder.names.contains(leftover))
        close(lock)
        store = CredentialStore(file: file)
        #expect(store.credentials(for: space)?.count == 1)
        #expect(folder.names == ["credentials.json", "credentials.json.lock"])
    }

    @Test("a process that is killed while it writes leaves a whole file, and nothing beside it that stays")
    func killed() async throws {
        try folder.make()
        for round in 1...5 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = file.path as String, round = round as Int] in
                let file = CredentialFile(path: path)
                let space = ProtectionSpaceValues(host: "h", port: 80, side: .server("http"), realm: "r", method: nil)
                for value in 1... {
                    if value == 2 {
                        Thread.detachNewThread {
                            let end = ContinuousClock.now + .microseconds(round * 1_000 + .random(in: 0..<2_000))
                            while ContinuousClock.now < end {}
                            kill(getpid(), SIGKILL)
                        }
                    }
                    let proof = Credential.Proof.password(user: "u", password: "secret-\(value)")
                    _ = try? file.update {
                        _ = $0.set(Credential(proof: proof, persistence: .permanent), for: space, isFirst: false)
                    }
                }
            }
            let store = CredentialStore(file: file)
            #expect(store.all().values.first?["u"]?.password?.hasPrefix("secret-") == true)
            #expect(folder.names == ["credentials.json", "credentials.json.lock"])
        }
    }

    private static let long = "e" + String(repeating: "\u{345}", count: 129)

    @Test("credentials that take long to compare are left out, and the others are read")
    func longRuns() throws {
        func row(_ change: (inout CredentialTable.Row) -> Void) -> CredentialTable.Row {
            var row = CredentialTable.Row(
                host: "h",
                port: 1,
                isProxy: false,
                side: "http",
                realm: "r",
                method: NSURLAuthenticationMethodHTTPBasic,
                user: "u",
                password: "p",
                isDefault: true
            )
            change(&row)
            return row
        }
        func decode(_ change: (inout CredentialTable.Row) -> Void) throws -> CredentialTable {
            let rows = try #require(StoreRecord.file(.credentials, of: [[row(change), row { _ in }]]))
            return try #require(StoreRecord.value(of: rows, .credentials))
        }
        let changes: [(inout CredentialTable.Row) -> Void] = [
            { $0.host = Self.long }, { $0.method = Self.long }, { $0.side = Self.long }, { $0.user = Self.long },
            { $0.password = Self.long },
        ]
        for (number, change) in changes.enumerated() {
            let table = try decode(change)
            #expect(table.spaces.count == 1 && table.defaults.count == 1, "\(number)")
        }
        // A server chooses its realm: it must not make other credentials unreadable.
        let table = try decode { $0.realm = Self.long }
        #expect(table.spaces.count == 2)
    }

    @Test("a credential whose words take long to compare is not stored")
    func longWords() throws {
        let written = try file.update { table in
            let isSet = table.set(credential(Self.long), for: space, isFirst: true)
            let isDefault = table.setDefault(credential(Self.long), for: space)
            #expect(!isSet && !isDefault)
        }
        #expect(written.table.isEmpty)
    }
}
