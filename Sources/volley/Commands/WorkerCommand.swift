import ArgumentParser
import UncurlEngine
import UncurlLoad
import UncurlLocust
import UncurlSemantics

struct WorkerCommand: DocumentedCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley worker",
        abstract: "Make load for a Locust master.",
        usage: "volley worker --master HOST[:PORT] [flags] [URL]",
        discussion: """
            The master says when the load starts and how many users there are. Each user is one busy connection, or a \
            share of a rate. The URL is the argument target_url of the locustfile, with target_rate as the rate of all \
            workers (requests a second), else this command line's URL, else the master's --host. Such a locustfile \
            needs only one empty User class.

            Exit status: as volley; also 1 where no master answers for a minute.
            """,
        helpNames: HelpPage.names
    )

    static let refused = ofMaster + ofReports
    private static let ofMaster = [
        "-c", "-d", "-n", "--warmup", "--rate", "--stage", "--search-max", "--think", "--drain", "--spin",
        "--max-lag", "--arrivals", "--websocket", "--replay", "--handshake-only", "--shard", "--start-at",
    ]
    private static let ofReports = [
        "--format", "-o", "--latency", "--live", "--interval", "--prometheus", "--linger", "--otlp", "--fail-if",
        "--abort-on-fail", "--repeat", "--schema",
    ]

    @Option(help: .of("master", "worker")) var master: String

    @Flag(help: .of("locust-coarse", "worker")) var locustCoarse = false

    @Option(help: .of("orphan", "worker")) var orphan = "run"

    @OptionGroup
    var load: LoadCommand

    func perform() throws(UsageError) -> Verdict {
        let given = load.given
        try given.refuse(Self.ofMaster, "is not for a worker: its master controls the load; leave the flag out")
        try given.refuse(Self.ofReports, "is not for a worker: its master has the figures; leave it out")
        try need(["stop", "run"].contains(orphan), "--orphan \(quoted(orphan)) is unknown: use stop or run")
        var load = load
        // This only allows that many threads: the master says how many users there are.
        if load.threads != nil { load.connections = load.threads }
        let invocation = try Invocation(load)
        let (host, port) = try Self.address(of: master)
        var worker = LocustClient(
            master: host,
            port: port,
            invocation.load,
            isCoarse: locustCoarse,
            isQuiet: !invocation.showsNotes,
            stopsAlone: orphan == "stop"
        )
        return try worker.perform()
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
