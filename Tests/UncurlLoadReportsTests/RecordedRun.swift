import LoadTestSupport
import Testing
import UncurlReactor
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports

/// A run that is played to the recorders of two threads, always in the same way.
struct RecordedRun: Sendable, CustomTestStringConvertible {
    /// The recorder of a thread, and the numbers that it plays with.
    struct Player {
        let metrics: WorkerMetrics
        fileprivate var state: UInt64

        /// The next number below a limit.
        mutating func below(_ limit: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % limit
        }

        mutating func latency() -> UInt64 { 200_000 + below(40) * 50_000 }
    }

    let name: String
    let options: @Sendable (inout LoadOptions) throws -> Void
    let change: @Sendable (inout RunResult) -> Void
    /// Plays one request of an interval.
    let play: @Sendable (inout Player) -> Void

    var testDescription: String { name }

    init(
        _ name: String,
        _ options: @escaping @Sendable (inout LoadOptions) throws -> Void = { _ in },
        change: @escaping @Sendable (inout RunResult) -> Void = { _ in },
        play: @escaping @Sendable (inout Player) -> Void
    ) {
        (self.name, self.options, self.change, self.play) = (name, options, change, play)
    }

    private static let second: UInt64 = 1_000_000_000

    private func plan() throws -> RunPlan {
        try sampleResult { options in
            options.duration = 3 * Self.second
            options.connections = 8
            try self.options(&options)
        }.plan
    }

    /// The counts of each thread, in each of three seconds.
    private func counts(seed: UInt64, _ plan: RunPlan) -> [[Metrics]] {
        (0..<2).map { thread in
            let metrics = WorkerMetrics(start: 0, shape: plan.noMetrics)
            var player = Player(metrics: metrics, state: seed * 1_000 + UInt64(thread))
            if plan.options.work == .requests {
                for _ in 0..<4 { metrics.connected(after: 90_000 + player.below(9) * 1_000) }
            }
            return (0..<3).map { second in
                if second == 2, plan.options.drain > 0 { metrics.beginDrain() }
                for _ in 0..<12 { play(&player) }
                metrics.markRate(at: UInt64(second + 1) * Self.second)
                return metrics.exchange(for: plan.noMetrics)
            }
        }
    }

    func intervals(seed: UInt64, _ plan: RunPlan) -> [Interval] {
        let counts = counts(seed: seed, plan)
        return (0..<3).map { second in
            var sum = Metrics()
            for thread in counts { sum.merge(thread[second]) }
            let start = UInt64(second) * Self.second
            return Interval(start: start, end: start + Self.second, stolen: second == 1 ? 7_000_000 : 0, metrics: sum)
        }
    }

    func result(seed: UInt64) throws -> RunResult {
        let plan = try plan()
        let workers = counts(seed: seed, plan).enumerated().map { index, parts -> WorkerResult in
            (
                metrics: parts.reduce(into: Metrics()) { $0.merge($1) },
                connections: 4,
                start: Instant(nanoseconds: 5_000 + Int64(index)),
                end: Instant(nanoseconds: 3_000_005_000 - Int64(index)),
                core: (used: 250_000_000 + UInt64(index), queued: 5)
            )
        }
        var result = RunResult(plan: plan, startedAt: 1_760_000_000_000, workers: workers, interrupted: false)
        for interval in intervals(seed: seed, plan) { result.course.add(interval, of: plan.options.work) }
        change(&result)
        return result
    }
}

/// What requests do.
extension RecordedRun.Player {
    mutating func answered(_ status: Int = 200, latency: UInt64? = nil) {
        let latency = latency ?? self.latency()
        metrics.sent()
        metrics.wrote(wireBytes: 40, bodyBytes: 3)
        metrics.read(wireBytes: 240)
        metrics.add(128, to: .bodyBytesIn)
        metrics.completed(status: status, latency: latency, responseStart: latency * 9 / 10)
    }

    mutating func failed(_ phase: String, _ kind: FailureClass, errno: CInt = 0, detail: String = "") {
        metrics.sent()
        let failure = Failure(Phase(rawValue: phase)!, kind, errno: errno, detail: detail)
        metrics.failed(failure, latency: 2_000_000_000, at: 1_000_000 * below(900), example: "\"\(phase)\" & <more>")
    }

    mutating func unconnected(_ phase: String, _ kind: FailureClass, errno: CInt) {
        metrics.connectionFailed(Failure(Phase(rawValue: phase)!, kind, errno: errno), at: 5, example: "127.0.0.1:8080")
    }

    /// Plays a request of a schedule.
    mutating func due(_ answer: (inout Self, UInt64) -> Void) {
        let lag = below(30) * 1_000
        metrics.due(noticedAfter: lag)
        metrics.record(lag + 20_000, as: .wait, of: .schedule)
        let latency = latency()
        answer(&self, latency)
        metrics.corrected(latency + lag + 20_000, lag: lag)
    }

