import ArgumentParser
import UncurlHTTP1
import UncurlLoad
import UncurlLoadReports
import UncurlReactor
import UncurlTestServer

/// The command line of volley. Values stay text here. ``LoadOptions`` reads them, so that every error message is one
/// line in the same words.
struct LoadCommand: DocumentedCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley",
        abstract: "A load tester for HTTP/1.1 servers over TCP and TLS, with wrk's flags.",
        usage: "volley [flags] [URL]",
        discussion: """
            Numbers may be 1.5k or 1e6, times 500us, 0.2s or 1h30m, shares 0.1% or 0.001. A file named - is standard \
            input or output. Commands, each with --help: lead (a run of several machines), worker (for a Locust \
            master), merge (the reports of a run's parts), compare (two reports), check (a file of scenarios). \
            `volley schema` prints the JSON report's schema, `volley schema scenario` a scenario file's.

            A number may have a fraction, a power of ten, and k, M or G; a time has us, ms, s, m or h, or is in seconds.

            An https server's certificate is verified unless --insecure says otherwise, and sessions are resumed \
            unless --no-resume does.

            Exit status: 0 success; 1 the command line or the machine does not allow the run; 2 a condition of \
            --fail-if holds or its figure was not measured, or no rate keeps --search-max; 3 volley did not keep up \
            with --rate or --stage, and nothing failed; 4 requests or connections failed, or nothing was completed; \
            5 every request has a response, but some have a status other than 2xx or 3xx; 130 interrupted: the first \
            SIGINT ends the run and its report is written, a second one ends volley at once.
            """,
        version: "volley \(PackageVersion.text)",
        helpNames: HelpPage.names
    )

    @Argument(help: .of("url")) var url: String?
    @Flag(name: .customLong("self"), help: .of("self")) var ownServer = false
    @Option(name: .joined("c"), help: .of("connections")) var connections: String?
    @Option(name: .joined("t"), help: .of("threads")) var threads: String?
    @Option(name: .joined("d", "z"), help: .of("duration")) var duration: String?
    @Option(name: .joined("n"), help: .of("requests")) var requests: String?
    @Option(name: .joined("H"), parsing: .unconditionalSingleValue, help: .of("header")) var header: [String] = []
    @Flag(name: [.customShort("L"), .long], help: .of("latency")) var latency = false
    @Option(name: .joined("T"), help: .of("timeout")) var timeout: String?
    @Option(name: .joined("m", "X"), help: .of("method")) var method: String?
    @Option(parsing: .unconditional, help: .of("body")) var body: String?
    @Option(help: .of("body-file")) var bodyFile: String?

    @OptionGroup var content: ContentFlags

    @Option(help: .of("pipeline")) var pipeline = "1"
    @Option(help: .of("warmup")) var warmup: String?
    @Option(help: .of("connect-rate")) var connectRate: String?
    @Option(help: .of("close")) var close: String?
    @Option(help: .of("source-address")) var sourceAddress: [String] = []
    @Option(help: .of("unix-socket")) var unixSocket: String?
    @Option(help: .of("connect-to")) var connectTo: [String] = []
    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: .of("ipv4")) var ipv4 = false
    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: .of("ipv6")) var ipv6 = false
    @Option(name: .joined("x"), help: .of("proxy")) var proxy: String?

    @OptionGroup var what: InputFlags

    @OptionGroup var webSocket: WebSocketFlags

    @OptionGroup var pace: PaceFlags

    @OptionGroup var limits: ConnectionFlags

    @OptionGroup var security: SecurityFlags

    @Option(help: .of("format")) var format: [String] = []
    @Option(name: [.customShort("o"), .long], help: .of("output")) var output: [String] = []
    @Option(help: .of("shard")) var shard: String?
    @Option(help: .of("start-at")) var startAt: String?
    @Option(name: .customLong("repeat"), help: .of("repeat")) var repeats = "1"
    @Option(parsing: .unconditionalSingleValue, help: .of("fail-if")) var failIf: [String] = []
    @Flag(help: .of("abort-on-fail")) var abortOnFail = false
    @Option(help: .of("interval")) var interval = LoadCommand.usualInterval
    static let usualInterval = "1s"

    @Option(help: .of("prometheus")) var prometheus: String?
    @Option(help: .of("otlp")) var otlp: String?
    @Option(help: .of("linger")) var linger: String?
    @Flag(help: .of("live")) var live = false
    @Flag(help: .of("no-progress")) var noProgress = false
    @Flag(name: [.customShort("q"), .long], help: .of("quiet")) var quiet = false
    @Flag(help: .of("schema")) var schema = false

    /// Whether each user keeps cookies: because of --cookies, or because a file of cookies is given.
    var keepsCookies: Bool { what.cookies || content.cookies.count < content.cookie.count }

    /// Whether each request has a time at which it is due.
    var isScheduled: Bool { pace.isScheduled || what.replay != nil }
}

