import UncurlLoad
import UncurlText

/// A part of a scenario file and its position: `"shop.json": steps[2].check`.
struct ScenarioNode {
    let tree: JSONTree
    private let file: String
    private let path: String

    init(file: String, _ tree: JSONTree) { (self.file, self.tree, path) = (file, tree, "") }

    private init(_ parent: ScenarioNode, _ tree: JSONTree, _ step: String) {
        (file, self.tree) = (parent.file, tree)
        path =
            parent.path.isEmpty && step.begins(with: ".")
            ? String(Substring(step.utf8.dropFirst())) : parent.path + step
    }

    /// The position in error messages.
    var place: String { path.isEmpty ? quoted(file) : inputPlace.inMessages }

    /// The position as the place of a request.
    var inputPlace: InputPlace { InputPlace(file: file, path: path) }

    func problem(_ text: String) -> UsageError { UsageError("\(place) \(text)") }

    /// The member of this name; nil where it is missing or null.
    subscript(_ name: String) -> ScenarioNode? {
        guard let value = tree.members?.first(where: { $0.0.isSame(as: name) })?.1 else { return nil }
        return ScenarioNode(self, value, "." + name)
    }

    func elements() throws(UsageError) -> [ScenarioNode] {
        guard let elements = tree.elements else { throw problem("is no array") }
        return elements.enumerated().map { ScenarioNode(self, $1, "[\($0)]") }
    }

    /// The members in the file's order, including those that are null.
    func members() throws(UsageError) -> [(name: String, value: ScenarioNode)] {
        guard case .object(let members) = tree else { throw problem("is no object") }
        return members.map { ($0, ScenarioNode(self, $1, "." + $0)) }
    }

    /// Requires an object with no members but these.
    func check(_ names: String...) throws(UsageError) {
        guard case .object(let members) = tree else { throw problem("is no object") }
        for (name, _) in members where !names.contains(where: { $0.isSame(as: name) }) {
            throw problem("has \(quoted(name)), which is unknown: there are \(names.joined(separator: ", "))")
        }
    }

    /// A text, or a number as it is written.
    func text() throws(UsageError) -> String {
        switch tree {
        case .string(let text): return text
        case .integer(let number): return String(number)
        case .number(let digits): return digits
        case .null, .bool, .array, .object: throw problem("is no text")
        }
    }

    func bool() throws(UsageError) -> Bool {
        guard let value = tree.bool else { throw problem("is neither true nor false") }
        return value
    }

    /// An integer from 1 to a million.
    func count() throws(UsageError) -> Int {
        guard let number = tree.integer, (1...1_000_000).contains(number) else {
            throw problem("is no whole number from 1 to 1000000")
        }
        return Int(number)
    }
}
