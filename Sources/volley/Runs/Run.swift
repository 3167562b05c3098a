import UncurlLoad
import UncurlTestServer

/// A run from its options to its reports. It uses the main thread.
struct Run {
    let invocation: Invocation
    let limits: SystemLimits
    let preflight: Preflight

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
    typealias Measured = (result: RunResult, trouble: UsageError?)

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
        let overflows = SystemLimits.listenOverflows()
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
        let now = SystemLimits.listenOverflows()
        if let note = SystemLimits.overflowNote(since: overflows, now: now, isLocal: isLocal) {
            result.notes.append(note)
        }
        if let server { result.notes.append("the embedded server counted \(server.requestCount) requests in all") }
        return (result, watch.trouble)
    }
}

extension SystemLimits {
    /// The connects that this machine's listeners dropped because their accept queues were full, since the start of the
    /// machine or of its network namespace. Such a connect is repeated after one, three and seven seconds, which looks
    /// like a slow server. Nil where `/proc` does not have the count.
    static func listenOverflows(path: String = "/proc/net/netstat") -> UInt64? {
        (try? Files.read(path, limit: 1 << 16)).flatMap { listenOverflows(in: String(decoding: $0, as: UTF8.self)) }
    }

    /// Parses pairs of lines: the names of a group, then its numbers in the same order.
    static func listenOverflows(in text: String) -> UInt64? {
        let rows = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.first == "TcpExt:" }
        guard rows.count == 2, let column = rows[0].firstIndex(of: "ListenOverflows"), column < rows[1].count
        else { return nil }
        return UInt64(rows[1][column])
    }

    /// A note about connects that were dropped since `before`. Nil if there were none, or if the server is on another
    /// machine, whose queues are unknown.
    static func overflowNote(since before: UInt64?, now: UInt64?, isLocal: Bool) -> String? {
        guard isLocal, let before, let now, now > before else { return nil }
        return
            "\(grouped(now - before)) connects met a full accept queue on this machine (ListenOverflows) and were tried "
            + "again after a second or more: give the server a longer backlog, or use --connect-rate"
    }
}