extension LoadCommand {
    /// Refuses flags that would change a request: the octets of `--raw` are sent as they are.
    func checkRaw() throws(UsageError) {
        guard !what.raw.isEmpty else { return }
        guard url != nil else { throw UsageError("--raw needs a URL: it names the server") }
        let others = [
            "-m", "-H", "--body", "--body-file", "--form", "--user", "--cookie", "--cookies", "--redirects", "--input",
            "--scenario", "--replay", "--pipeline", "--retry", "--close", "--requests-per-connection",
            "--handshake-only", "--websocket", "--data", "--json",
        ]
        try given.refuse(others, "and --raw exclude each other: the octets of the files are all that is sent")
    }

    /// The flags that are given, of those that other flags may exclude.
    var given: Set<String> {
        let texts: [(String, String?)] = [
            ("-m", method), ("--body", body), ("--body-file", bodyFile), ("-c", connections), ("-d", duration),
            ("-n", requests), ("--warmup", warmup), ("--close", close), ("--shard", shard), ("--start-at", startAt),
            ("--prometheus", prometheus), ("--linger", linger), ("--otlp", otlp), ("--user", content.user),
            ("--redirects", what.redirects), ("--scenario", what.scenario), ("--replay", what.replay),
            ("--order", what.order), ("--stream", what.stream), ("--expect-status", what.expectStatus),
            ("--message", webSocket.message), ("--message-size", webSocket.messageSize), ("--rate", pace.rate),
            ("--search-max", pace.searchMax), ("--think", pace.think), ("--drain", pace.drain), ("--spin", pace.spin),
            ("--max-lag", pace.maxLag), ("--arrivals", pace.arrivals), ("--idle-timeout", limits.idleTimeout),
            ("--first-byte-timeout", limits.firstByteTimeout), ("--connection-age", limits.connectionAge),
            ("--requests-per-connection", limits.requestsPerConnection), ("--cacert", security.cacert),
            ("--capath", security.capath), ("--cert", security.cert), ("--key", security.key),
            ("--pass", security.password), ("--sni", security.sni), ("--tls-min", security.tlsMin),
            ("--tls-max", security.tlsMax), ("--ciphers", security.ciphers),
            ("--tls13-ciphers", security.tls13Ciphers),
        ]
        let lists: [(String, [String])] = [
            ("-H", header), ("--form", what.form), ("--cookie", content.cookie), ("--input", what.input),
            ("--data", content.data), ("--json", content.json), ("--stage", pace.stage), ("--format", format),
            ("-o", output), ("--fail-if", failIf), ("--limit-rate", limits.limitRate),
            ("--expect-header", what.expectHeader),
        ]
        let choices: [(String, Bool)] = [
            ("--cookies", keepsCookies), ("--pipeline", pipeline != "1"), ("--retry", limits.retry),
            ("--template", what.template), ("--websocket", webSocket.isWanted(url)),
            ("--binary", webSocket.binary), ("--expect-echo", webSocket.expectEcho),
            ("--stage with connections", pace.crowdPeak != nil), ("--latency", latency), ("--live", live),
            ("--interval", interval != Self.usualInterval), ("--abort-on-fail", abortOnFail),
            ("--repeat", repeats != "1"), ("--schema", schema), ("--no-resume", security.noResume),
            ("--handshake-only", security.handshakeOnly),
        ]
        return Set(
            texts.filter { $0.1 != nil }.map(\.0) + lists.filter { !$0.1.isEmpty }.map(\.0)
                + choices.filter(\.1).map(\.0)
        )
    }
}

