/// Just enough of Swift's grammar to tell code from what is written beside it.
enum SwiftText {
    /// `source` with comments, and the contents of string literals, blanked out. Line ends stay. What stands in
    /// an interpolation is taken for part of its string.
    static func withoutCommentsAndStrings(_ source: String) -> String {
        var result: [UInt8] = []
        let bytes = Array(source.utf8)
        var index = 0
        func matches(_ text: StaticString) -> Bool {
            let count = text.utf8CodeUnitCount
            guard index + count <= bytes.count else { return false }
            return (0..<count).allSatisfy { bytes[index + $0] == text.utf8Start[$0] }
        }
        func skip(until end: StaticString, escapes: Bool) {
            while index < bytes.count, !matches(end) {
                let count = escapes && bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                // The end of a line that an escape continues is one too.
                let end = min(bytes.count, index + count)
                if bytes[index..<end].contains(UInt8(ascii: "\n")) { result.append(UInt8(ascii: "\n")) }
                index = end
            }
            index = min(bytes.count, index + end.utf8CodeUnitCount)
        }
        while index < bytes.count {
            // Most bytes begin none of these.
            guard
                bytes[index] == UInt8(ascii: "/") || bytes[index] == UInt8(ascii: "#")
                    || bytes[index] == UInt8(ascii: "\"")
            else {
                result.append(bytes[index])
                index += 1
                continue
            }
            if matches("//") {
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
            } else if matches("/*") {
                skip(until: "*/", escapes: false)
            } else if matches("#\"\"\"") {
                index += 4
                skip(until: "\"\"\"#", escapes: false)
            } else if matches("#\"") {
                index += 2
                skip(until: "\"#", escapes: false)
            } else if matches("\"\"\"") {
                index += 3
                skip(until: "\"\"\"", escapes: true)
            } else if matches("\"") {
                index += 1
                skip(until: "\"", escapes: true)
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The modules a file imports, whatever stands before `import`.
    static func imports(_ code: String) -> [String] {
        code.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
                words[..<place].allSatisfy({ $0.hasPrefix("@") || ["public", "internal", "package"].contains($0) })
            else { return nil }
            // `import struct Module.Type` and `import Module.Sub` both name the module before the dot.
            return words[words.count - 1].split(separator: ".").first.map(String.init)
        }
    }
}
