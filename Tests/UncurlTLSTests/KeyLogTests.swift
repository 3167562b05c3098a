import Foundation
import TestSupport
import Testing
import UncurlTLS

@Suite("KeyLog", .ownThread)
struct KeyLogTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)").path

    @Test("secrets of each connection are appended to a file that only its owner may read")
    func written() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("before\n".utf8).write(to: URL(fileURLWithPath: path))
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
        let log = try KeyLog(path: path)
        for _ in 0..<2 { _ = try TLSFixture(client: { $0.keyLog = log }).connected() }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.first == "before")
        #expect(lines.filter { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") }.count == 2)
        #expect(lines.dropFirst().allSatisfy { $0.split(separator: " ").count == 3 })
    }

    @Test("a new file is its owner's alone")
    func permissions() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try KeyLog(path: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("a file that cannot be opened is an error with its name")
    func unopenable() {
        #expect { try KeyLog(path: "/nowhere/keys") } throws: { "\($0)".contains("/nowhere/keys") }
    }

    @Test("the environment is looked at only where that is asked for")
    func environment() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Nobody else in these tests reads it.
        setenv("SSLKEYLOGFILE", path, 1)
        defer { unsetenv("SSLKEYLOGFILE") }
        _ = try TLSFixture().connected()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try KeyLog.fromEnvironment()?.path == path)
        setenv("SSLKEYLOGFILE", "", 1)
        #expect(try KeyLog.fromEnvironment() == nil)
    }
}
