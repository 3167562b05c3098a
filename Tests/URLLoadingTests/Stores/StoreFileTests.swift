import Testing
import UncurlReactor

@testable import URLLoading

@Suite("Files of the stores")
struct StoreFileTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/file" }

    @Test("a file is replaced whole, for its owner alone, and nothing is left beside it")
    func replacing() throws {
        try folder.make()
        try StoreFile.replace(path, with: [1, 2, 3], isDurable: true)
        let former = try #require(FileHandle(forReadingAtPath: path))
        try StoreFile.replace(path, with: [4], isDurable: false)
        // A reader of the former file has it whole.
        #expect(try former.readToEnd() == Data([1, 2, 3]))
        #expect(try StoreFile.read(path, limit: 10) == [4])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(folder.names == ["file"])
    }

    @Test("a file that is too large, missing, or no regular file is an error")
    func refusals() throws {
        try folder.make()
        try StoreFile.replace(path, with: [1, 2, 3], isDurable: false)
        #expect(throws: Errno(code: EFBIG)) { try StoreFile.read(path, limit: 2) }
        #expect(throws: Errno(code: ENOENT)) { try StoreFile.read(path + "x", limit: 2) }
        #expect(throws: Errno(code: EINVAL)) { try StoreFile.read(folder.path, limit: 1 << 20) }
        #expect(throws: Errno(code: ENOENT)) {
            try StoreFile.replace(folder.path + "/no/file", with: [], isDurable: false)
        }
    }

    @Test("a pipe in a file's place is an error, and its writer is not waited for")
    func pipe() throws {
        try folder.make()
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: Errno(code: EINVAL)) { try StoreFile.read(path, limit: 10) }
        #expect(throws: Errno(code: EINVAL)) { try StoreFile.read(path, first: 10) }
    }

    @Test("the first octets of a file are as many as there are")
    func start() throws {
        try folder.make()
        try StoreFile.replace(path, with: [1, 2, 3], isDurable: false)
        #expect(try StoreFile.read(path, first: 2) == [1, 2])
        #expect(try StoreFile.read(path, first: 9) == [1, 2, 3])
    }

    @Test("directories are made with those above them, readable by their owner alone")
    func directories() throws {
        try StoreFile.makeDirectory(folder.path + "/a/b")
        try StoreFile.makeDirectory(folder.path + "/a/b")
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/a")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        #expect(
            StoreFile.parent(of: "/a/b") == "/a" && StoreFile.parent(of: "/a") == "/"
                && StoreFile.parent(of: "a") == "."
        )
    }

    @Test("two callers that lock the same path wait for each other")
    func locks() async throws {
        try folder.make()
        let lock = folder.path + "/lock"
        let file = path
        try StoreFile.replace(file, with: [0], isDurable: false)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10 {
                        try? StoreFile.locked(lock) { () throws(Errno) in
                            let number = try StoreFile.read(file, limit: 10)[0]
                            try StoreFile.replace(file, with: [number + 1], isDurable: false)
                        }
                    }
                }
            }
        }
        #expect(try StoreFile.read(file, limit: 10) == [40])
    }
}
