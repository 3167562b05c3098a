import Foundation
import Testing

/// A stored text that a test compares with what happens now: blocks, each with a label. `UNCURL_RECORD=1` writes the
/// texts anew; read the difference.
enum Recording {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Recorded").standardizedFileURL
    private static let isRecording = ProcessInfo.processInfo.environment["UNCURL_RECORD"] == "1"
    private static let mark = "##### "

    /// Each block that differs is a failure of its own, with both texts.
    static func expect(_ blocks: [(label: String, text: String)], recordedAs name: String) throws {
        #expect(Set(blocks.map(\.label)).count == blocks.count, "two blocks of \(name) have one label")
        let file = folder.appending(path: "\(name).txt")
        let text = blocks.map { "\(mark)\($0.label)\n\($0.text)\n" }.joined()
        if isRecording { try text.write(to: file, atomically: true, encoding: .utf8) }
        let recorded = try String(contentsOf: file, encoding: .utf8)
        guard text != recorded else { return }
        let (now, then) = (read(text), read(recorded))
        for (label, text) in now where text != then[label] {
            Issue.record("\(name), \(label)\n----- recorded\n\(then[label] ?? "nothing")\n----- now\n\(text)\n-----")
        }
        for label in then.keys where now[label] == nil { Issue.record("\(name), \(label): it is no longer made") }
        #expect(now.count == then.count)
        #expect(now != then, "\(name): the same blocks in another order")
    }

    private static func read(_ text: String) -> [String: String] {
        var blocks: [String: String] = [:]
        for block in "\n\(text)".components(separatedBy: "\n\(mark)").dropFirst() {
            let parts = block.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            blocks[String(parts[0])] = parts.count > 1 ? String(parts[1]).trimmingSuffix : ""
        }
        return blocks
    }
}

extension String {
    /// Without the ends of its last line.
    fileprivate var trimmingSuffix: String {
        var text = self
        while text.last == "\n" { text.removeLast() }
        return text
    }
}
