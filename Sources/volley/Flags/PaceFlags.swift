import ArgumentParser
import UncurlLoad

/// The text of the flags about the times of requests.
struct PaceFlags: ParsableArguments {
    @Option(
        name: [.customShort("R", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Requests a second of all threads together, at most 1G: 1000, 2.5k, 0.2, 90/m, 100/h. The latency then "
                + "begins when each was due. (default: as fast as answers come)",
            valueName: "RATE"
        )
    )
    var rate: String?

    @Option(
        help: ArgumentHelp(
            "Rates one after the other, such as 30s@1k,1m@5k,linear: linear is a ramp from the rate before. "
                + "Without a rate, numbers of "
                + "connections: 30s@100c,1m@500c,linear; repeatable.",
            valueName: "TIME@RATE[,…]"
        )
    )
    var stage: [String] = []

    @Option(
        help: ArgumentHelp(
            "With a rate: requests come due at equal distances, or by chance as in a Poisson process. (default: even)",
            valueName: "even|poisson",
            visibility: .hidden
        )
    )
    var arrivals: String?

    @Option(
        help: ArgumentHelp(
            "Find the highest rate that keeps a goal such as 'p99<20ms,errors<0.1%', by runs of -d each; the "
                + "first has the rate of --rate. (default rate: 1000)",
            valueName: "GOAL"
        )
    )
    var searchMax: String?

    @Option(
        help: ArgumentHelp(
            "Without a rate: how long a connection rests after an answer: 100ms, evenly 50ms-150ms, or exp:100ms "
                + "(exponential, that mean). (default: 0)",
            valueName: "TIME"
        )
    )
    var think: String?

    @Option(
        help: ArgumentHelp(
            "How long to wait for late answers after the end. (default: 1s with a rate, otherwise 0)",
            valueName: "TIME",
            visibility: .hidden
        )
    )
    var drain: String?

    @Option(
        help: ArgumentHelp(
            "Poll for this time before each request is due, such as 50us, instead of sleeping: requests leave more "
                + "punctually, and each thread occupies a core. (default: 0)",
            valueName: "TIME",
            visibility: .hidden
        )
    )
    var spin: String?

    @Option(
        help: ArgumentHelp(
            "With a rate: how far volley's own lateness may move a percentile before the run is invalid. "
                + "(default: 1ms)",
            valueName: "TIME",
            visibility: .hidden
        )
    )
    var maxLag: String?

    @Option(
        help: ArgumentHelp(
            "The seed of all random choices, a whole number: the same seed makes the same choices. (default: 1)",
            valueName: "N",
            visibility: .hidden
        )
    )
    var seed: String?

    /// Whether the requests have a schedule.
    var isScheduled: Bool { rate != nil || searchMax != nil || !stage.isEmpty && crowdPeak == nil }

    /// The most connections of any stage; nil unless the stages are numbers of connections. Malformed stages are
    /// reported later.
    var crowdPeak: UInt64? {
        if case .connections(let crowd)? = try? StagePlan(stage) { crowd.peak } else { nil }
    }

    /// The search and its first rate; nil where none is wanted.
    func search() throws(UsageError) -> (SearchGoal, Rate)? {
        guard let searchMax else { return nil }
        return (try SearchGoal(searchMax), try Rate(rate ?? "1000", for: "--rate"))
    }
}

extension LoadOptions {
    /// Reads the flags. `duration` is the value of `-d`, or wrk's ten seconds.
    mutating func setPace(_ flags: PaceFlags, isTimed: Bool, isScheduled: Bool) throws(UsageError) {
        guard flags.rate == nil || flags.stage.isEmpty else {
            throw UsageError("--rate and --stage exclude each other: a stage has its rate, such as 30s@1k")
        }
        guard flags.searchMax == nil || flags.stage.isEmpty && requests == nil else {
            throw UsageError("--search-max tries one rate for -d each time: leave --stage and -n out")
        }
        if let text = flags.rate ?? (flags.searchMax == nil ? nil : "1000") {
            try setRate(text)
        } else if !flags.stage.isEmpty {
            guard !isTimed else { throw UsageError("-d and --stage exclude each other: the stages say how long") }
            try setStages(flags.stage)
        }
        try setArrivals(flags.arrivals, isScheduled: isScheduled)
        think = try flags.think.map { text throws(UsageError) in try Pause(text, for: "--think") }
        guard think == nil || profile == nil else {
            throw UsageError("--think belongs to a closed loop: with --rate and --stage the schedule says when")
        }
        try setTimes(flags, isScheduled: isScheduled)
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

    private mutating func setRate(_ text: String) throws(UsageError) {
        let rate = try Rate(text, for: "--rate")
        // A run that only `-n` ends has no duration, so the profile lasts as long as any run may.
        let profile = LoadProfile(rate: rate, duration: duration ?? Quantity.longest)
        guard profile.count > 0 else { throw UsageError("--rate: no request comes due") }
        self.profile = profile
    }

    private mutating func setStages(_ texts: [String]) throws(UsageError) {
        switch try StagePlan(texts) {
        case .rates(let profile): (self.profile, duration) = (profile, profile.duration)
        case .connections(let crowd):
            (self.crowd, duration) = (crowd, crowd.duration)
            guard requests == nil else {
                throw UsageError("-n and --stage with connections exclude each other: the stages say how long")
            }
            guard pipeline == 1, work == .requests else {
                throw UsageError(
                    "--stage with connections is for plain requests: leave --pipeline and --handshake-only out"
                )
            }
        }
    }

    private mutating func setArrivals(_ text: String?, isScheduled: Bool) throws(UsageError) {
        switch text {
        case nil: break
        case "even"? where isScheduled: isPoisson = false
        case "poisson"? where isScheduled: isPoisson = true
        case "even"?, "poisson"?: throw UsageError("--arrivals is about a rate: use it with --rate or --stage")
        case let other?: throw UsageError("--arrivals \(quoted(other)) is unknown: use even or poisson")
        }
    }

    private mutating func setTimes(_ flags: PaceFlags, isScheduled: Bool) throws(UsageError) {
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
    }
}
