import FacadeTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Uncurl

@Suite("Downloads on their way to their place", .timeLimit(.minutes(5)))
struct DownloadMoveTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func move(
        _ file: URL,
        to place: URL,
        _ options: DownloadDestination.Options = [.removePreviousFile]
    ) throws(UncurlError) -> URL {
        var settings = ManagerCore.Settings()
        settings.notificationCenter = nil
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let task = session.downloadTask(with: URL(string: "http://example.com/")!)
        let delegate = DownloadTaskDelegate(ManagerCore(settings, resourceLimit: 60))
        switch delegate.move(file, of: task, to: place, options) {
        case .placed(let place), .left(let place): return place
        case .stranded(let error): throw error
        case .refused(let failure): throw .validation(failure)
        }
    }

    private func failure(_ file: URL, to place: URL, _ options: DownloadDestination.Options) -> FileFailure? {
        do throws(UncurlError) {
            _ = try move(file, to: place, options)
            return nil
        } catch {
            if case .file(let failure) = error { return failure }
            return nil
        }
    }

    private func content(_ url: URL) -> String? { try? String(contentsOf: url, encoding: .utf8) }

    /// A response of a program's own class. Its suggested name for the file is not checked.
    private final class NamedResponse: URLResponse, @unchecked Sendable {
        private let name: String

        init(_ name: String) {
            self.name = name
            let url = URL(string: "http://example.com/")!
            super.init(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        }

        required init?(coder: NSCoder) { nil }

        override var suggestedFilename: String? { name }
    }

    @Test(
        "the suggested name cannot lead out of a destination's folder",
        arguments: [
            ("a.txt", "a.txt"), ("../a.txt", "a.txt"), ("/etc/passwd", "passwd"), ("..", "download"),
            ("a/..", "download"), (".", "download"), ("/", "temporary"), ("", "temporary"),
        ]
    )
    func namedFile(suggested: String, name: String) {
        let file = URL(fileURLWithPath: "/elsewhere/temporary")
        let place = DownloadDestination.folder(folder).place(for: file, NamedResponse(suggested))
        #expect(place?.path == folder.path + "/" + name)
        try? FileManager.default.removeItem(at: folder)
    }

    @Test("a download that cannot be moved leaves the file at its place unchanged", .rows("A24"))
    func kept() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = folder.appendingPathComponent("place")
        try Data("old".utf8).write(to: place)
        let failure = self.failure(folder.appendingPathComponent("none"), to: place, [.removePreviousFile])
        #expect(failure?.destination == place)
        #expect(failure?.obstacle == nil)
        #expect(failure?.description.contains("No such file or directory") == true)
        let elsewhere = try #require(URL(string: "http://h/x"))
        #expect(self.failure(place, to: elsewhere, [])?.description.contains("at http://h/x:") == true)
        #expect(content(place) == "old")
    }

    @Test(
        "a regular file at the place is replaced if the options allow it, and an error otherwise",
        .rows("A24")
    )
    func replaced() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, place) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("place"))
        try Data("old".utf8).write(to: place)
        try Data("new".utf8).write(to: file)
        #expect(failure(file, to: place, [])?.obstacle == .file)
        #expect(content(place) == "old" && content(file) == "new")
        #expect(try move(file, to: place) == place)
        #expect(content(place) == "new" && content(file) == nil)
    }

    @Test(
        "an empty place takes the file with either option",
        arguments: [false, true]
    )
    func empty(replaces: Bool) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, place) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("place"))
        try Data("new".utf8).write(to: file)
        #expect(try move(file, to: place, replaces ? [.removePreviousFile] : []) == place)
        #expect(content(place) == "new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["place"])
    }

    /// Puts a thing of the kind at the path; false: this user may not make one.
    private func make(_ obstacle: FileFailure.Obstacle, at path: String) throws -> Bool {
        switch obstacle {
        case .file: return FileManager.default.createFile(atPath: path, contents: Data("old".utf8))
        case .folder:
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            return FileManager.default.createFile(atPath: path + "/inner", contents: Data("kept".utf8))
        case .symbolicLink:
            let target = folder.appendingPathComponent("target").path
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            return FileManager.default.createFile(atPath: target, contents: Data("kept".utf8))
        case .pipe: return mkfifo(path, 0o600) == 0
        case .socket: return mknod(path, S_IFSOCK | 0o600, 0) == 0
        // As /dev/null is made.
        case .device: return mknod(path, S_IFCHR | 0o600, 1 << 8 | 3) == 0
        }
    }

    @Test(
        "a folder, link, pipe, socket or device at the place stays there, and the error names its kind",
        arguments: [FileFailure.Obstacle.folder, .symbolicLink, .pipe, .socket, .device],
        [false, true]
    )
    func kept(obstacle: FileFailure.Obstacle, replaces: Bool) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, place) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("place"))
        try Data("new".utf8).write(to: file)
        guard try make(obstacle, at: place.path) else { return #expect(obstacle == .device, "\(obstacle)") }
        let kind = try FileManager.default.attributesOfItem(atPath: place.path)[.type] as? FileAttributeType
        let failure = try #require(self.failure(file, to: place, replaces ? [.removePreviousFile] : []))
        #expect(failure.obstacle == obstacle)
        #expect(failure.description.contains("\(obstacle)"))
        #expect(try FileManager.default.attributesOfItem(atPath: place.path)[.type] as? FileAttributeType == kind)
        #expect(failure.source == file && content(file) == "new")
        if obstacle == .folder { #expect(content(place.appendingPathComponent("inner")) == "kept") }
        if obstacle == .symbolicLink { #expect(content(place) == "kept") }
    }

    private static let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)

    private static var isOtherFileSystem: Bool {
        func number(_ url: URL) -> NSNumber? {
            (try? FileManager.default.attributesOfItem(atPath: url.path))?[.systemNumber] as? NSNumber
        }
        guard let other = number(memory), let own = number(FileManager.default.temporaryDirectory) else { return false }
        return other != own && FileManager.default.isWritableFile(atPath: memory.path)
    }

    @Test(
        "a download from another file system is moved in one step and leaves no copy",
        .rows("A24"),
        .enabled(if: isOtherFileSystem)
    )
    func otherFileSystem() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = Self.memory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let place = folder.appendingPathComponent("place")
        try Data("old".utf8).write(to: place)
        try Data("new".utf8).write(to: file)
        #expect(failure(file, to: place, [])?.obstacle == .file)
        #expect(try move(file, to: place) == place)
        #expect(content(place) == "new" && content(file) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["place"])
    }
}
