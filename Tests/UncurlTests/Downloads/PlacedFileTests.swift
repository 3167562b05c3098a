import FacadeTestSupport
import Foundation
import Glibc
import TestServer
import TestSupport
import Testing

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
                await manager.download(request, to: .file(places[0])).error,
                await manager.download(request, to: .file(places[1]), segments: 2).error,
                await manager.download(request, to: .file(places[2])).error,
                await manager.download(request, to: .file(URL(fileURLWithPath: elsewhere))).error,
            ]
            manager.hooks.didFinishDownloading = { _, _, _ in places[3] }
            failures.append(await manager.download(request).error)
            _exit(failures.contains { $0 != nil } ? EXIT_FAILURE : EXIT_SUCCESS)
        }
        for place in ["plain", "parts", "old", "hook"].map({ folder.path + "/" + $0 }) + [elsewhere.path] {
            var facts = stat()
            #expect(stat(place, &facts) == 0 && facts.st_mode & 0o777 == 0o666 & ~mask, "\(place)")
        }
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
        let response = await server.manager().download("bytes/12345")
        defer { if let file = response.fileURL { try? FileManager.default.removeItem(at: file) } }
        #expect(response.description.contains("12345 bytes"), "\(response)")
    }
}
