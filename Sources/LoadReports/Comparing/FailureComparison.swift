import LoadGenerator
import TextCoding

/// Compares the failures of two runs by kind.
struct FailureComparison: Sendable {
    private struct Kind: Sendable {
        var name: String
        var kind: String
        var old: UInt64 = 0
        var new: UInt64 = 0
    }

    private let kinds: [Kind]

    init(_ old: SavedReport, _ new: SavedReport) {
        var found: [Kind] = []
        for (report, field) in [(old, \Kind.old), (new, \Kind.new)] {
            for row in report.document["errors"]?.items ?? [] {
                let words = ["phase", "class", "errno_name", "detail"].compactMap { row[$0]?.string }
                let name = oneLine(words.filter { !$0.isEmpty }.joined(separator: ": "))
                let count = row["count"]?.integer ?? 0
                if let index = found.firstIndex(where: { $0.name == name }) {
                    found[index][keyPath: field] &+= count
                } else {
                    var kind = Kind(name: name, kind: row["class"]?.string ?? "")
                    kind[keyPath: field] = count
                    found.append(kind)
                }
            }
        }
        kinds = found.sorted { max($0.old, $0.new) > max($1.old, $1.new) }
    }

    /// The change of all failures of a class, as a share of the earlier count.
    func change(_ kind: FailureClass) -> Double {
        let rows = kinds.filter { $0.kind == kind.rawValue }
        let sum = { (count: (Kind) -> UInt64) in rows.reduce(0) { $0 + Double(count($1)) } }
        return Comparison.change(sum(\.old), sum(\.new))
    }

    var lines: [String] {
        kinds.isEmpty
            ? []
            : ["", "Errors by kind, before and after"]
                + kinds.map { "  " + right(grouped($0.old), 12) + right(grouped($0.new), 12) + "  " + $0.name }
    }
}
