import ArgumentParser
import CLinux
import Glibc
import HTTP1
import LoadGenerator
import Reactor

/// `volley part`: a part of a run that another process leads, by messages on standard input and output.
struct PartRun {
    private let link = PartLink(input: STDIN_FILENO, output: STDOUT_FILENO)

    /// The lead is told why a run cannot be made; the status is 0 where it was told everything.
    func perform() throws(UsageError) -> Verdict {
        var reader = link.reader
        guard case .run(let arguments, let shard, let interval)? = reader.next() else {
            throw UsageError("volley part is for `volley lead`, which tells it what to do on its standard input")
        }
        do throws(UsageError) {
            let invocation = try Self.invocation(arguments, shard: shard, interval: interval)
            try perform(invocation, &reader)
            return .good
        } catch {
            link.send(.refused(error.description))
            return .unusable
        }
    }

    private static func invocation(
        _ arguments: [String],
        shard: String,
        interval: UInt64
    ) throws(UsageError) -> Invocation {
        guard var command = try? LoadCommand.parse(arguments) else {
            throw UsageError("the lead's command line is not one of volley \(PackageVersion.text)")
        }
        command.shard = shard
        var invocation = try Invocation(command)
        // What is shown and written is the lead's.
        (invocation.reports, invocation.chatter) = ([], .quiet)
        (invocation.metricsPort, invocation.collector) = (nil, nil)
        invocation.interval = interval
        return invocation
    }

    private func perform(_ invocation: Invocation, _ reader: inout PartReader) throws(UsageError) {
        let limits = SystemLimits.read()
        let preflight = try orUsage(try Preflight(invocation.load, limits))
        var stage = try RunStage(invocation, preflight, limits)
        defer { stage.close() }
        let plan = RunPlan(invocation.load, preflight)
        let requests = try orUsage(try EngineRequests(plan, embedded: nil))
        link.send(.ready(version: PackageVersion.text, threads: plan.threads))
        guard let start = awaitStart(&reader) else { return }
        let pool = BlockingPool(name: "lead", threads: 1)
        // A lead that has gone, or wants no more, interrupts the run as a user does.
        let heard = reader
        let isHeard =
            (try? pool.run {
                var rest = heard
                while let message = rest.next() { if case .stop = message { break } }
                kill(getpid(), SIGINT)
            }) != nil
        guard isHeard else { throw UsageError("no thread can be started for the lead's messages") }
        var relay = PartRelay(link, plan, interval: invocation.interval)
        let result = try stage.run(plan, requests, &relay, startAt: start)
        for note in result.notes { link.send(.note(note)) }
        link.send(.end)
    }

    /// The time of the start, in milliseconds since 1970; nil if the lead has gone.
    private func awaitStart(_ reader: inout PartReader) -> UInt64? {
        while let message = reader.next() {
            switch message {
            case .clock: link.send(.time(UInt64(clamping: uncurl_clock_ns(CLOCK_REALTIME))))
            case .start(let time): return time
            default: return nil
            }
        }
        return nil
    }
}

/// Tells the lead what was counted, as it comes.
struct PartRelay: RunObserver {
    let intervals: IntervalBoard?
    let log: RequestLogBoard? = nil
    let series = IntervalSeries()
    let isToEnd = false
    private let link: PartLink

    init(_ link: PartLink, _ plan: RunPlan, interval: UInt64) {
        self.link = link
        intervals = IntervalBoard(length: interval, workers: plan.threads, shape: plan.metricsShape)
    }

    var span: UInt64 { max((intervals?.length ?? 0) / 4, 50_000_000) }

    mutating func begin(startedAt: UInt64) {}

    mutating func turn(elapsed: UInt64) {
        for part in intervals?.fetch() ?? [] { link.send(.interval(part)) }
    }

    mutating func finish(_ results: inout [WorkerResult], measured: UInt64) {
        turn(elapsed: 0)
        let begun = results.map(\.start).min() ?? .never
        for (index, result) in results.enumerated() {
            var result = result
            // Its clock is no other machine's.
            result.start = Instant(nanoseconds: result.start.nanoseconds(since: begun))
            result.end = Instant(nanoseconds: result.end.nanoseconds(since: begun))
            link.send(.result(worker: index, result))
        }
    }
}
