import ArgumentParser
import LoadTester

/// The flags about when requests are sent, as text.
struct PaceFlags: ParsableArguments {
    @Option(
        name: [.customShort("R", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Requests a second in all: 1000, 2.5k, 0.2, 90/m. Latency then counts from when each was due.",
            valueName: "RATE"
        )
    )
    var rate: String?

    @Option(
        help: ArgumentHelp(
            "Rates in a row, such as 30s@1k,1m@5k,linear: linear is a ramp from the rate before; repeatable.",
            valueName: "TIME@RATE[,…]"
        )
    )
    var stage: [String] = []

    @Option(
        help: ArgumentHelp(
            "Find the highest rate that keeps this, such as 'p99<20ms,errors<0.1%', by runs of -d each, beginning at --rate.",
            valueName: "GOAL"
        )
    )
    var searchMax: String?

    @Option(
        help: ArgumentHelp(
            "Without a rate: how long a connection rests after an answer; 100ms, 50ms-150ms, or exp:100ms.",
            valueName: "TIME"
        )
    )
    var think: String?

    @Option(
        help: ArgumentHelp(
            "How long to wait for what is late once time is up. (default: 1s with a rate, otherwise 0)",
            valueName: "TIME"
        )
    )
    var drain: String?

    @Option(
        help: ArgumentHelp(
            "Poll instead of sleeping this long before each request, such as 50us: sharper, each alone, for a core.",
            valueName: "TIME"
        )
    )
    var spin: String?

    @Option(
        help: ArgumentHelp(
            "With a rate: how far volley's own lateness may move a percentile before the run is invalid. (default: 1ms)",
            valueName: "TIME"
        )
    )
    var maxLag: String?

    @Option(
        help: ArgumentHelp("Of everything random: the same seed makes the same choices. (default: 1)", valueName: "N")
    )
    var seed: String?

    /// Whether the requests have a schedule.
    var isScheduled: Bool { rate != nil || !stage.isEmpty || searchMax != nil }

    /// The search that is wanted, if one is, and its first rate.
    func search() throws(UsageError) -> (SearchGoal, Rate)? {
        guard let searchMax else { return nil }
        return (try SearchGoal(searchMax), try Rate(rate ?? "1000", for: "--rate"))
    }
}

extension Options {
    /// Reads the flags; `duration` is `-d` as given, or wrk's ten seconds.
    mutating func setPace(_ flags: PaceFlags, isTimed: Bool, isScheduled: Bool) throws(UsageError) {
        guard flags.rate == nil || flags.stage.isEmpty else {
            throw UsageError("--rate and --stage exclude each other: a stage has its rate, such as 30s@1k")
        }
        guard flags.searchMax == nil || flags.stage.isEmpty && requests == nil else {
            throw UsageError("--search-max tries one rate for -d each time: leave --stage and -n out")
        }
        guard flags.searchMax == nil || startAt == nil else {
            throw UsageError("--search-max makes many runs, and --start-at says when one starts: leave it out")
        }
        if let text = flags.rate ?? (flags.searchMax == nil ? nil : "1000") {
            let rate = try Rate(text, for: "--rate")
            // By count alone, the profile has to last as long as any run may.
            profile = LoadProfile(rate: rate, duration: duration ?? Quantity.longest)
            guard let count = profile?.count, count > 0 else { throw UsageError("--rate: no request comes due") }
        } else if !flags.stage.isEmpty {
            guard !isTimed else { throw UsageError("-d and --stage exclude each other: the stages say how long") }
            profile = try LoadProfile(stages: flags.stage)
            duration = profile?.duration
        }
        think = try flags.think.map { text throws(UsageError) in try Pause(text, for: "--think") }
        guard think == nil || profile == nil else {
            throw UsageError("--think belongs to a closed loop: with --rate and --stage the schedule says when")
        }
        drain = isScheduled ? 1_000_000_000 : 0
        if let text = flags.drain { drain = try Quantity.time(text, for: "--drain", allowingZero: true) }
        if let text = flags.spin {
            guard isScheduled || think != nil else {
                throw UsageError(
                    "--spin is for requests that are due at an instant: use it with --rate, --stage or --think"
                )
            }
            spin = try Quantity.time(text, for: "--spin", allowingZero: true)
        }
        if let text = flags.maxLag {
            guard isScheduled else { throw UsageError("--max-lag is about a schedule: use it with --rate or --stage") }
            maxLag = try Quantity.time(text, for: "--max-lag", allowingZero: true)
        }
        if let text = flags.seed {
            guard let number = UInt64(text) else { throw UsageError("--seed \(quoted(text)) is not a whole number") }
            seed = number
        }
        guard pipeline == 1 || profile == nil && think == nil else {
            throw UsageError("--pipeline is for a closed loop without a pause: leave it out, or the rate")
        }
        guard work == .requests || profile == nil && think == nil && drain == 0 else {
            throw UsageError("--handshake-only sends no requests to time: use --connect-rate for connections")
        }
    }
}