    mutating func streamed() {
        answered()
        let count = below(4)
        guard count > 0 else { return metrics.silent(corrected: 900_000_000) }
        metrics.firstEvent(latency(), corrected: 1_000_000 + latency())
        metrics.events(count)
        for _ in 0..<count { metrics.gap(below(3) * 400_000_000, stall: 500_000_000) }
    }

    mutating func messaged() {
        switch below(8) {
        case 0:
            metrics.opened(after: 300_000 + below(9) * 10_000)
            metrics.kept(webSockets: 3)
        case 1: metrics.add(to: .pushed, of: .webSocket)
        case 2: metrics.add(to: .socketsDropped, of: .webSocket)
        case 3: failed("message", .closeFrame, detail: "1001")
        default:
            metrics.sent()
            metrics.wrote(wireBytes: 20, bodyBytes: 14)
            metrics.read(wireBytes: 16)
            metrics.answered(after: latency())
        }
    }
}

extension RecordedRun {
    private static let errors: @Sendable (inout Player) -> Void = { player in
        switch player.below(14) {
        case 0: player.failed("first-byte", .timeout)
        case 1: player.failed("first-byte", .closedBeforeAnswer)
        case 2: player.failed("body", .closedInBody)
        case 3: player.failed("head", .malformed, detail: "a field | without a colon")
        case 4: player.failed("write", .reset, errno: 104)
        case 5: player.unconnected("connect", .refused, errno: 111)
        case 6: player.unconnected("resolve", .unresolved, errno: 0)
        case 7: player.answered(503)
        case 8: player.answered(404)
        default: player.answered()
        }
    }

    private static let scheduled: @Sendable (inout Player) -> Void = { player in
        switch player.below(12) {
        case 0: player.metrics.unsent(2, age: 40_000_000)
        case 1:
            player.metrics.due(3, noticedAfter: 50_000)
            player.metrics.add(to: .refused, of: .schedule)
            player.unconnected("connect", .timeout, errno: 110)
        case 2: player.due { $0.answered(500, latency: $1) }
        case 3: player.metrics.add(2, to: .delayed, of: .schedule)
        case 4:
            player.due { $0.answered(latency: $1) }
            player.metrics.add(to: .followUps)
        default: player.due { $0.answered(latency: $1) }
        }
    }

    private static let profile = LoadProfile([
        LoadStage(duration: 1_000_000_000, from: Rate(perSecond: 10), to: Rate(perSecond: 40)),
        LoadStage(duration: 2_000_000_000, from: Rate(perSecond: 40), to: Rate(perSecond: 40)),
    ])

    private static func condition(_ text: String, _ word: String, above limit: Double) throws -> Threshold {
        guard let metric = ThresholdMetric(word) else { throw UsageError.nothingToMerge }
        return Threshold(text, metric, .above, limit: limit, isRelative: false)
    }

    /// Handshakes as another process sends them.
    private static func handshakes(_ metrics: inout Metrics) {
        var times = LatencyHistogram()
        for number in 1...30 { times.record(UInt64(number) * 100_000) }
        let tree = JSONTree.object([
            (
                "tls",
                .object([
                    ("min", .integer(100_000)), ("max", .integer(3_000_000)), ("sum", .integer(times.sum)),
                    ("over", .integer(0)), ("hdr", .string(times.hdr)),
                ])
            ),
            (
                "handshakes",
                .object([
                    ("full", .integer(20)), ("resumed", .integer(10)),
                    (
                        "agreements",
                        .array([
                            .array([.integer(0x0304), "TLS_AES_128_GCM_SHA256", .integer(25)]),
                            .array([.integer(0x0303), "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", .integer(5)]),
                        ])
                    ),
                ])
            ),
        ])
        if let others = Metrics.decode(tree) { metrics.merge(others) }
    }

