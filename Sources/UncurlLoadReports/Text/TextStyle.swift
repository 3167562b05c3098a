import UncurlLoad

/// How the text report looks: plain in a file or a pipe, with a histogram and colours on a terminal.
package struct TextStyle: Sendable {
    package enum Look: String, Sendable {
        case bold = "1"
        case red = "31"
        case green = "32"
        case yellow = "33"

        /// What turns a look on, and every look off.
        package var sequence: String { "\u{1B}[\(rawValue)m" }
        package static let end = "\u{1B}[0m"
    }

    package static let plain = TextStyle(columns: nil, isColored: false)

    /// The width of the terminal; nil for a report without a histogram.
    package let columns: Int?
    package let isColored: Bool

    package init(columns: Int?, isColored: Bool) { (self.columns, self.isColored) = (columns, isColored) }

    package func text(_ text: String, _ look: Look) -> String {
        isColored && !text.isEmpty ? look.sequence + text + Look.end : text
    }

    /// The lines, the first of them as the head of a table.
    func headed(_ lines: [String], _ look: Look = .bold) -> [String] {
        lines.prefix(1).map { text($0, look) } + lines.dropFirst()
    }

    private static let verdicts: [(word: String, look: Look)] = [
        ("FAILED", .red), ("INVALID", .red), ("unclear", .yellow), ("kept", .green),
    ]

    /// The lines, each with the look of the verdict that it begins with.
    func judged(_ lines: [String]) -> [String] {
        lines.map { line in
            guard let (word, look) = Self.verdicts.first(where: { line.begins(with: $0.word) }) else { return line }
            return text(word, look) + line.dropFirst(word.count)
        }
    }

    /// A histogram that fits the terminal; empty without one.
    func histogram(of what: String, _ latency: LatencyHistogram) -> [String] {
        guard let columns else { return [] }
        let bars = latency.bars(columns: columns)
        return bars.isEmpty ? [] : headed(["Histogram of \(what)"] + bars)
    }
}
