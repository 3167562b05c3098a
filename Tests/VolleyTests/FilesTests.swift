import Foundation
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

struct FilesTests {
    private func temporary() -> String { NSTemporaryDirectory() + "/volley-\(UUID().uuidString)" }

    @Test("a file is read completely, empty or large")
    func reads() throws {
        for size in [0, 1, 65_536, 200_001] {
            let path = temporary()
            defer { unlink(path) }
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
            #expect(try readFile(path, for: "--body-file") == bytes)
        }
    }

    @Test("a file beyond the limit is refused before it fills the memory")
    func limit() {
        #expect(throws: UsageError("--body-file \"/dev/zero\" is larger than 1 MiB: use a smaller file")) {
            try readFile("/dev/zero", for: "--body-file", limit: 1 << 20)
        }
    }

    @Test("a report's file keeps its old contents until the new ones are there to replace them")
    func replaces() throws {
        let path = temporary()
        defer { unlink(path) }
        #expect(FileManager.default.createFile(atPath: path, contents: Data("a long old text".utf8)))
        let descriptor = try openForWriting(path, for: "--format")
        defer { close(descriptor) }
        #expect(try readFile(path, for: "").count == 15)
        try replaceContents(of: descriptor, with: "new")
        #expect(try readFile(path, for: "") == Array("new".utf8))
        try replaceContents(of: descriptor, with: "again")
        #expect(try readFile(path, for: "") == Array("again".utf8))
    }

    @Test("a file that cannot be written is refused with the reason")
    func unwritable() {
        #expect(
            throws: UsageError(
                "--format \"/nowhere/x\" cannot be written: No such file or directory (ENOENT): name a writable file"
            )
        ) { try openForWriting("/nowhere/x", for: "--format") }
    }

    @Test("numbers of a proc file are read, and a missing file has none")
    func ofProc() throws {
        #expect(numbers(inFile: "/nowhere") == [])
        let path = temporary()
        defer { unlink(path) }
        #expect(FileManager.default.createFile(atPath: path, contents: Data("32768\t60999\n".utf8)))
        #expect(numbers(inFile: path) == [32_768, 60_999])
    }
}
