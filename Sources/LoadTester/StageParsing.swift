extension LoadProfile {
    /// As many as a script writes by hand, and more; a profile is looked through from its start.
    static let stageLimit = 1_000

    /// `--stage 30s@1k,1m@5k,linear`: stages in a row, each a time and a rate. With `linear` after it, a stage leads evenly from
    /// the rate before it, 0 at the start, to its own.
    package init(stages texts: [String]) throws(UsageError) {
        var stages: [Stage] = []
        for text in texts {
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                switch part.lowercased() {
                case "linear":
                    guard let last = stages.popLast(), last.from == last.to else {
                        throw UsageError(
                            "--stage \(quoted(text)): linear belongs once behind a stage, such as 1m@5k,linear"
                        )
                    }
                    stages.append(Stage(duration: last.duration, from: stages.last?.to ?? .zero, to: last.to))
                case "step": continue
                default: stages.append(try Self.stage(part, text))
                }
                guard stages.count <= Self.stageLimit else {
                    throw UsageError("--stage: at most \(Self.stageLimit) stages")
                }
            }
        }
        self.init(stages)
        guard count > 0 else { throw UsageError("--stage: no request comes due in all stages: use higher rates") }
        guard duration <= Quantity.longest else {
            throw UsageError("--stage: all stages together are too long: at most 744h")
        }
    }

    private static func stage(_ part: Substring, _ text: String) throws(UsageError) -> Stage {
        let halves = part.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else {
            throw UsageError("--stage \(quoted(text)): \(quoted(part)) is no stage: use TIME@RATE such as 30s@1k")
        }
        let duration = try Quantity.time(String(halves[0]), for: "--stage")
        let rate = try Rate(String(halves[1]), for: "--stage", allowingZero: true)
        return Stage(duration: duration, from: rate, to: rate)
    }
}
