import ArgumentParser
import UncurlEngine
import UncurlLoad
import UncurlLocust

/// `volley worker`: works for a Locust master.
struct WorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley worker",
        abstract: "Make load for a Locust master.",
        usage: "volley worker --master HOST[:PORT] [options] [URL]",
        discussion: """
            The master says when the load starts and how many users there are. Each user is one busy connection, or a \
            share of a rate. The URL is the argument target_url of the locustfile, with target_rate as the rate of all \
            workers (requests a second), else this command line's URL, else the master's --host. Such a locustfile \
            needs only one empty User class.

            Exit status: as volley; also 1 where no master answers for a minute.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Where the master listens for workers; its port is 5557 by default.",
            valueName: "HOST[:PORT]"
        )
    )
    var master: String

    @Flag(help: "Count response times as coarsely as Locust's own workers do, for old dashboards.")
    var locustCoarse = false

    @Option(
        help: ArgumentHelp(
            "Whether the load goes on (run) or ends (stop) while the worker looks for a lost master, for a minute. "
                + "(default: run)",
            valueName: "stop|run"
        )
    )
    var orphan = "run"

    @OptionGroup
    var load: LoadCommand

    func perform() throws(UsageError) -> Verdict {
        try load.checkForWorker()
        guard ["stop", "run"].contains(orphan) else {
            throw UsageError("--orphan \(quoted(orphan)) is unknown: use stop or run")
        }
        var load = load
        // This only allows that many threads: the master says how many users there are.
        if load.threads != nil { load.connections = load.threads }
        let invocation = try Invocation(load)
        let (host, port) = try Self.address(of: master)
        var worker = LocustClient(
            master: host,
            port: port,
            LocustTarget(invocation.load, isCoarse: locustCoarse),
            isQuiet: invocation.chatter == .quiet,
            stopsAlone: orphan == "stop"
        )
        do throws(LocustProblem) { return try worker.perform() } catch { throw UsageError(error) }
    }
}

extension WorkerCommand {
    /// Reads `HOST` or `HOST:PORT`.
    private static func address(of text: String) throws(UsageError) -> (URLHost, UInt16) {
        guard let url = try? TargetURL("http://" + text), url.target == "/", !text.hasSuffix("/") else {
            throw UsageError("--master \(quoted(text)) is no address: use HOST or HOST:PORT such as 10.0.0.7:5557")
        }
        // Without a port in the text, `url.port` is the default of HTTP, and Locust uses 5557.
        return (url.host, text.hasSuffix(":\(url.port)") ? url.port : 5_557)
    }
}

extension LoadCommand {
    /// Refuses flags that have no effect for a worker.
    fileprivate func checkForWorker() throws(UsageError) {
        let ofMaster = [
            ("-c", connections != nil), ("-d", duration != nil), ("-n", requests != nil), ("--warmup", warmup != nil),
            ("--rate", pace.rate != nil), ("--stage", !pace.stage.isEmpty), ("--search-max", pace.searchMax != nil),
            ("--think", pace.think != nil), ("--drain", pace.drain != nil), ("--spin", pace.spin != nil),
            ("--max-lag", pace.maxLag != nil),
            ("--arrivals", pace.arrivals != nil), ("--websocket", webSocket.isWanted(url)),
            ("--replay", what.replay != nil),
            ("--handshake-only", security.handshakeOnly), ("--shard", shard != nil), ("--start-at", startAt != nil),
        ]
        if let flag = ofMaster.first(where: \.1)?.0 {
            throw UsageError(
                "\(flag) is not for a worker: its master controls the load; leave the flag out"
            )
        }
        let ofReports = [
            ("--format", !format.isEmpty), ("-o", !output.isEmpty), ("--latency", latency), ("--live", live),
            ("--interval", interval != Self.usualInterval), ("--prometheus", prometheus != nil),
            ("--linger", linger != nil), ("--otlp", otlp != nil),
            ("--fail-if", !failIf.isEmpty), ("--abort-on-fail", abortOnFail), ("--repeat", repeats != "1"),
        ]
        if let flag = ofReports.first(where: \.1)?.0 {
            throw UsageError("\(flag) is not for a worker: its master has the figures; leave it out")
        }
    }
}
