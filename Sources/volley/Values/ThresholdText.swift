import UncurlLoad

extension Threshold {
    /// Reads a condition of `--fail-if`.
    ///
    /// - Parameter comparing: Whether the condition compares two reports, so that `p99>+10%` is a change.
    init(_ text: String, comparing: Bool = false) throws(UsageError) {
        var reader = ThresholdReader(text)
        let metric = try reader.metric()
        let comparison = try reader.comparison()
        let limit = try reader.limit(of: metric.kind, comparing: comparing)
        if !limit.isRelative { try reader.checkReach(of: metric.kind, comparison, limit.value) }
        self.init(text, metric, comparison, limit: limit.value, isRelative: limit.isRelative, window: limit.window)
    }

    /// Refuses a condition on a name that no request has: it would never hold.
    static func check(_ thresholds: [Threshold], _ inputs: RequestInput) throws(UsageError) {
        let names = RequestNames(inputs.drafts).all
        for threshold in thresholds {
            guard let name = threshold.metric.requestName, !names.contains(where: { $0.isSame(as: name) }) else {
                continue
            }
            let known =
                names.isEmpty
                ? "the requests have no names"
                : "use one of " + names.prefix(20).map { quoted($0) }.joined(separator: ", ")
            throw UsageError("--fail-if \(quoted(threshold.text)) is about a name that no request has: \(known)")
        }
    }
}

private struct ThresholdReader {
    private let flag: String
    private let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ text: String) { (flag, scalars) = ("--fail-if \(quoted(text))", Array(text.unicodeScalars)) }

    mutating func metric() throws(UsageError) -> ThresholdMetric {
        skip { $0 == " " }
        let start = position
        skip { $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "." || $0 == "_" }
        // A name may have braces of its own, and nothing behind it has one.
        if position > start, position < scalars.count, scalars[position] == "{",
            let close = scalars[position...].lastIndex(of: "}")
        {
            position = close + 1
        }
        let name = string(scalars[start..<position])
        try need(!name.isEmpty, "\(flag) names no figure \(place(start)): begin with one such as p99, errors or rps")
        guard let metric = ThresholdMetric(name) else {
            throw UsageError(
                "\(flag) has an unknown figure \(quoted(name)) \(place(start)): use \(ThresholdMetric.names)"
            )
        }
        return metric
    }

    mutating func comparison() throws(UsageError) -> Threshold.Comparison {
        skip { $0 == " " }
        let rest = string(scalars[position...])
        guard let comparison = Threshold.Comparison.allCases.first(where: { rest.begins(with: $0.rawValue) }) else {
            throw UsageError("\(flag) has no comparison \(place(position)): use >, >=, < or <=")
        }
        position += comparison.rawValue.unicodeScalars.count
        return comparison
    }

    mutating func limit(
        of kind: ThresholdMetric.Kind,
        comparing: Bool
    ) throws(UsageError) -> (value: Double, isRelative: Bool, window: UInt64?) {
        skip { $0 == " " }
        let (text, window) = try window(string(scalars[position...]))
        try need(
            window == nil || !comparing,
            "\(flag) is about a stretch of a run: volley compare knows whole runs, leave out what begins with over"
        )
        guard !text.isEmpty else { throw UsageError("\(flag) has no limit \(place(position)): add one such as 50ms") }
        let isRelative = text.begins(with: "+") || text.begins(with: "-")
        try need(
            isRelative == comparing || !isRelative,
            "\(flag) is a change \(place(position)): only volley compare has something to compare with"
        )
        guard let value = isRelative ? share(text) : kind.value(text) else {
            let wanted = isRelative ? "a change such as +10%" : kind.example
            throw UsageError("\(flag) has an invalid limit \(place(position)): use \(wanted)")
        }
        // Such a condition would always hold, or never.
        guard isRelative || kind != .share || value <= 1 else {
            throw UsageError("\(flag) has a share above 100 % \(place(position)): use \(kind.example)")
        }
        guard !isRelative || value >= -1 else {
            throw UsageError("\(flag) is a fall by more than 100 % \(place(position)): nothing falls below 0")
        }
        return (value, isRelative, window)
    }

    /// Refuses a condition that no figure can meet: none is below 0, and no share above 1.
    func checkReach(
        of kind: ThresholdMetric.Kind,
        _ comparison: Threshold.Comparison,
        _ limit: Double
    ) throws(UsageError) {
        let isOut = comparison == .below && limit == 0 || kind == .share && comparison == .above && limit == 1
        guard isOut else { return }
        throw UsageError("\(flag) never holds \(place(position)): use \(kind.example)")
    }

    /// Reads `50ms over 30s`: a limit, and the stretches that it applies to.
    private func window(_ text: String) throws(UsageError) -> (limit: String, UInt64?) {
        let words = text.parts(at: " ", keepingEmpty: false).map(String.init)
        guard let place = words.firstIndex(where: { $0.isSame(as: "over") }) else { return (text.trimmed, nil) }
        guard place == words.count - 2, let length = try? UInt64(time: words[place + 1], for: ""),
            length >= 1_000_000_000
        else {
            throw UsageError(
                "\(flag) says no stretch of the run behind over: use a time of 1s or more, such as p99>50ms over 30s"
            )
        }
        return (words[..<place].joined(separator: " "), length)
    }

    /// Reads `+10%`, `-5%`: the sign makes the limit a change.
    private func share(_ text: String) -> Double? {
        guard text.ends(with: "%"), let share = Double(share: String(Substring(text.utf8.dropFirst()))) else {
            return nil
        }
        return text.begins(with: "-") ? -share : share
    }

    private mutating func skip(_ belongs: (Unicode.Scalar) -> Bool) {
        while position < scalars.count, belongs(scalars[position]) { position += 1 }
    }

    private func string(_ part: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(part)) }

    private func place(_ index: Int) -> String { "at character \(index + 1)" }
}

