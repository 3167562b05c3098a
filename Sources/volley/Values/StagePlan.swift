import UncurlLoad

/// The plan of `--stage`: successive rates (`30s@1k,1m@5k,linear`), or successive numbers of connections
/// (`30s@100c,1m@500c,linear`).
enum StagePlan: Hashable, Sendable {
    case rates(LoadProfile)
    case connections(CrowdProfile)

    /// The most stages, because a profile goes through its stages one by one.
    static let limit = 1_000

    /// Reads successive stages, each with a time and a rate or a number of connections. A stage with `linear` changes
    /// evenly from the value before it (0 at the start) to its own.
    init(_ texts: [String]) throws(UsageError) {
        var stages = StageReader()
        for text in texts {
            for part in text.parts(at: ",") { try stages.take(part, of: text) }
        }
        guard stages.rates.isEmpty || stages.crowds.isEmpty else {
            throw UsageError(
                "--stage: a run has rates or numbers of connections, not both: leave the one or the other out"
            )
        }
        let isOfRates = stages.crowds.isEmpty
        self = isOfRates ? .rates(try Self.profile(stages.rates)) : .connections(try Self.crowd(stages.crowds))
    }

    private static func profile(_ stages: [LoadStage<Rate>]) throws(UsageError) -> LoadProfile {
        let profile = LoadProfile(stages)
        guard profile.count > 0 else {
            throw UsageError("--stage: no request comes due in all stages: use higher rates")
        }
        try check(profile.duration)
        return profile
    }

    private static func crowd(_ stages: [LoadStage<UInt64>]) throws(UsageError) -> CrowdProfile {
        let crowd = CrowdProfile(stages)
        guard (1...LoadOptions.connectionLimit).contains(crowd.peak) else {
            throw UsageError("--stage: at least 1 connection in some stage, and at most \(LoadOptions.connectionLimit)")
        }
        try check(crowd.duration)
        return crowd
    }

    private static func check(_ duration: UInt64) throws(UsageError) {
        guard duration <= Quantity.longest else {
            throw UsageError("--stage: all stages together are too long: at most 744h")
        }
    }
}

/// Collects the stages of a plan, part by part.
private struct StageReader {
    private(set) var rates: [LoadStage<Rate>] = []
    private(set) var crowds: [LoadStage<UInt64>] = []

    mutating func take(_ part: Substring, of text: String) throws(UsageError) {
        switch part.isASCII ? part.lowercased() : nil {
        case "linear"?: try makeLinear(in: text)
        case "step"?: break
        default: try add(part, of: text)
        }
        guard rates.count + crowds.count <= StagePlan.limit else {
            throw UsageError("--stage: at most \(StagePlan.limit) stages")
        }
    }

    private mutating func makeLinear(in text: String) throws(UsageError) {
        if let last = rates.popLast(), last.from == last.to {
            rates.append(LoadStage(duration: last.duration, from: rates.last?.to ?? .zero, to: last.to))
        } else if let last = crowds.popLast(), last.from == last.to {
            crowds.append(LoadStage(duration: last.duration, from: crowds.last?.to ?? 0, to: last.to))
        } else {
            throw UsageError("--stage \(quoted(text)): linear belongs once behind a stage, such as 1m@5k,linear")
        }
    }

    private mutating func add(_ part: Substring, of text: String) throws(UsageError) {
        let halves = part.parts(at: "@", most: 2)
        guard halves.count == 2 else {
            throw UsageError(
                "--stage \(quoted(text)): \(quoted(part)) is no stage: use TIME@RATE such as 30s@1k, or "
                    + "30s@100c for connections"
            )
        }
        let duration = try Quantity.time(String(halves[0]), for: "--stage")
        if halves[1].ends(with: "c") || halves[1].ends(with: "C") {
            let number = String(Substring(halves[1].utf8.dropLast()))
            let count = try Quantity.count(number, for: "--stage", allowingZero: true)
            crowds.append(LoadStage(duration: duration, from: count, to: count))
        } else {
            let rate = try Rate(String(halves[1]), for: "--stage", allowingZero: true)
            rates.append(LoadStage(duration: duration, from: rate, to: rate))
        }
    }
}
