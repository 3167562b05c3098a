import FacadeTestSupport
import Foundation
import Glibc
import TestServer
import TestSupport
import Testing

@testable import Uncurl

@Suite("Placed files", .timeLimit(.minutes(5)))
struct PlacedFileTests {
    @Test("a downloaded file at its place has the permissions that the umask leaves, as any new file")
    func permissions() async throws {
        let server = try TestServer.start()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let usual = folder.appendingPathComponent("usual")
        #expect(FileManager.default.createFile(atPath: usual.path, contents: Data()))
        let descriptor = open(folder.appendingPathComponent("plain").path, O_CREAT | O_WRONLY, 0o666)
        close(descriptor)
        func mode(_ name: String) -> mode_t {
            var facts = stat()
            return stat(folder.appendingPathComponent(name).path, &facts) == 0 ? facts.st_mode & 0o777 : 0
        }
        let response = await server.manager().download("bytes/10", to: .file(folder.appendingPathComponent("file")))
        #expect(response.error == nil)
        #expect(mode("file") == mode("plain") && mode("file") != 0)
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

    @Test("a response's description counts the bytes of its file", .rows("A21"))
    func description() async throws {
        let server = try TestServer.start()
        let response = await server.manager().download("bytes/12345")
        defer { if let file = response.fileURL { try? FileManager.default.removeItem(at: file) } }
        #expect(response.description.contains("12345 bytes"), "\(response)")
    }
}
