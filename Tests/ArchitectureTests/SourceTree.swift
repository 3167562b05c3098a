import Foundation

/// The files of this repository, as a reader sees them.
enum SourceTree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct File: Sendable, CustomStringConvertible {
        /// From the repository's root.
        let path: String
        let text: String
        /// The text without comments and strings; empty for a file that was not read as code.
        let code: String

        var name: String { String(path.split(separator: "/").last ?? "") }
        /// `Sources/<room>/…`
        var room: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
        /// The words of the code. By octets, of which there are three million: characters take ten times as long.
        var words: [Substring] { code.utf8.split { !SourceTree.isOfWord($0) }.map { Substring($0) } }
        /// The long words that may be members': those after a dot, and those that are called.
        var memberWords: [Substring] {
            words.filter { word in
                guard word.utf8.count >= 8, ("a"..."z").contains(word.unicodeScalars.first ?? "_") else { return false }
                return code.utf8[..<word.startIndex].last == UInt8(ascii: ".")
                    || code.utf8[word.endIndex...].first == UInt8(ascii: "(")
            }
        }
        var description: String { path }
    }

    private static func isOfWord(_ octet: UInt8) -> Bool {
        octet >= 0x61 && octet <= 0x7A || octet >= 0x41 && octet <= 0x5A || octet >= 0x30 && octet <= 0x39
            || octet == 0x5F || octet >= 0x80
    }

    /// The Swift files of all rooms, read once.
    static let sources = swiftFiles(in: "Sources")

    /// The Swift files of all tests, read once.
    static let tests = swiftFiles(in: "Tests")

    /// Every Swift file below a folder of the root, in the order of their paths.
    static func swiftFiles(in folder: String) -> [File] {
        files(in: folder, readingCode: true) { $0.hasSuffix(".swift") }
    }

    /// Every text file below a folder of the root whose name is wanted.
    ///
    /// - Parameter readingCode: whether the files have ``File/code``, which takes its time.
    static func files(in folder: String, readingCode: Bool = false, where wanted: (String) -> Bool) -> [File] {
        let base = root.appending(path: folder)
        guard let paths = FileManager.default.enumerator(atPath: base.path)?.compactMap({ $0 as? String }) else {
            return []
        }
        // `.peers` has the sources of others, which benchmarks are compared with.
        let ours = paths.filter { wanted($0) && !$0.contains(".build") && !$0.contains(".peers") }
        return ours.sorted().compactMap { path in
            guard let text = try? String(contentsOf: base.appending(path: path), encoding: .utf8) else { return nil }
            let code = readingCode ? SwiftText.withoutCommentsAndStrings(text) : ""
            return File(path: "\(folder)/\(path)", text: text, code: code)
        }
    }

    /// Folders directly below `folder`.
    static func folders(in folder: String) -> [String] {
        let base = root.appending(path: folder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: base.path)) ?? []
        return names.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: base.appending(path: name).path, isDirectory: &isFolder)
                && isFolder.boolValue
        }.sorted()
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }
}
