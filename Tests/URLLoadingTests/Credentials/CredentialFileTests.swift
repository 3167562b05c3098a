import Testing

@testable import URLLoading

@Suite("The file of credentials")
struct CredentialFileTests {
    private let folder = TemporaryFolder()
    private var file: CredentialFile { CredentialFile(path: folder.path + "/credentials.json") }
    private let space = ProtectionSpace(host: "h", port: 80, side: .server("http"), realm: "r", method: nil)
    private let proxy = ProtectionSpace(host: "p", port: 1, side: .proxy(nil), realm: nil, method: "m")

    private func credential(_ user: String, _ persistence: URLCredential.Persistence = .permanent) -> Credential {
        Credential(proof: .password(user: user, password: "päss\u{1}"), persistence: persistence)
    }

    @Test("permanent credentials come back, with their spaces and which is the default")
    func roundTrip() throws {
        let written = try file.update { table in
            _ = table.set(credential("a"), for: space)
            _ = table.setDefault(credential("b"), for: space)
            _ = table.set(credential("c"), for: proxy)
        }
        #expect(file.read() == written && written.spaces.count == 2)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("a lock that somebody holds for ever is not waited for for ever")
    func locked() throws {
        try folder.make()
        let lock = open(file.path + ".lock", O_RDWR | O_CREAT, 0o600)
        defer { close(lock) }
        #expect(lock >= 0 && flock(lock, LOCK_EX) == 0)
        #expect(throws: StoreFile.Fault(code: EBUSY)) { try file.update { _ = $0.set(credential("a"), for: space) } }
    }

    @Test("a change is made to what the file holds by then")
    func merging() throws {
        _ = try file.update { _ = $0.set(credential("a"), for: space) }
        let both = try file.update { _ = $0.set(credential("b"), for: space) }
        #expect(both.credentials(for: space)?.count == 2)
    }

    @Test(
        "what cannot be read holds nothing, and is written over by the next change",
        arguments: ["", "{", "[]", "{\"version\":2,\"credentials\":[]}"]
    )
    func damaged(text: String) throws {
        try folder.make()
        folder.write(Array(text.utf8), to: "credentials.json")
        #expect(file.read().isEmpty)
        _ = try file.update { _ = $0.set(credential("a"), for: space) }
        #expect(file.read().credentials(for: space)?.count == 1)
    }
}
