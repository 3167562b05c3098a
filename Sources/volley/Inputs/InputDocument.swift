import LoadGenerator
import TextCoding

/// Files of requests that are JSON.
enum InputDocument {
    static func read(_ bytes: [UInt8], _ file: String) throws(UsageError) -> JSONTree {
        do throws(JSONReader.Problem) {
            return try JSONReader.read(bytes)
        } catch {
            throw UsageError("\(quoted(file)) is no JSON document: at byte \(error.offset) \(error)")
        }
    }
}
