import Foundation
import Synchronization
import TestSupport
import Testing

@testable import URLLoading

@Suite("URLCredentialStorage")
struct URLCredentialStorageTests {
    private let folder = TemporaryFolder()
    private var shared: URLCredentialStorage {
        URLCredentialStorage(file: CredentialFile(path: folder.path + "/credentials.json"))
    }
    private let space = URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)

    private func credential(_ user: String, _ persistence: URLCredential.Persistence = .forSession) -> URLCredential {
        URLCredential(user: user, password: "p", persistence: persistence)
    }

    @Test("credentials are found by space and user, and gone when removed")
    func storing() {
        let storage = URLCredentialStorage()
        #expect(storage.credentials(for: space) == nil && storage.allCredentials.isEmpty)
        storage.set(credential("a"), for: space)
        storage.setDefaultCredential(credential("b"), for: space)
        #expect(storage.credentials(for: space) == ["a": credential("a"), "b": credential("b")])
        #expect(storage.allCredentials == [space: ["a": credential("a"), "b": credential("b")]])
        #expect(storage.defaultCredential(for: space) == credential("b"))
        storage.remove(credential("b"), for: space)
        storage.remove(
            credential("a"),
            for: space,
            options: [NSURLCredentialStorageRemoveSynchronizableCredentials: NSNumber(true)]
        )
        #expect(storage.credentials(for: space) == nil && storage.defaultCredential(for: space) == nil)
    }

    @Test("the first credential of a space is its default, of either kind; with the default removed there is none")
    func defaults() {
        let storage = shared
        storage.set(credential("first", .permanent), for: space)
        storage.set(credential("second"), for: space)
        #expect(storage.defaultCredential(for: space) == credential("first", .permanent))
        storage.remove(credential("first", .permanent), for: space)
        #expect(storage.defaultCredential(for: space) == nil)
    }

    @Test("credentials that cannot be read for want of a descriptor are found again once there is one")
    func withoutDescriptors() async throws {
        shared.set(credential("kept", .permanent), for: space)
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let file = CredentialFile(path: path + "/credentials.json")
            let storages = (0..<2).map { _ in URLCredentialStorage(file: file) }
            guard storages[0].allCredentials.count == 1, let all = Descriptors.taken() else { _exit(2) }
            // What was read is still known.
            guard storages[0].allCredentials.count == 1, storages[1].allCredentials.isEmpty else { _exit(3) }
            for descriptor in all { close(descriptor) }
            _exit(storages.allSatisfy { $0.allCredentials.count == 1 } ? EXIT_SUCCESS : 4)
        }
    }

    @Test("permanent credentials are at once in another storage on the same file; others are not")
    func permanence() {
        let first = shared
        let second = shared
        first.set(credential("session"), for: space)
        first.setDefaultCredential(credential("kept", .permanent), for: space)
        #expect(second.credentials(for: space) == ["kept": credential("kept", .permanent)])
        #expect(first.credentials(for: space)?.count == 2)
        #expect(second.defaultCredential(for: space) == credential("kept", .permanent))
        second.remove(credential("kept", .permanent), for: space)
        #expect(first.credentials(for: space) == ["session": credential("session")])
    }

    @Test("a storage without a file writes none")
    func privateStorage() {
        let storage = URLCredentialStorage()
        storage.set(credential("a", .permanent), for: space)
        #expect(storage.credentials(for: space)?.count == 1)
        #expect(shared.credentials(for: space) == nil)
    }

    @Test("if the disk refuses a change, this process keeps it")
    func noDisk() {
        let storage = URLCredentialStorage(file: CredentialFile(path: "/proc/no/such/file"))
        storage.set(credential("a", .permanent), for: space)
        #expect(storage.defaultCredential(for: space) == credential("a", .permanent))
        storage.remove(credential("a", .permanent), for: space)
        #expect(storage.defaultCredential(for: space) == nil)
    }

    @Test("a change is announced by the storage it was made to; a call that changes nothing is not announced")
    func notification() {
        let storage = URLCredentialStorage()
        let count = Mutex(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSURLCredentialStorageChanged,
            object: storage,
            queue: nil
        ) { note in
            // Nobody holds a lock here: asking back must be possible.
            _ = (note.object as? URLCredentialStorage)?.allCredentials
            count.withLock { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        storage.set(credential("a"), for: space)
        storage.set(credential("a"), for: space)
        storage.set(credential("b", .none), for: space)
        storage.setDefaultCredential(credential("a"), for: space)
        storage.remove(credential("z"), for: space)
        storage.remove(credential("a"), for: space)
        #expect(count.withLock { $0 } == 2)
    }

    @Test("a permanent credential takes the place of the one that the same user has for the session")
    func permanentAfterSession() {
        let storage = shared
        let (old, new) = (credential("u"), URLCredential(user: "u", password: "new", persistence: .permanent))
        storage.set(old, for: space)
        storage.set(new, for: space)
        #expect(storage.credentials(for: space) == ["u": new] && storage.allCredentials == [space: ["u": new]])
        #expect(storage.defaultCredential(for: space) == new)
        storage.set(old, for: space)
        #expect(storage.defaultCredential(for: space) == old)
        storage.set(new, for: space)
        #expect(storage.credentials(for: space) == ["u": new] && storage.defaultCredential(for: space) == new)
        storage.remove(new, for: space)
        #expect(storage.credentials(for: space) == nil && storage.defaultCredential(for: space) == nil)
    }

    @Test("a permanent default takes the place of the session's default")
    func permanentDefault() {
        let storage = shared
        storage.set(credential("a"), for: space)
        storage.setDefaultCredential(credential("b", .permanent), for: space)
        #expect(storage.defaultCredential(for: space) == credential("b", .permanent))
        #expect(storage.credentials(for: space)?.count == 2)
    }

    @Test("the first permanent credential is the next process's default, also after the session has known its user")
    func permanentAfterLogin() {
        let storage = shared
        storage.set(credential("alice"), for: space)
        storage.set(credential("alice", .permanent), for: space)
        storage.set(credential("bob", .permanent), for: space)
        #expect(shared.defaultCredential(for: space) == credential("alice", .permanent))
    }

    @Test(
        "a credential that would make the file too long to be read stays in this process, and the file keeps the others"
    )
    func tooLong() {
        let storage = shared
        let long = URLCredential(
            user: "long",
            password: String(repeating: "x", count: 5 << 20),
            persistence: .permanent
        )
        storage.set(credential("a", .permanent), for: space)
        storage.set(long, for: space)
        storage.set(credential("b", .permanent), for: space)
        #expect(storage.credentials(for: space)?.count == 3)
        #expect(
            shared.credentials(for: space) == ["a": credential("a", .permanent), "b": credential("b", .permanent)]
        )
        #expect(folder.names == ["credentials.json", "credentials.json.lock"])
    }

    @Test("a reader does not wait for a thread of its process that waits for the file's lock")
    func readingDuringChange() async throws {
        try folder.make()
        let path = folder.path + "/credentials.json.lock"
        let lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        /// Whether the writer has the lock file open, besides this test.
        func isWaiting() throws -> Bool {
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let targets = names.map {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
            return targets.count { $0 == path } == 2
        }
        let (storage, space) = (shared, space)
        storage.set(credential("session"), for: space)
        // The writer gives up after a second, which may be over before a busy machine has run the reader.
        for _ in 0..<10 {
            let ended = Word<Bool>()
            let permanent = credential("permanent", .permanent)
            Thread.detachNewThread {
                storage.set(permanent, for: space)
                ended.give(true)
            }
            try await until { try isWaiting() || ended.value != nil }
            let found = storage.defaultCredential(for: space)
            let isInTime = try isWaiting()
            _ = await ended.wait("the end of the change")
            if isInTime { return #expect(found == credential("session")) }
        }
        Issue.record("each reader has waited for the writer")
    }
}
