import UncurlLoad

extension SearchGoal {
    /// Reads `p99<20ms`, or several such conditions joined by commas.
    init(_ text: String) throws(UsageError) {
        var terms: [Term] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "<", omittingEmptySubsequences: false).map { $0.trimmed }
            guard sides.count == 2 else { throw Self.problem(text) }
            let limit = sides[1].hasPrefix("=") ? String(sides[1].dropFirst()).trimmed : sides[1]
            if sides[0] == "errors" {
                guard let share = Quantity.share(limit), share > 0, share <= 1 else { throw Self.problem(text) }
                terms.append(.errors(below: share))
            } else {
                let percentile = sides[0] == "max" ? 100 : Double(sides[0].dropFirst())
                guard sides[0] == "max" || sides[0].hasPrefix("p"), let percentile, percentile > 0, percentile <= 100
                else {
                    throw Self.problem(text)
                }
                terms.append(.percentile(percentile, below: try Quantity.time(limit, for: "--search-max")))
            }
        }
        self.init(text, terms, condition: "--search-max \(text)")
    }

    private static func problem(_ text: String) -> UsageError {
        UsageError("--search-max \(quoted(text)) is no goal: use such as 'p99<20ms' or 'p99.9<50ms,errors<0.1%'")
    }
}
