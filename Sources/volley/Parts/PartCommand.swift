import ArgumentParser
import CUncurlLinux
import UncurlHTTP1
import UncurlLibC
import UncurlLoad
import UncurlReactor

/// `volley part`: makes a part of a run that another process leads by messages on standard input and output.
struct PartCommand: DocumentedCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley part",
        abstract: "Run a part of a run that `volley lead` leads, by messages on standard input and output.",
        usage: "volley part",
        helpNames: HelpPage.names
    )

    /// Makes one run after another until the lead has closed. If a run cannot be made, the lead gets the reason, and
    /// the status is 1; otherwise it is 0.
    func perform() throws(UsageError) -> Verdict {
        // This blocks the signal with which the pool's thread wakes this one, so it comes first.
        _ = SignalWait()
        let link = PartLink(input: STDIN_FILENO, output: STDOUT_FILENO)
        let pool = BlockingPool(name: "lead", threads: 1)
        defer { withExtendedLifetime(pool) {} }
        try need((try? link.begin(on: pool)) != nil, "no thread can be started for the lead's messages")
        var hasRun = false
        while let message = link.next() {
            guard case .run(let order) = message else {
                // A message about a run that is already over.
                guard hasRun else { break }
                continue
            }
            hasRun = true
            do throws(UsageError) {
                try Self.perform(try Self.invocation(order), link)
            } catch {
                link.send(.refused(error.description))
                return .unusable
            }
        }
        try need(hasRun, "volley part is for `volley lead`, which tells it what to do on its standard input")
        return .good
    }

    private static func invocation(_ order: PartMessage.Order) throws(UsageError) -> Invocation {
        guard var command = try? LoadCommand.parse(order.arguments) else {
            throw UsageError("the lead's command line is not one of volley \(PackageVersion.text)")
        }
        command.shard = order.shard
        // The lead decides on the result of a run.
        (command.pace.searchMax, command.repeats, command.failIf, command.abortOnFail) = (nil, "1", [], false)
        if order.rate != nil { command.pace.rate = "1" }
        var invocation = try Invocation(command)
        // The lead shows and writes the reports.
        (invocation.reports, invocation.showsNotes) = ([], false)
        (invocation.showsProgress, invocation.showsPlots) = (false, false)
        (invocation.metricsPort, invocation.collector) = (nil, nil)
        invocation.interval = order.interval
        if let duration = order.duration { invocation.load.duration = duration }
        if let rate = order.rate {
            invocation.load.profile = LoadProfile(rate: rate, duration: invocation.load.duration ?? LoadOptions.longest)
        }
        return invocation
    }

    private static func perform(_ invocation: Invocation, _ link: PartLink) throws(UsageError) {
        let limits = SystemLimits.read()
        let plan = try orUsage(try RunPlan(invocation.load, limits))
        var stage = try RunStage(invocation, plan, limits)
        defer { stage.close() }
        let requests = try orUsage(try EngineRequests(plan, embedded: nil))
        link.send(.ready(version: PackageVersion.text, threads: plan.threads))
        guard let start = awaitStart(link) else { return }
        let intervals = IntervalBoard(length: invocation.interval, workers: plan.threads, shape: plan.noMetrics)
        let board = WorkerBoard(workers: plan.threads, intervals: intervals) { SignalWait.wake() }
        let tell = { for part in intervals.fetch() { link.send(.interval(part)) } }
        let span = max(intervals.length / 4, 50_000_000)
        _ = try stage.run(plan, requests, board, startAt: start, span: span) { _ in
            let (messages, isClosed) = link.take()
            tell()
            return isClosed || messages.contains { if case .stop = $0 { true } else { false } }
        }
        tell()
        let results = board.finished ?? []
        let begun = results.map(\.start).min() ?? .never
        for (index, var result) in results.enumerated() {
            // Times of this machine's clock mean nothing to another machine, so the start is relative.
            result.start = Instant(nanoseconds: result.start.nanoseconds(since: begun))
            result.end = Instant(nanoseconds: result.end.nanoseconds(since: begun))
            link.send(.result(worker: index, result))
        }
        // The lead notes what the figures say: it has all of them.
        for note in plan.notes { link.send(.note(note)) }
        link.send(.end)
    }

    /// The time of the start in milliseconds since 1970; nil if the lead has closed.
    private static func awaitStart(_ link: PartLink) -> UInt64? {
        while let message = link.next() {
            switch message {
            case .clock: link.send(.time(UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME))))
            case .start(let time): return time
            default: return nil
            }
        }
        return nil
    }
}
