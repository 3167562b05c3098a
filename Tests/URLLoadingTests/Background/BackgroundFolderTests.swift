import Foundation
import TestSupport
import Testing
import UncurlReactor

@testable import URLLoading

@Suite("Background folders")
struct BackgroundFolderTests {
    private let base = TemporaryFolder()

    private func record(_ number: Int) throws -> BackgroundRecord {
        BackgroundRecord(
            number: number,
            request: URLRequest(url: try url("http://h.test/")),
            priority: 0.5,
            expectsToSend: -1,
            expectsToReceive: -1
        )
    }

    @Test("any identifier names one folder, and different identifiers name different folders")
    func names() {
        let long = String(repeating: "x", count: 5000)
        let identifiers = ["a", "A", "../../etc", "a/b", "a_2fb", "", ".", long, long + "y", "Grüße"]
        let names = identifiers.map(BackgroundFolder.name)
        #expect(Set(names).count == identifiers.count)
        for name in names { #expect(!name.contains("/") && !name.hasPrefix(".") && name.utf8.count < 255) }
    }

    @Test("one session holds a folder at a time, and the next one when it is released")
    func exclusive() throws {
        var first: BackgroundFolder? = try BackgroundFolder(for: "one", in: base.path)
        #expect(throws: Errno.self) { try BackgroundFolder(for: "one", in: base.path) }
        _ = try BackgroundFolder(for: "two", in: base.path)
        #expect(first != nil)
        first = nil
        _ = try BackgroundFolder(for: "one", in: base.path)
    }

    @Test("a released folder is free, even while a child process that was just forked has the folder's descriptor")
    func inherited() throws {
        let first = try BackgroundFolder(for: "one", in: base.path)
        let descriptor = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target?.hasSuffix("\(first.path)/lock") ?? false
        }
        // A duplicate shares the lock, as the descriptor of a child does.
        let copy = dup(try #require(descriptor.flatMap { Int32($0) }))
        defer { close(copy) }
        first.unlock()
        _ = try BackgroundFolder(for: "one", in: base.path)
    }

    @Test("a number beyond the range of tasks belongs to no record", arguments: [0, -1, Int.max, Int.min])
    func foreignNumbers(number: Int) throws {
        let folder = try BackgroundFolder(for: "one", in: base.path)
        try folder.write([record(number)], isDurable: true)
        try folder.write([record(3)], isDurable: true)
        #expect(try folder.contents().records.map(\.number) == [3])
    }

    @Test("records are restored in order; other files are removed, except resumable downloads of this week")
    func records() throws {
        let folder = try BackgroundFolder(for: "one", in: base.path)
        var second = try record(10)
        let part = folder.freshPart(of: 10)
        second.part = BackgroundRecord.Part(path: part, validator: "\"a\"", expected: 5, boot: BackgroundFolder.boot)
        try folder.write([second], isDurable: true)
        try folder.write([record(9)], isDurable: true)
        #expect(FileManager.default.createFile(atPath: part, contents: Data("ab".utf8)))
        let orphan = folder.freshPart(of: 11)
        #expect(FileManager.default.createFile(atPath: orphan, contents: Data()))
        let kept = try #require(folder.keep(orphan))
        for name in ["11-x.part", "07.task", "stray"] {
            #expect(FileManager.default.createFile(atPath: "\(folder.path)/\(name)", contents: Data("junk".utf8)))
        }
        #expect(try folder.contents().records.map(\.number) == [9, 10])
        let names = Set(try StoreFile.names(in: folder.path).map { "\(folder.path)/\($0)" })
        #expect(names == Set(["lock", "9.task", "10.task"].map { "\(folder.path)/\($0)" } + [part, kept]))
        folder.remove(9)
        #expect(try folder.contents().records.map(\.number) == [10])
    }

    @Test("the kernel has an identifier for this boot")
    func boot() { #expect(BackgroundFolder.boot.count == 36) }

    @Test("records that cannot be read for want of a descriptor refuse the session, and are restored once there is one")
    func withoutDescriptors() async throws {
        try BackgroundFolder(for: "one", in: base.path).write([record(3)], isDurable: true)
        await #expect(processExitsWith: .success) { [path = base.path as String] in
            guard let folder = try? BackgroundFolder(for: "one", in: path), let all = Descriptors.taken() else {
                _exit(2)
            }
            do throws(Errno) {
                _ = try folder.contents()
                _exit(3)
            } catch {
                guard error == Errno(code: EMFILE) else { _exit(4) }
            }
            for descriptor in all { close(descriptor) }
            _exit((try? folder.contents())?.records.map(\.number) == [3] ? EXIT_SUCCESS : 5)
        }
    }

    @Test("a record or a ledger that the disk cannot read refuses the session, and no file is removed")
    func unreadable() throws {
        let folder = try BackgroundFolder(for: "one", in: base.path)
        var record = try record(3)
        let part = folder.freshPart(of: 3)
        record.part = BackgroundRecord.Part(path: part, validator: "\"a\"", expected: 5, boot: BackgroundFolder.boot)
        try folder.write([record], isDurable: true)
        #expect(FileManager.default.createFile(atPath: part, contents: Data("ab".utf8)))
        // A link to itself gives a test an error of the disk, ELOOP.
        for path in [folder.path + "/4.task", SumLedger.path(beside: part)] {
            #expect(symlink(path, path) == 0)
            #expect(throws: Errno.self) { try folder.contents() }
            #expect(FileManager.default.fileExists(atPath: part))
            StoreFile.remove(path)
        }
        #expect(try folder.contents().records.map(\.number) == [3])
    }

    @Test("an unreadable record is reported, and kept aside for a week with the content that may belong to it")
    func damaged() throws {
        let folder = try BackgroundFolder(for: "one", in: base.path)
        try folder.write([record(3)], isDurable: true)
        try folder.write([record(4)], isDurable: true)
        let own = [folder.freshPart(of: 3), folder.freshPart(of: 3)]
        let orphan = folder.freshPart(of: 33)
        for path in own + [orphan] { #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8))) }
        #expect(FileManager.default.createFile(atPath: folder.path + "/3.task", contents: Data("junk".utf8)))
        for _ in 0..<2 {
            let found = try folder.contents()
            #expect(found.records.map(\.number) == [4] && found.damaged == [3])
        }
        folder.setAside(3)
        #expect(try folder.contents().damaged.isEmpty)
        let names = Set(try StoreFile.names(in: folder.path).map { "\(folder.path)/\($0)" })
        let aside = [folder.asidePath(of: 3)] + own.map { $0 + ".kept" }
        #expect(names == Set(aside + ["/lock", "/4.task"].map { folder.path + $0 }))
        for path in aside {
            var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
            #expect(utimes(path, &times) == 0)
        }
        _ = try folder.contents()
        #expect(try Set(StoreFile.names(in: folder.path)) == ["lock", "4.task"])
    }

    @Test(
        "a task keeps its record whatever its beginning: a task that never begins does not begin in the next process",
        arguments: [Double.infinity, -.infinity, .nan, 1e300]
    )
    func beginnings(seconds: Double) throws {
        let folder = try BackgroundFolder(for: "one", in: base.path)
        var record = try record(3)
        record.beginDate = Date(timeIntervalSinceReferenceDate: seconds)
        try folder.write([record], isDurable: true)
        let read = try #require(try folder.contents().records.first)
        let expected = seconds.isFinite ? record.beginDate : seconds == .infinity ? .distantFuture : nil
        #expect(read.beginDate == expected)
    }

    /// Leaves the folder as a crash of the machine may: files that no call has waited for are empty.
    private func crash(_ path: String, losing names: [String], cutting end: Int = 0) throws {
        for name in names { #expect(truncate("\(path)/\(name)", 0) == 0) }
        var log = try StoreFile.read(path + "/lock", limit: .max)
        // Behind the length of the field.
        log.replaceSubrange(8..<44, with: Array(UUID().uuidString.utf8))
        try Data(log.dropLast(end)).write(to: URL(fileURLWithPath: path + "/lock"))
    }

    @Test("after a crash of the machine, records that a call has waited for are there, and removed ones are not")
    func crashed() throws {
        let path = try {
            let folder = try BackgroundFolder(for: "one", in: base.path)
            _ = try folder.contents()
            var changed = try record(3)
            try folder.write([changed, record(4), record(5)], isDurable: true)
            changed.taskDescription = "changed"
            try folder.write([changed], isDurable: true)
            folder.remove(5)
            // The delegate has received the end of this download: its file is gone, and the crash has lost its removal.
            var told = try record(6)
            told.state = .finished
            told.outcome = BackgroundRecord.Outcome(path: folder.freshPart(of: 6))
            try folder.write([told], isDurable: true)
            return folder.path
        }()
        try crash(path, losing: ["3.task", "4.task"])
        #expect(FileManager.default.createFile(atPath: path + "/5.task", contents: Data()))
        for _ in 0..<2 {
            let found = try BackgroundFolder(for: "one", in: base.path).contents()
            #expect(found.records.map(\.number) == [3, 4] && found.damaged.isEmpty)
            #expect(found.records.first?.taskDescription == "changed")
        }
    }

    @Test("a log whose end a crash has cut off is read as far as it goes", arguments: [1, 20, 100])
    func cutLog(octets: Int) throws {
        let path = try {
            let folder = try BackgroundFolder(for: "one", in: base.path)
            _ = try folder.contents()
            try folder.write([record(3)], isDurable: true)
            try folder.write([record(4)], isDurable: true)
            return folder.path
        }()
        try crash(path, losing: ["3.task", "4.task"], cutting: octets)
        let found = try BackgroundFolder(for: "one", in: base.path).contents()
        #expect(found.records.map(\.number) == [3] && found.damaged == [4])
    }

    @Test("a long log begins anew once the disk has all records")
    func longLog() throws {
        let folder = try BackgroundFolder(for: "one", in: base.path)
        _ = try folder.contents()
        var long = try record(3)
        for _ in 0..<6 {
            long.request.httpBody = Data(count: 1 << 20)
            try folder.write([long], isDurable: true)
        }
        #expect(try StoreFile.read(folder.path + "/lock", limit: .max).count < 3 << 20)
        try crash(folder.path, losing: [])
        folder.unlock()
        #expect(try BackgroundFolder(for: "one", in: base.path).contents().records.map(\.number) == [3])
    }
}
