import LoadGenerator
import TextCoding

/// Reads files of requests that are JSON documents.
enum InputDocument {
    static func read(_ bytes: [UInt8], _ file: String) throws(UsageError) -> JSONTree {
        do throws(JSONReader.Problem) {
            return try JSONReader.read(bytes)
        } catch {
            throw UsageError("\(quoted(file)) is no JSON document: at byte \(error.offset) \(error)")
        }
    }
}
