import URLLoading

/// A directory's name of a test's own, gone with it, with all that is in it. Not there at first.
final class TemporaryFolder: Sendable {
    let path: String

    init(_ name: String = "uncurl-test") {
        path = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)").path
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    func make() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    func bytes(of name: String) -> [UInt8] {
        FileManager.default.contents(atPath: path + "/" + name).map { Array($0) } ?? []
    }

    func write(_ bytes: [UInt8], to name: String) {
        _ = FileManager.default.createFile(atPath: path + "/" + name, contents: Data(bytes))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
