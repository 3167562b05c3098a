import CUncurlLinux
import UncurlHTTP1
import UncurlLoad
import UncurlLoadReports
import UncurlReactor

/// The parts of a lead. They make one run after another.
struct PartCrew {
    private let arguments: [String]
    private var parts: [PartProcess] = []
    private var pool: BlockingPool?
    /// Whether a run has been made; the clocks are reported once.
    private var hasRun = false

    /// How long the start of a part may take, in seconds: it may load an image or wait for a password.
    private static let patience: UInt64 = 120
    /// How many times a part is asked for its time. The fastest answer is used.
    private static let clockRounds = 8
    /// The time from the start message to the start of the run, in milliseconds.
    private static let lead: UInt64 = 500

    init(_ arguments: [String]) { self.arguments = arguments }

    /// Starts a part for each command. The caller calls ``end()`` even if this throws.
    mutating func begin(_ commands: [String]) throws(UsageError) {
        let pool = BlockingPool(name: "parts", threads: commands.count, queue: commands.count)
        self.pool = pool
        for (number, command) in commands.enumerated() {
            let part = try PartProcess(command, number: number)
            parts.append(part)
            do throws(BlockingPool.Refusal) {
                try part.link.begin(on: pool)
            } catch {
                throw UsageError("the messages of \(part.name) cannot be read: \(error)")
            }
        }
    }

    func end() { for part in parts { part.end() } }

    /// - Parameter rate: The rate in place of the command line's; nil for the command line's.
    mutating func measure(
        _ invocation: Invocation,
        rate: Rate?,
        _ files: [ReportFile],
        on stage: inout RunStage
    ) throws(UsageError) -> Run.Measured {
        try prepare(invocation, rate, &stage)
        var load = invocation.load
        load.threads = parts.reduce(0) { $0 + $1.threads }
        let plan = try orUsage(try RunPlan(load, .none))
        var watch = RunWatch(invocation, plan, files: files, live: stage.live, isLead: true)
        return try watch.measure(invocation, on: &stage) { isFirst, watch, stage throws(UsageError) in
            if !isFirst { try prepare(invocation, rate, &stage) }
            return try run(plan, &watch, &stage)
        }
    }

    /// Sends each part its run, and waits until it is ready.
    private func prepare(
        _ invocation: Invocation,
        _ rate: Rate?,
        _ stage: inout RunStage
    ) throws(UsageError) {
        let duration = rate == nil ? nil : invocation.load.duration
        for part in parts {
            part.renew()
            let shard = "\(part.number)/\(parts.count)"
            part.link.send(.run((arguments, shard, invocation.interval, rate, duration)))
        }
        let start = Instant.current()
        var worker = 0
        while let part = parts.first(where: { $0.threads == 0 }) {
            let (messages, isClosed) = part.link.take()
            for message in messages {
                switch message {
                case .ready(let version, let threads):
                    part.threads = threads
                    if version != PackageVersion.text {
                        stage.say("\(part.name) is volley \(version), and this is \(PackageVersion.text)")
                    }
                case .refused(let reason): throw UsageError("\(part.name): \(reason)")
                default: throw UsageError("\(part.name) sent an unexpected message: is it another version of volley?")
                }
            }
            guard part.threads == 0 else { continue }
            try need(!isClosed, "\(part.name) ended before the run: its command is to run `volley part`")
            guard Instant.current().nanoseconds(since: start) < Int64(Self.patience) * 1_000_000_000 else {
                throw UsageError("\(part.name) was not ready within \(Self.patience) s")
            }
            if stage.wait(nanoseconds: 1_000_000_000) {
                throw UsageError("interrupted while waiting for \(part.name): nothing was started")
            }
        }
        for part in parts {
            part.firstWorker = worker
            worker += part.threads
        }
    }

    // MARK: Clocks

    /// The offset of a part's clock from this one, in nanoseconds, and its largest error.
    private func skew(_ part: PartProcess, _ stage: inout RunStage) throws(UsageError) -> (ahead: Int64, error: Int64) {
        var best: (ahead: Int64, error: Int64)?
        for _ in 0..<Self.clockRounds {
            let asked = Int64(clamping: uncurl_clock_ns(CLOCK_REALTIME))
            part.link.send(.clock)
            let theirs = try answer(part, &stage)
            let now = Int64(clamping: uncurl_clock_ns(CLOCK_REALTIME))
            let error = (now - asked) / 2
            if error < best?.error ?? .max { best = (Int64(clamping: theirs) - (asked + error), error) }
        }
        return best ?? (0, 0)
    }