/// What to write here for flags of curl, wrk, hey, oha, ab and k6 that volley lacks.
extension LoadCommand {
    /// The error message for a command line that ArgumentParser refused with these words; nil where they say enough.
    static func hint(_ words: String, _ line: [String]) -> String? {
        let parts = words.split(separator: "'", omittingEmptySubsequences: false)
        guard parts.count > 2 else { return nil }
        if words.hasPrefix("Unknown option"), let advice = advice[String(parts[1])] {
            return "Unknown option '\(parts[1])': \(advice)"
        }
        // hey's and oha's rate leaves its number as an argument.
        guard words.hasPrefix("Unexpected argument"),
            let (_, rate) = zip(line, line.dropFirst()).first(where: { $0 == "-q" && Double($1) != nil })
        else { return nil }
        return "-q means --quiet here and takes no number: use -R \(rate) for a rate"
    }

    private static let advice: [String: String] = [
        "-s": "for wrk's script use --scenario FILE, for ab's time limit -T", "--script": "use --scenario FILE",
        "-a": "use -u USER:PASSWORD", "-A": "use -H 'Accept: …', or -u USER:PASSWORD for ab's",
        "-C": "use -b NAME=VALUE",
        "-D": "use --body-file FILE", "-p": "use --body-file FILE for ab's, --pipeline N for several requests at once",
        "--data-raw": "use --body TEXT", "--data-binary": "use --body TEXT or --body-file FILE",
        "--data-urlencode": "use --data with the encoded text",
        "-e": "use -o FILE.csv or -o FILE.hgrm, and -H 'Referer: …' for curl's",
        "-g": "use -o FILE.csv or --format requests=FILE", "-w": "use -o FILE.html", "-j": "use --format json",
        "--out": "use -o FILE", "--summary-export": "use -o FILE.json", "--output-format": "use --format",
        "-i": "use -m HEAD for ab's, -n for k6's", "-I": "use -m HEAD", "--head": "use -m HEAD",
        "--request": "use -m METHOD, or -n for their number", "--iterations": "use -n", "--vus": "use -c",
        "--concurrency": "use -c", "--rps": "use --rate", "--qps": "use --rate", "--query-per-second": "use --rate",
        "--latency-correction": "use --rate, whose latencies are always corrected", "--stages": "use --stage",
        "-r": "leave it out: errors end no run; for oha's redirections use --redirects N",
        "--redirect": "use --redirects N", "--location": "use --redirects N", "--max-redirs": "use --redirects N",
        "--disable-redirects": "leave it out: a redirection is an answer here",
        "-l": "leave it out: answers may have any length",
        "--disable-keepalive": "use --close fin", "--disable-compression": "leave it out: none is asked for",
        "--compressed": "use -H 'Accept-Encoding: gzip'", "--host": "use -H 'Host: …'",
        "--user-agent": "use -H 'User-Agent: …'", "--referer": "use -H 'Referer: …'", "--max-time": "use -T",
        "--resolve": "use --connect-to HOST:PORT:HOST:PORT", "--url": "write the URL without a flag",
        "--insecure-skip-tls-verify": "use -k", "--no-tui": "use --no-progress",
        "--rand-regex-url": "use --template with {{random:1-9}} and others",
        "--urls-from-file": "use --input urls=FILE",
        "--http2": "volley speaks HTTP/1.1 only", "--http1.1": "leave it out: volley speaks nothing else",
        "-v": "use --version for wrk's; each failure is in the report", "-V": "use --version",
        "--verbose": "each failure is in the report; --format requests has a line for each request",
    ]
}
