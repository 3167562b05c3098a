import ArgumentParser
import UncurlLoad

/// The text of the flags about the times of requests.
struct PaceFlags: ParsableArguments {
    @Option(name: .joined("R"), help: .of("rate")) var rate: String?
    @Option(help: .of("stage")) var stage: [String] = []
    @Option(help: .of("arrivals")) var arrivals: String?
    @Option(help: .of("search-max")) var searchMax: String?
    @Option(help: .of("think")) var think: String?
    @Option(help: .of("drain")) var drain: String?
    @Option(help: .of("spin")) var spin: String?
    @Option(help: .of("max-lag")) var maxLag: String?
    @Option(help: .of("seed")) var seed: String?

    var isScheduled: Bool { rate != nil || searchMax != nil || !stage.isEmpty && crowdPeak == nil }

    /// The most connections of any stage; nil unless the stages are numbers of connections. Malformed stages are
    /// reported later.
    var crowdPeak: UInt64? {
        (try? StagePlan(stage))?.crowd?.peak
    }

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
        let profile = LoadProfile(rate: rate, duration: duration ?? LoadOptions.longest)
        guard profile.count > 0 else { throw UsageError("--rate: no request comes due") }
        self.profile = profile
    }

    private mutating func setStages(_ texts: [String]) throws(UsageError) {
        let plan = try StagePlan(texts)
        (profile, crowd, duration) = (plan.profile, plan.crowd, plan.profile?.duration ?? plan.crowd?.duration)
        guard crowd == nil || requests == nil else {
            throw UsageError("-n and --stage with connections exclude each other: the stages say how long")
        }
        try need(
            crowd == nil || pipeline == 1 && work == .requests,
            "--stage with connections is for plain requests: leave --pipeline and --handshake-only out"
        )
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
        if let text = flags.drain { drain = try UInt64(time: text, for: "--drain", allowingZero: true) }
        if let text = flags.spin {
            try need(
                isScheduled || think != nil,
                "--spin is for requests that are due at an instant: use it with --rate, --stage or --think"
            )
            spin = try UInt64(time: text, for: "--spin", allowingZero: true)
        }
        if let text = flags.maxLag {
            guard isScheduled else { throw UsageError("--max-lag is about a schedule: use it with --rate or --stage") }
            maxLag = try UInt64(time: text, for: "--max-lag", allowingZero: true)
        }
    }
}
