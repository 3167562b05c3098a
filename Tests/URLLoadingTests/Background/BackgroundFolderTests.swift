import Foundation
import Testing

@testable import URLLoading

@Suite("Background folders")
struct BackgroundFolderTests {
    private let base = TemporaryFolder()

    private func record(_ number: Int) -> BackgroundRecord {
        BackgroundRecord(
            number: number,
            kind: .download,
            request: Data("request".utf8),
            priority: 0.5,
            expectsToSend: -1,
            expectsToReceive: -1
        )
    }

    @Test("an identifier is one folder, whatever it says, and different ones are different folders")
    func names() {
        let long = String(repeating: "x", count: 5000)
        let identifiers = ["a", "A", "../../etc", "a/b", "a_2fb", "", ".", long, long + "y", "Grüße"]
        let names = identifiers.map(BackgroundFolder.name)
        #expect(Set(names).count == identifiers.count)
        for name in names { #expect(!name.contains("/") && !name.hasPrefix(".") && name.utf8.count < 255) }
    }

    @Test("one has it at a time, and the next when it is let go of")
    func exclusive() throws {
        var first: BackgroundFolder? = try BackgroundFolder(for: "one", in: base.path)
        #expect(throws: BackgroundFolder.Refusal.self) { try BackgroundFolder(for: "one", in: base.path) }
        _ = try BackgroundFolder(for: "two", in: base.path)
        #expect(first != nil)
        first = nil
        _ = try BackgroundFolder(for: "one", in: base.path)
    }

    @Test("a number that nobody has counted to is no record's", arguments: [0, -1, Int.max, Int.min])
    func foreignNumbers(number: Int) throws {
        let folder = try BackgroundFolder(for: "one", in: base.path)
        try folder.write(record(number))
        try folder.write(record(3))
        #expect(folder.records().map(\.number) == [3])
    }

    @Test("records come back in their order; what is none goes, but for what downloads have left in this week")
    func records() throws {
        let folder = try BackgroundFolder(for: "one", in: base.path)
        var second = record(10)
        let part = folder.freshPart(of: 10)
        second.part = BackgroundRecord.Part(path: part, validator: "\"a\"", expected: 5, boot: BackgroundFolder.boot)
        try folder.write(second)
        try folder.write(record(9))
        #expect(FileManager.default.createFile(atPath: part, contents: Data("ab".utf8)))
        let orphan = folder.freshPart(of: 11)
        #expect(FileManager.default.createFile(atPath: orphan, contents: Data()))
        let kept = try #require(folder.keep(orphan))
        for name in ["11-x.part", "7.task", "stray"] {
            #expect(FileManager.default.createFile(atPath: "\(folder.path)/\(name)", contents: Data("junk".utf8)))
        }
        #expect(folder.records().map(\.number) == [9, 10])
        let names = Set(StoreFile.names(in: folder.path).map { "\(folder.path)/\($0)" })
        #expect(names == Set(["lock", "9.task", "10.task"].map { "\(folder.path)/\($0)" } + [part, kept]))
        folder.remove(9)
        #expect(folder.records().map(\.number) == [10])
    }

    @Test("the kernel has a number for this run of the machine")
    func boot() { #expect(BackgroundFolder.boot.count == 36) }
}
