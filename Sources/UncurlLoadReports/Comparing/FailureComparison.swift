import UncurlLoad
import UncurlText

/// Compares the failures of two runs by kind.
struct FailureComparison: Sendable {
    private struct Kind: Sendable {
        var name: String
        var kind: OctetText
        var old: UInt64 = 0
        var new: UInt64 = 0
    }

    private let kinds: [Kind]

    init(_ old: SavedReport, _ new: SavedReport) {
        var found: [Kind] = []
        var places: [OctetText: Int] = [:]
        for (report, field) in [(old, \Kind.old), (new, \Kind.new)] {
            for row in report.document["errors"]?.items ?? [] {
                let words = ["phase", "class", "errno_name", "detail"].compactMap { row[$0]?.string }
                let name = oneLine(words.filter { !$0.isEmpty }.joined(separator: ": "))
                let count = row["count"]?.integer ?? 0
                if let place = places[OctetText(name)] {
                    found[place][keyPath: field] &+= count
                } else {
                    var kind = Kind(name: name, kind: OctetText(row["class"]?.string ?? ""))
                    kind[keyPath: field] = count
                    places[OctetText(name)] = found.count
                    found.append(kind)
                }
            }
        }
        kinds = found.sorted { max($0.old, $0.new) > max($1.old, $1.new) }
    }

    /// The change of all failures of a class, as a share of the earlier count.
    func change(_ kind: FailureClass) -> Double {
        let name = OctetText(kind.rawValue)
        let rows = kinds.filter { $0.kind == name }
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