extension ThresholdMetric.Kind {
    var example: String {
        switch self {
        case .time: "a time such as 50ms or 1.5s"
        case .share: "a share such as 0.1% or 0.001"
        case .perSecond: "a rate such as 1000 or 2.5k"
        case .count: "a number such as 0 or 10k"
        }
    }

    /// A limit in the unit of the figure; nil for any other text.
    func value(_ text: String) -> Double? {
        switch self {
        case .time:
            // A number without a unit would be seconds, where the user often means milliseconds.
            guard text.isSame(as: "0") || text.unicodeScalars.last?.properties.isAlphabetic == true else { return nil }
            return (try? UInt64(time: text, for: "", allowingZero: true)).map { Double($0) }
        case .share: return Double(share: text)
        case .perSecond: return (try? Rate(text, for: "", allowingZero: true))?.perSecond
        case .count: return (try? UInt64(count: text, for: "", allowingZero: true)).map { Double($0) }
        }
    }
}

extension SearchGoal {
    /// Reads `p99<20ms`, or several such conditions joined by commas.
    init(_ text: String) throws(UsageError) {
        var times: [(percentile: Double, below: UInt64)] = []
        var errors: Double?
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "<", omittingEmptySubsequences: false).map { $0.trimmed }
            guard sides.count == 2 else { throw Self.problem(text) }
            let limit = sides[1].hasPrefix("=") ? String(sides[1].dropFirst()).trimmed : sides[1]
            if sides[0] == "errors" {
                guard let share = Double(share: limit), share > 0, share <= 1 else { throw Self.problem(text) }
                errors = share
            } else {
                let percentile = sides[0] == "max" ? 100 : Double(sides[0].dropFirst())
                guard sides[0] == "max" || sides[0].hasPrefix("p"), let percentile, percentile > 0, percentile <= 100
                else {
                    throw Self.problem(text)
                }
                times.append((percentile, try UInt64(time: limit, for: "--search-max")))
            }
        }
        self.init(text, times, errors: errors, condition: "--search-max \(text)")
    }

    private static func problem(_ text: String) -> UsageError {
        UsageError("--search-max \(quoted(text)) is no goal: use such as 'p99<20ms' or 'p99.9<50ms,errors<0.1%'")
    }
}

extension ResponseChecks {
    /// - Parameters:
    ///   - statuses: `200,204`, `2xx`, `300-399`.
    ///   - headers: `Name`, or `Name: value`.
    init(
        statuses: String?,
        headers: [String],
        body: String?,
        names: (statuses: String, headers: String, body: String) = (
            "--expect-status", "--expect-header", "--expect-body"
        )
    ) throws(UsageError) {
        var pairs: [(name: String, value: String?)] = []
        for header in headers {
            let parts = header.parts(at: ":", most: 2).map { $0.trimmed }
            guard let name = parts.first, !name.isEmpty, !name.utf8.contains(UInt8(ascii: " ")) else {
                throw UsageError("\(names.headers) \(quoted(header)) is not Name or 'Name: value'")
            }
            pairs.append((name, parts.count == 2 ? parts[1] : nil))
        }
        if let body {
            guard !body.isEmpty else { throw UsageError("\(names.body) is empty: every response has that") }
        }
        self.init(
            statuses: try statuses.map { text throws(UsageError) in try Self.codes(text, names.statuses) },
            headers: pairs,
            body: body.map { Array($0.utf8) }
        )
    }

    private static func codes(_ text: String, _ name: String) throws(UsageError) -> [Bool] {
        var codes = [Bool](repeating: false, count: 1_000)
        for part in text.parts(at: ",").map({ $0.trimmed.lowercased() }) {
            let ends = part.parts(at: "-").map(String.init)
            let low = Int(part.ends(with: "xx") ? part.dropLast(2) + "00" : Substring(ends[0]))
            let high = Int(part.ends(with: "xx") ? part.dropLast(2) + "99" : Substring(ends[ends.count - 1]))
            guard let low, let high, ends.count <= 2, low >= 200, low <= high, high <= 999 else {
                throw UsageError("\(name) \(quoted(part)) is no status: use such as 200, 2xx or 300-399")
            }
            for code in low...high { codes[code] = true }
        }
        return codes
    }
}
