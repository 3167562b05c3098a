import UncurlHTTP1
import UncurlLoad

/// The fields of several `-H`, as in curl: `Name: value` and `Name;`, a field without a value, are sent, and `Name:`
/// leaves out the field that another flag, or the program itself, would add.
struct WrittenFields {
    /// The fields that are sent, each as `Name: value`.
    private(set) var lines: [String] = []
    /// The names of all fields, also of those that are left out, in lower case.
    private(set) var names: Set<String> = []

    /// Fields that volley must send.
    private static let needed: Set<String> = ["host", "content-length"]

    init(_ texts: [String] = []) throws(UsageError) {
        for text in texts { try add(text) }
    }

    mutating func add(_ text: String) throws(UsageError) {
        let name = text.prefix(before: ":").lowercased()
        let value = text.utf8.dropFirst(name.utf8.count)
        guard !value.isEmpty else { return addBare(text.trimmed) }
        if name.isASCII { names.insert(name) }
        let isLeftOut = value.dropFirst().allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        // A malformed name remains, to be refused like every other.
        guard isLeftOut, name.isToken else { return lines.append(text) }
        guard !Self.needed.contains(name) else {
            throw UsageError("-H \(quoted(text)) would leave out a field that each request needs: remove this -H")
        }
    }

    /// Adds a text without a colon. One that is no `Name;` remains, to be refused.
    private mutating func addBare(_ text: String) {
        guard text.ends(with: ";"), text.isASCII else { return lines.append(text) }
        names.insert(text.dropLast().lowercased())
        lines.append("\(text.dropLast()):")
    }

    func have(_ name: String) -> Bool { names.contains(name.lowercased()) }

    /// The lines, and each of `others` whose name none of these has.
    func adding(_ others: [String]) -> [String] { lines + absent(others) }

    /// Each of these lines whose name is in no `-H`.
    func absent(_ others: [String]) -> [String] { others.filter { !have(String($0.prefix(before: ":"))) } }
}
