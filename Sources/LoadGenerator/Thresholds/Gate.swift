/// A condition under which a run has failed: `p99>50ms`, `errors>0.1%`, `rps<1000`.
package struct Gate: Hashable, Sendable {
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        // Two characters first: they begin with the others.
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"

        package func holds(_ left: Double, _ right: Double) -> Bool {
            switch self {
            case .above: left > right
            case .atLeast: left >= right
            case .below: left < right
            case .atMost: left <= right
            }
        }
    }

    /// As typed.
    package let text: String
    package let metric: GateMetric
    package let comparison: Comparison
    /// In the metric's own unit: nanoseconds, a share of 1, a count. With ``isRelative`` a change, as a share of the old value.
    package let limit: Double
    package let isRelative: Bool

    /// - Parameter comparing: against an earlier report: `p99>+10%` is a change.
    package init(_ text: String, comparing: Bool = false) throws(UsageError) {
        let flag = "--fail-if \(quoted(text))"
        let characters = Array(text)
        var position = 0
        func skipBlanks() { while position < characters.count, characters[position] == " " { position += 1 } }
        func place(_ index: Int) -> String { "at character \(index + 1)" }

        skipBlanks()
        let nameStart = position
        while position < characters.count,
            characters[position].isLetter || characters[position].isNumber
                || characters[position] == "." || characters[position] == "_"
        {
            position += 1
        }
        if position > nameStart, position < characters.count, characters[position] == "{",
            let close = characters[position...].firstIndex(of: "}")
        {
            position = close + 1
        }
        let name = String(characters[nameStart..<position])
        guard !name.isEmpty else {
            throw UsageError("\(flag) names no figure \(place(nameStart)): begin with one such as p99, errors or rps")
        }
        guard let metric = GateMetric(name) else {
            throw UsageError(
                "\(flag) has an unknown figure \(quoted(name)) \(place(nameStart)): use \(GateMetric.names)"
            )
        }
        skipBlanks()
        let rest = String(characters[position...])
        guard let comparison = Comparison.allCases.first(where: { rest.hasPrefix($0.rawValue) }) else {
            throw UsageError("\(flag) has no comparison \(place(position)): use >, >=, < or <=")
        }
        position += comparison.rawValue.count
        skipBlanks()
        let value = String(characters[position...].reversed().drop { $0 == " " }.reversed())
        guard !value.isEmpty else { throw UsageError("\(flag) has no limit \(place(position)): add one such as 50ms") }
        (self.text, self.metric, self.comparison) = (text, metric, comparison)
        isRelative = value.hasPrefix("+") || value.hasPrefix("-")
        guard isRelative == comparing || !isRelative else {
            throw UsageError(
                "\(flag) is a change \(place(position)): only volley compare has something to compare with"
            )
        }
        let found = isRelative ? Self.share(value) : metric.kind.value(value)
        guard let found else {
            let wanted = isRelative ? "a change such as +10%" : metric.kind.example
            throw UsageError("\(flag) has a limit that is none \(place(position)): use \(wanted)")
        }
        limit = found
        // Such a condition would always be kept, or never.
        guard isRelative || metric.kind != .share || found <= 1 else {
            throw UsageError("\(flag) has a share above 100 % \(place(position)): use \(metric.kind.example)")
        }
        guard !isRelative || found >= -1 else {
            throw UsageError("\(flag) is a fall by more than 100 % \(place(position)): nothing falls below 0")
        }
    }

    /// The errors of which it says how many are too many. What asks for a number at least, such as `failed<5`, allows none.
    var tolerated: ToleratedErrors {
        switch comparison {
        case .above, .atLeast: metric.counted
        case .below, .atMost: ToleratedErrors()
        }
    }

    private static func share(_ text: String) -> Double? {
        // `+10%`, `-5%`: the sign is what makes it a change.
        guard text.hasSuffix("%"), let share = Quantity.share(String(text.dropFirst())) else { return nil }
        return text.hasPrefix("-") ? -share : share
    }

    /// Whether `figures` fail by it; nil where they do not have the figure.
    func fails(_ figures: GateFigures) -> Bool? { figures.value(metric).map { comparison.holds($0, limit) } }

    /// `p99 is 61.2 ms`.
    package func finding(_ figures: GateFigures) -> String {
        guard let value = figures.value(metric) else { return "\(metric.name) was not measured" }
        return "\(metric.name) is \(metric.kind.text(value))"
    }

    /// A condition on a name that no request has would never say anything.
    package static func check(_ gates: [Gate], _ inputs: RequestInput) throws(UsageError) {
        let names = RequestNames(inputs.drafts).all
        for gate in gates {
            guard let name = gate.metric.requestName, !names.contains(name) else { continue }
            let known =
                names.isEmpty
                ? "the input tells none apart"
                : "use one of " + names.prefix(20).map { quoted($0) }.joined(separator: ", ")
            throw UsageError("--fail-if \(quoted(gate.text)) is about a name that no request has: \(known)")
        }
    }
}
