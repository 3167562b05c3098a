import FacadeTestSupport
import Foundation
import Glibc
import TestSupport
import Testing
import UncurlTestServer

@testable import Uncurl

@Suite("Placed files", .ownThread, .timeLimit(.minutes(5)))
struct PlacedFileTests {
    @Test(
        "a downloaded file at its place has the permissions that the umask leaves, however it came",
        arguments: [0o022, 0o027, 0o077, 0o002] as [UInt32]
    )
    func permissions(mask: UInt32) async throws {
        let server = try TestServer.start()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Another file system, where the file is copied.
        let elsewhere = URL(fileURLWithPath: "/dev/shm/uncurl-\(UUID().uuidString)")
        defer { for place in [folder, elsewhere] { try? FileManager.default.removeItem(at: place) } }
        let address = server.url("/")
        // The umask is the process's, so it is a child's.
        await #expect(processExitsWith: .success) {
            [
                mask = mask as UInt32, address = address as String, folder = folder.path as String,
                elsewhere = elsewhere.path as String
            ] in
            umask(mask)
            let manager = HTTPSessionManager(baseURL: URL(string: address), configuration: .isolated)
            let request = HTTPRequest("range/600000")
            let places = ["plain", "parts", "old", "hook"].map { URL(fileURLWithPath: folder + "/" + $0) }
            guard FileManager.default.createFile(atPath: places[2].path, contents: Data()) else { _exit(2) }
            chmod(places[2].path, 0o600)
            var failures = [
                await manager.downloadResponse(request, to: .file(places[0])).error,
                await manager.downloadResponse(request, to: .file(places[1]), segments: 2).error,
                await manager.downloadResponse(request, to: .file(places[2])).error,
                await manager.downloadResponse(request, to: .file(URL(fileURLWithPath: elsewhere))).error,
            ]
            manager.hooks.didFinishDownloading = { _, _, _ in places[3] }
            failures.append(await manager.downloadResponse(request).error)
            _exit(failures.contains { $0 != nil } ? EXIT_FAILURE : EXIT_SUCCESS)
        }
        for place in ["plain", "parts", "old", "hook"].map({ folder.path + "/" + $0 }) + [elsewhere.path] {
            var facts = stat()
            #expect(stat(place, &facts) == 0 && facts.st_mode & 0o777 == 0o666 & ~mask, "\(place)")
        }
    }

    @Test("a file that cannot get its permissions, because no descriptor is free, stays where it was")
    func withoutDescriptors() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, place) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("place"))
        try Data("new".utf8).write(to: file)
        #expect(chmod(file.path, 0o600) == 0)
        // The limit is the process's, so it is a child's.
        await #expect(processExitsWith: .success) { [file = file.path as String, place = place.path as String] in
            let (file, place) = (URL(fileURLWithPath: file), URL(fileURLWithPath: place))
            umask(0o022)
            guard let all = Descriptors.taken() else { _exit(2) }
            for replacesFile in [true, false] {
                do {
                    try FilePlacement(file: file, place: place, replacesFile: replacesFile).run()
                    _exit(3)
                } catch {
                    let cause = (error as? CocoaError)?.underlying as? POSIXError
                    guard cause?.code == .EMFILE, access(file.path, F_OK) == 0, access(place.path, F_OK) != 0 else {
                        _exit(4)
                    }
                }
            }
            // One is enough.
            close(all[0])
            do { try FilePlacement(file: file, place: place, replacesFile: false).run() } catch { _exit(5) }
            _exit(EXIT_SUCCESS)
        }
        #expect(Self.mode(place) == 0o644)
    }

    @Test(
        "a file is renamed where it can have no second name, and after no other failure",
        arguments: [
            (EPERM, true), (EOPNOTSUPP, true), (EMLINK, true), (ENOSYS, true), (EEXIST, false), (EXDEV, false),
            (EACCES, false), (ENOENT, false), (ENOSPC, false), (EROFS, false), (EIO, false),
        ]
    )
    func linkFailures(code: CInt, isRenamed: Bool) {
        #expect(FilePlacement.hasNoLink(code) == isRenamed)
    }

    private static func mode(_ url: URL) -> mode_t? {
        var facts = stat()
        return lstat(url.path, &facts) == 0 ? facts.st_mode & 0o777 : nil
    }

    @Test("a file that cannot be placed stays readable for its user alone, and a copy of it does not stay")
    func failing() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        let elsewhere = URL(fileURLWithPath: "/dev/shm/uncurl-\(UUID().uuidString)")
        for folder in [folder, elsewhere] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        defer { for folder in [folder, elsewhere] { try? FileManager.default.removeItem(at: folder) } }
        let file = folder.appendingPathComponent("file")
        try Data("new".utf8).write(to: file)
        #expect(chmod(file.path, 0o600) == 0)
        for place in [folder.appendingPathComponent("none/place"), elsewhere.appendingPathComponent("none/place")] {
            #expect(throws: CocoaError.self) {
                try FilePlacement(file: file, place: place, replacesFile: true).run()
            }
            #expect(Self.mode(file) == 0o600)
        }
        // The copy cannot be made where a folder is.
        let place = elsewhere.appendingPathComponent("place")
        let obstacle = elsewhere.appendingPathComponent(".file.part")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
        #expect(throws: CocoaError.self) { try FilePlacement(file: file, place: place, replacesFile: false).run() }
        #expect(Self.mode(file) == 0o600 && Self.mode(place) == nil)
        try FileManager.default.removeItem(at: obstacle)
        // A folder cannot be read as a file.
        let other = folder.appendingPathComponent("folder")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        #expect(throws: CocoaError.self) { try FilePlacement(file: other, place: place, replacesFile: false).run() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
    }

    @Test("a copy that a killed process has left on another file system is replaced by the next attempt's")
    func leftover() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        let elsewhere = URL(fileURLWithPath: "/dev/shm/uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: elsewhere) }
        let place = elsewhere.appendingPathComponent("place")
        let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try content.write(to: file)
        let left = elsewhere.appendingPathComponent(".\(file.lastPathComponent).part")
        try Data("half".utf8).write(to: left)
        try FilePlacement(file: file, place: place, replacesFile: false, staysPrivate: true).run()
        #expect(try Data(contentsOf: place) == content && Self.mode(place) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == ["place"])
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("a file that a killed process has left under both names is placed, and its old name is removed")
    func linked() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        let (parts, places) = (folder.appendingPathComponent("parts"), folder.appendingPathComponent("places"))
        for part in [parts, places] {
            try FileManager.default.createDirectory(at: part, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, place) = (parts.appendingPathComponent("one"), places.appendingPathComponent("one"))
        for replacesFile in [false, true] {
            try Data("whole".utf8).write(to: place)
            try FileManager.default.linkItem(at: place, to: file)
            try FilePlacement(file: file, place: place, replacesFile: replacesFile).run()
            #expect(try Data(contentsOf: place) == Data("whole".utf8))
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        // Another name of the same folder is no second place.
        try FileManager.default.linkItem(at: place, to: file)
        let other = places.appendingPathComponent("../places/one")
        #expect(throws: FileFailure.Obstacle.file) {
            try FilePlacement(file: place, place: other, replacesFile: false).run()
        }
        #expect(FileManager.default.fileExists(atPath: place.path))
    }

    @Test("a file of a file system without hard links does not replace a file that has appeared at its place")
    func withoutLinks() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, place) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("place"))
        try Data("new".utf8).write(to: file)
        try Data("old".utf8).write(to: place)
        let placement = FilePlacement(file: file, place: place, replacesFile: false)
        #expect(throws: FileFailure.Obstacle.file) { try placement.move(file) }
        #expect(try Data(contentsOf: place) == Data("old".utf8))
        try FileManager.default.removeItem(at: place)
        #expect(try placement.move(file))
        #expect(try Data(contentsOf: place) == Data("new".utf8))
    }

    @Test("a response's description counts the bytes of its file", .rows("A21"))
    func description() async throws {
        let server = try TestServer.start()
        let response = await server.manager().downloadResponse("bytes/12345")
        defer { if let file = response.fileURL { try? FileManager.default.removeItem(at: file) } }
        #expect(response.description.contains("12345 bytes"), "\(response)")
    }
}
