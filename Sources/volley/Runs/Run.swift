import UncurlLoad
import UncurlTestServer

/// A run from its options to its reports. It uses the main thread.
struct Run {
    private let invocation: Invocation
    private let limits: SystemLimits
    private let preflight: Preflight

    init(_ invocation: Invocation, limits: SystemLimits = .read()) throws(UsageError) {
        (self.invocation, self.limits) = (invocation, limits)
        preflight = try orUsage(try Preflight(invocation.load, limits))
    }

    /// Carries out the run. It throws every error that can be found before the first connect at that time.
    func perform() throws(UsageError) -> Verdict {
        let files = try ReportFile.open(invocation.reports)
        var stage = try RunStage(invocation, preflight, limits)
        defer { stage.close() }
        return try perform(on: &stage, files)
    }

    private func perform(on stage: inout RunStage, _ files: [ReportFile]) throws(UsageError) -> Verdict {
        for note in RunPlan(invocation.load, preflight).notes { stage.say(note) }
        let measured = try measure(on: &stage, files)
        stage.finishRuns()
        return try Self.report(measured, to: files)
    }

    /// A finished run, and why a report that is written during the run is incomplete.
    typealias Measured = (result: RunResult, trouble: ReportProblem?)

    static func report(_ run: Measured, to files: [ReportFile]) throws(UsageError) -> Verdict {
        try ReportFile.write(files, after: run.trouble) { format throws(UsageError) in try format.text(of: run.result) }
        return run.result.verdict
    }

    /// Makes one run, which may follow others. Its reports replace those of earlier runs.
    func measure(on stage: inout RunStage, _ files: [ReportFile]) throws(UsageError) -> Measured {
        var plan = RunPlan(invocation.load, preflight)
        let server = try orUsage(try plan.startEmbeddedServer())
        defer { server?.stop() }
        let requests = try orUsage(try EngineRequests(plan, embedded: server?.address))
        let queues = ListenQueues()
        var watch = RunWatch(invocation, plan, files: files, live: stage.live)
        var result = try stage.run(plan, requests, &watch, startAt: invocation.startAt)
        for number in 1..<max(invocation.repeats, 1) where !result.interrupted && !watch.isToEnd {
            stage.say("run \(number) of \(invocation.repeats): \(result.runs.last?.text(plan.options.work) ?? "")")
            watch.renew(after: result.measured)
            result.append(try stage.run(plan, requests, &watch))
        }
        result.notes += watch.notes
        (result.watched, result.punctual) = (watch.conditions.values, watch.conditions.punctual)
        let isLocal = invocation.load.targetsThisMachine
        if let note = ListenQueues.note(since: queues, now: ListenQueues(), isLocal: isLocal) {
            result.notes.append(note)
        }
        if let server { result.notes.append("the embedded server counted \(server.requestCount) requests in all") }
        return (result, watch.trouble)
    }
}

/// Counts the connects that this machine's listeners dropped because their accept queues were full. Such a connect is
/// repeated after one, three and seven seconds, which looks like a slow server.
package struct ListenQueues: Hashable, Sendable {
    /// The count since the start of the machine or of its network namespace.
    let overflows: UInt64

    /// Nil where `/proc` does not have the count.
    package init?(path: String = "/proc/net/netstat") {
        guard let bytes = try? Files.read(path, limit: 1 << 16) else { return nil }
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    /// Parses pairs of lines: the names of a group, then its numbers in the same order.
    package init?(_ text: String) {
        let rows = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.first == "TcpExt:" }
        guard rows.count == 2, let column = rows[0].firstIndex(of: "ListenOverflows"), column < rows[1].count,
            let count = UInt64(rows[1][column])
        else { return nil }
        overflows = count
    }

    /// A note about connects that were dropped since `before`. Nil if there were none, or if the server is on another
    /// machine, whose queues are unknown.
    package static func note(since before: ListenQueues?, now: ListenQueues?, isLocal: Bool) -> String? {
        guard isLocal, let before, let now, now.overflows > before.overflows else { return nil }
        return
            "\(grouped(now.overflows - before.overflows)) connects met a full accept queue on this machine (ListenOverflows) and were tried "
            + "again after a second or more: give the server a longer backlog, or use --connect-rate"
    }
}
