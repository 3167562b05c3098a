import UncurlLoad

/// The plan of `--stage`: successive rates (`30s@1k,1m@5k,linear`), or successive numbers of connections
/// (`30s@100c,1m@500c,linear`).
struct StagePlan {
    private var rates: [LoadStage<Rate>] = []
    private var crowds: [LoadStage<UInt64>] = []
    /// The rates; nil where the stages are numbers of connections.
    private(set) var profile: LoadProfile?
    /// The numbers of connections; nil where the stages are rates.
    private(set) var crowd: CrowdProfile?

    /// The most stages, because a profile goes through its stages one by one.
    private static let limit = 1_000

    /// Reads successive stages, each with a time and a rate or a number of connections. A stage with `linear` changes
    /// evenly from the value before it (0 at the start) to its own.
    init(_ texts: [String]) throws(UsageError) {
        for text in texts {
            for part in text.parts(at: ",") { try take(part, of: text) }
        }
        try need(
            rates.isEmpty || crowds.isEmpty,
            "--stage: a run has rates or numbers of connections, not both: leave the one or the other out"
        )
        let duration: UInt64
        if crowds.isEmpty {
            let rates = LoadProfile(rates)
            try need(rates.count > 0, "--stage: no request comes due in all stages: use higher rates")
            (profile, duration) = (rates, rates.duration)
        } else {
            let most = LoadOptions.connectionLimit
            try need(
                (1...most).contains(crowds.peak),
                "--stage: at least 1 connection in some stage, and at most \(most)"
            )
            (crowd, duration) = (crowds, crowds.duration)
        }
        try need(duration <= LoadOptions.longest, "--stage: all stages together are too long: at most 744h")
    }

    private mutating func take(_ part: Substring, of text: String) throws(UsageError) {
        switch part.isASCII ? part.lowercased() : nil {
        case "linear"?: try makeLinear(in: text)
        case "step"?: break
        default: try add(part, of: text)
        }
        try need(rates.count + crowds.count <= Self.limit, "--stage: at most \(Self.limit) stages")
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
        try need(
            halves.count == 2,
            "--stage \(quoted(text)): \(quoted(part)) is no stage: use TIME@RATE such as 30s@1k, or "
                + "30s@100c for connections"
        )
        let duration = try UInt64(time: String(halves[0]), for: "--stage")
        if halves[1].ends(with: "c") || halves[1].ends(with: "C") {
            let number = String(Substring(halves[1].utf8.dropLast()))
            let count = try UInt64(count: number, for: "--stage", allowingZero: true)
            crowds.append(LoadStage(duration: duration, from: count, to: count))
        } else {
            let rate = try Rate(String(halves[1]), for: "--stage", allowingZero: true)
            rates.append(LoadStage(duration: duration, from: rate, to: rate))
        }
    }
}
