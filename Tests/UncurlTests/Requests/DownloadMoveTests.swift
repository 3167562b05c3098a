import Foundation
import Testing

@testable import Uncurl

@Suite("Downloads on their way to their place", .timeLimit(.minutes(1)))
struct DownloadMoveTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func move(_ file: URL, to place: URL) -> Result<URL, UncurlError> {
        var settings = ManagerCore.Settings()
        settings.notificationCenter = nil
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let task = session.downloadTask(with: URL(string: "http://example.com/")!)
        return DownloadMove(core: ManagerCore(settings), task: task).move(file, to: place, [.removePreviousFile])
    }

    private func content(_ url: URL) -> String? { try? String(contentsOf: url, encoding: .utf8) }

    @Test("A24: what lies at the place stays if the download cannot take it")
    func kept() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = folder.appendingPathComponent("place")
        try Data("old".utf8).write(to: place)
        guard case .failure(.file(let failure)) = move(folder.appendingPathComponent("none"), to: place) else {
            Issue.record("moved")
            return
        }
        #expect(failure.destination == place)
        #expect(content(place) == "old")
    }

    @Test("A24: a file or a folder at the place is replaced")
    func replaced() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for isFolder in [false, true] {
            let (file, place) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("place"))
            try? FileManager.default.removeItem(at: place)
            try Data("new".utf8).write(to: file)
            if isFolder {
                let inner = place.appendingPathComponent("inner")
                try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
            } else {
                try Data("old".utf8).write(to: place)
            }
            #expect(try move(file, to: place).get() == place)
            #expect(content(place) == "new" && content(file) == nil)
        }
    }

    private static let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)

    private static var isOtherFileSystem: Bool {
        func number(_ url: URL) -> NSNumber? {
            (try? FileManager.default.attributesOfItem(atPath: url.path))?[.systemNumber] as? NSNumber
        }
        guard let other = number(memory), let own = number(FileManager.default.temporaryDirectory) else { return false }
        return other != own && FileManager.default.isWritableFile(atPath: memory.path)
    }

    @Test("A24: from another file system too, with nothing left over", .enabled(if: isOtherFileSystem))
    func otherFileSystem() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = Self.memory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let place = folder.appendingPathComponent("place")
        try Data("old".utf8).write(to: place)
        try Data("new".utf8).write(to: file)
        #expect(try move(file, to: place).get() == place)
        #expect(content(place) == "new" && content(file) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["place"])
    }
}
