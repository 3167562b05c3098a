import UncurlLoad
import UncurlText

/// Reads files that are JSON documents.
enum InputDocument {
    static func read(
        _ bytes: [UInt8],
        _ file: String,
        uniqueNames: Bool = false,
        loneSurrogates: Bool = false
    ) throws(UsageError) -> JSONTree {
        do throws(JSONReader.Problem) {
            return try JSONReader.read(bytes, uniqueNames: uniqueNames, loneSurrogates: loneSurrogates)
        } catch {
            let (line, column) = place(of: error.offset, in: bytes)
            throw UsageError("\(quoted(file)) cannot be read as JSON: line \(line), column \(column): \(error)")
        }
    }

    /// The line and the column of a byte, both counted from 1. Columns are characters of Unicode.
    private static func place(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes[..<offset]
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        // The bytes 0x80 to 0xBF continue a character.
        return (before.count { $0 == 0x0A } + 1, before[start...].count { $0 & 0xC0 != 0x80 } + 1)
    }
}