    /// The offsets of all parts' clocks, in nanoseconds, and before the first run a note on each.
    private mutating func compareClocks(
        _ stage: inout RunStage
    ) throws(UsageError) -> (skews: [Int64], notes: [String]) {
        var skews: [Int64] = []
        var notes: [String] = []
        for part in parts {
            let (ahead, error) = try skew(part, &stage)
            skews.append(ahead)
            if hasRun { continue }
            let way = "\(timeText(ahead.magnitude)) \(ahead < 0 ? "behind" : "ahead")"
            notes.append("the clock of \(part.name) is \(way), to within \(timeText(error.magnitude)): allowed for")
        }
        hasRun = true
        return (skews, notes)
    }

    private func answer(_ part: PartProcess, _ stage: inout RunStage) throws(UsageError) -> UInt64 {
        while true {
            let (messages, isClosed) = part.link.take()
            if case .time(let time)? = messages.first { return time }
            try need(messages.isEmpty && !isClosed, "\(part.name) ended before the run, or sent an unexpected message")
            if stage.wait(nanoseconds: 1_000_000_000) {
                throw UsageError("interrupted while the clocks were compared: nothing was started")
            }
        }
    }

    // MARK: The run

    private mutating func run(
        _ plan: RunPlan,
        _ watch: inout RunWatch,
        _ stage: inout RunStage
    ) throws(UsageError) -> RunResult {
        let clocks = try compareClocks(&stage)
        var notes = clocks.notes
        let now = UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME))
        let start = now / 1_000_000 + Self.lead
        for (part, skew) in zip(parts, clocks.skews) {
            part.link.send(.start(at: UInt64(clamping: Int64(start) + skew / 1_000_000)))
        }
        let begun = Instant.current().advanced(byNanoseconds: Int64(start * 1_000_000 - now))
        let board = watch.board()
        var lost: [String] = []
        var interrupted = false
        var isEnding = false
        watch.begin(startedAt: start)
        while isUnderWay(board) {
            for part in parts where !part.hasEnded && !part.hasVanished {
                if hear(part, board, &notes) {
                    lost.append("\(part.name) ended in the middle of the run: its figures are missing from then on")
                }
            }
            // Stops the other parts where one is lost or the run must end.
            if !isEnding, interrupted || !lost.isEmpty || watch.isToEnd {
                isEnding = true
                for part in parts where !part.hasVanished { part.link.send(.stop) }
            }
            guard isUnderWay(board) else { break }
            if stage.wait(nanoseconds: watch.span) { interrupted = true }
            watch.turn(elapsed: UInt64(clamping: Instant.current().nanoseconds(since: begun)))
        }
        var result = watch.result(board, startedAt: start, interrupted: interrupted)
        result.lost = lost
        result.notes += notes
        return result
    }

    /// Whether counts are missing, or the last message of a part. The next run must not receive that message.
    private func isUnderWay(_ board: WorkerBoard) -> Bool {
        board.finished == nil || parts.contains { !$0.hasEnded && !$0.hasVanished }
    }

    /// Processes the messages that a part has sent since the last call.
    ///
    /// - Returns: true if the part has ended before its last message.
    private func hear(_ part: PartProcess, _ board: WorkerBoard, _ notes: inout [String]) -> Bool {
        let (messages, isClosed) = part.link.take()
        for message in messages {
            switch message {
            case .interval(var told) where told.worker < part.threads:
                told.worker += part.firstWorker
                board.intervals?.put(told)
            case .result(let worker, let result) where worker < part.threads:
                board.finished(part.firstWorker + worker, result)
            case .note(let text): notes.append("\(part.name): \(oneLine(text, limit: 400))")
            case .end: part.hasEnded = true
            default: break
            }
        }
        guard isClosed, !part.hasEnded else { return false }
        part.hasVanished = true
        for worker in 0..<part.threads {
            board.lost(part.firstWorker + worker)
        }
        return true
    }
}