    static let all: [RecordedRun] = [
        RecordedRun("plain") { $0.answered() },
        RecordedRun("errors", play: errors),
        RecordedRun(
            "empty",
            { $0.requests = 10 },
            play: { _ in }
        ),
        RecordedRun(
            "tls",
            { $0.showsDistribution = true },
            change: { handshakes(&$0.metrics) },
            play: { $0.answered() }
        ),
        RecordedRun(
            "handshakes",
            {
                ($0.work, $0.showsDistribution) = (.handshakes, true)
                $0.thresholds = [
                    try condition("rps>1", "rps", above: 1), try condition("completed>1M", "completed", above: 1e6),
                ]
            },
            change: { handshakes(&$0.metrics) },
            play: { player in
                player.metrics.connected(after: player.latency() / 4)
                if player.below(7) == 0 { player.unconnected("tls", .untrusted, errno: 0) }
                if player.below(9) == 0 { player.metrics.add(to: .connectionsUnfinished) }
            }
        ),
        RecordedRun("schedule", { $0.profile = profile }, play: scheduled),
        RecordedRun(
            "drained",
            {
                ($0.profile, $0.drain, $0.isPoisson) = (profile, 2_000_000_000, true)
                ($0.warmup, $0.showsDistribution) = (1_000_000_000, true)
            },
            play: { player in
                player.due { $0.answered($0.below(5) == 0 ? 502 : 200, latency: $1) }
                if player.below(3) == 0 { player.metrics.drained(isSuccess: player.below(2) == 0) }
            }
        ),
        RecordedRun(
            "late",
            { $0.profile = profile },
            play: { player in
                player.metrics.due(noticedAfter: 30_000_000)
                player.answered()
                player.metrics.record(31_000_000, as: .wait, of: .schedule)
                player.metrics.corrected(32_000_000, lag: 30_000_000)
            }
        ),
        RecordedRun(
            "sse",
            { $0.stream = (.sse, 500_000_000) },
            play: { $0.streamed() }
        ),
        RecordedRun(
            "ndjson",
            {
                ($0.stream, $0.profile, $0.drain) = ((.ndjson, 500_000_000), profile, 1_000_000_000)
            },
            play: { player in
                player.due { player, _ in player.streamed() }
            }
        ),
        RecordedRun(
            "websocket",
            { $0.webSocket = (Array("hello".utf8), false, true) },
            play: { $0.messaged() }
        ),
        RecordedRun(
            "scheduled-websocket",
            {
                $0.webSocket = ([1, 2, 3], true, false)
                ($0.profile, $0.drain) = (profile, 1_000_000_000)
            },
            play: { player in
                player.due { player, _ in player.messaged() }
            }
        ),
        RecordedRun(
            "names",
            {
                $0.visitNames = ["a", "b, \"quoted\"", "c"]
                $0.visit = { _ in }
            },
            play: { player in
                let name = Int(player.below(2))
                let (latency, isSuccess) = (player.latency(), player.below(5) > 0)
                player.answered(isSuccess ? 200 : 404, latency: latency)
                player.metrics.completed(name: name, isSuccess: isSuccess)
                player.metrics.read(bodyBytes: 128, name: name)
                if isSuccess { player.metrics.took(latency, name: name) }
                if player.below(9) == 0 {
                    player.failed("first-byte", .reset)
                    player.metrics.failed(name: name)
                }
                if player.below(9) == 0 { player.metrics.drained(isSuccess: isSuccess, name: name) }
            }
        ),
        RecordedRun(
            "sent-again",
            { $0.retries = true },
            play: { player in
                player.answered()
                if player.below(4) == 0 { player.metrics.repeated() }
            }
        ),
        RecordedRun(
            "redirects",
            { $0.redirects = 3 },
            play: { player in
                player.answered(player.below(3) == 0 ? 302 : 200)
                if player.below(3) == 0 { player.metrics.add(to: .redirects) }
                if player.below(3) == 0 { player.metrics.add(to: .followUps) }
                if player.below(5) == 0 { player.metrics.strayed(1, at: 7, example: "stray") }
            }
        ),
        RecordedRun(
            "interrupted",
            change: { $0.interrupted = true },
            play: { player in
                player.answered()
                if player.below(4) == 0 { player.metrics.sent() }
            }
        ),
        RecordedRun(
            "limits",
            {
                $0.limits.connect = 400_000_000
                $0.limits.idle = 600_000_000
                ($0.limits.age, $0.limits.sending, $0.limits.requests) = (1_000...2_000, 5_000, 9)
                ($0.think, $0.timeout) = (.fixed(3_000_000), LoadOptions.longest)
                $0.crowd = CrowdProfile([LoadStage(duration: 1_000_000_000, from: 1, to: 8)])
                $0.thresholds = [
                    try condition("p50>1us", "p50", above: 1_000), try condition("errors>99%", "errors", above: 0.99),
                    try condition("sent_again>0", "sent_again", above: 0),
                    try condition("failed>3", "failed", above: 3),
                    try condition("ttfb_p99>1s", "ttfb_p99", above: 1e9),
                    try condition("timeout>0", "timeout", above: 0), try condition("events>3", "events", above: 3),
                ]
            },
            play: errors
        ),
        RecordedRun(
            "search",
            { options in
                let goal = SearchGoal(
                    "p50<1s,errors<5%",
                    [(50, below: 1_000_000_000)],
                    errors: 0.05,
                    condition: "goal"
                )
                (options.search, options.profile) = (goal, profile)
            },
            play: scheduled
        ),
        RecordedRun(
            "crawl",
            { $0.reuse = .fin },
            play: { $0.answered(latency: 3_700_000_000_000) }
        ),
    ]
}
