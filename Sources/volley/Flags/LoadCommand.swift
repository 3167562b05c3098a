import ArgumentParser
import UncurlHTTP1
import UncurlLoad
import UncurlLoadReports
import UncurlReactor
import UncurlTestServer

/// The command line of volley. Values stay text here. ``LoadOptions`` reads them, so that every error message is one
/// line in the same words.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley",
        abstract: "A load tester for HTTP/1.1 servers over TCP and TLS, with wrk's flags.",
        usage: "volley [-t N] [-c N] [-d TIME | -n N] [options] [URL]",
        discussion: """
            Numbers may have fractions, powers of ten, and k, M or G (1.5k, 1e3); times have us, ms, s, m or h, and \
            are seconds without (0.2s, 1h30m); shares are such as 0.1% or 0.001. A file named - is standard input or \
            output. Without a URL, volley starts its own server and tests that (--self).

            Exit status: 0 success; 1 the command line or the machine does not allow the run; 2 a condition of \
            --fail-if holds or its figure was not measured, or no rate keeps --search-max; 3 volley did not keep up \
            with --rate or --stage, and nothing failed; 4 requests or connections failed, or nothing was completed; \
            5 all answered, but some with a status other than 2xx or 3xx; 130 interrupted: the first SIGINT ends the \
            run and its report is written, a second one ends volley at once.

            --help shows the common flags, --help-all every flag.

            Commands, each with --help: `volley lead` distributes a run over other machines, `volley worker` works for \
            a Locust master, `volley merge` combines the reports of a run's parts, `volley compare` compares two \
            reports, `volley check` checks a scenario file. `volley schema` prints the JSON report's schema, and \
            `volley schema scenario` a scenario file's.

            An https server's certificate is verified unless --insecure says otherwise, and sessions are resumed \
            unless --no-resume does.
            """,
        version: "volley \(PackageVersion.text)"
    )

    @Argument(help: ArgumentHelp("What to request, such as https://127.0.0.1:8443/path.", valueName: "URL"))
    var url: String?

    @Flag(
        name: .customLong("self"),
        help: "Test volley's own server. Without a URL that is so, but --fail-if and --search-max want it said."
    )
    var ownServer = false

    @Option(
        name: [.customShort("c", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Connections of all threads together, from 1 to 1M; with a rate, the most that are opened. (default: "
                + "10, with a rate 256; at most -n)",
            valueName: "N"
        )
    )
    var connections: String?

    @Option(
        name: [.customShort("t", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Threads, each with an event loop of its own, from 1 to 1,024. (default: 2, at most -c)",
            valueName: "N"
        )
    )
    var threads: String?

    @Option(
        name: [.customShort("d", allowingJoined: true), .customShort("z", allowingJoined: true), .long],
        help: ArgumentHelp("How long to measure, at most 744h. (default: 10s, without -n)", valueName: "TIME")
    )
    var duration: String?

    @Option(
        name: [.customShort("n", allowingJoined: true), .long],
        help: ArgumentHelp(
            "How many requests to send, all threads together; with -d, the run ends with the first of both.",
            valueName: "N"
        )
    )
    var requests: String?

    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A header field for each request; as in curl, 'Name;' has no value, and 'Name:' leaves volley's own "
                + "field out; repeatable.",
            valueName: "'Name: value'"
        )
    )
    var header: [String] = []

    @Flag(
        name: [.customShort("L"), .long],
        help: "Report ten percentiles of the latencies, from 10 % to 99.999 %, their mean and deviation."
    )
    var latency = false

    @Option(
        name: [.customShort("T", allowingJoined: true), .long],
        help: ArgumentHelp(
            "The limit of a connect, and of a request until its response has ended, at most 744h. (default: 2s, "
                + "with --stream none)",
            valueName: "TIME"
        )
    )
    var timeout: String?

    @Option(
        name: [.customShort("m", allowingJoined: true), .customShort("X", allowingJoined: true), .long],
        help: ArgumentHelp("The method. (default: GET, or POST with a body)", valueName: "METHOD")
    )
    var method: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The content of each request.", valueName: "TEXT")
    )
    var body: String?

    @Option(help: ArgumentHelp("A file with the content of each request, at most 256 MiB.", valueName: "FILE"))
    var bodyFile: String?

    @OptionGroup(title: "What each request carries")
    var content: ContentFlags

    @Option(
        help: ArgumentHelp(
            "How many requests are under way on each connection (RFC 9112 §9.3.2), from 1 to 1,024.",
            valueName: "N"
        )
    )
    var pipeline = "1"

    @Option(
        help: ArgumentHelp(
            "How long to load the server before measuring; no figure includes this time. (default: 0)",
            valueName: "TIME"
        )
    )
    var warmup: String?

    @Option(
        help: ArgumentHelp(
            "The most connections that are opened a second, all threads together, at most 1G. (default: no limit)",
            valueName: "N[/s]",
            visibility: .hidden
        )
    )
    var connectRate: String?

    @Option(
        help: ArgumentHelp(
            "Open a new connection for each request, and end it by FIN or RST. (default: keep connections)",
            valueName: "fin|rst"
        )
    )
    var close: String?

    @Option(
        help: ArgumentHelp(
            "Addresses of this machine to connect from, in turn: a comma list, with CIDR blocks, at most 65,536; "
                + "repeatable. (default: the kernel chooses)",
            valueName: "LIST",
            visibility: .hidden
        )
    )
    var sourceAddress: [String] = []

    @Option(
        help: ArgumentHelp(
            "Connect to a unix socket in the place of the URL's host; @NAME is an abstract one.",
            valueName: "PATH"
        )
    )
    var unixSocket: String?

    @Option(
        help: ArgumentHelp(
            "For the first host and port connect to the second, as in curl; repeatable.",
            valueName: "HOST:PORT:HOST:PORT"
        )
    )
    var connectTo: [String] = []

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Look names up in IPv4 only.")
    var ipv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Look names up in IPv6 only.")
    var ipv6 = false

    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Reach the target by a proxy: http, https, socks5 or socks5h, with user and password if it requires "
                + "them. (default: what "
                + "http_proxy, https_proxy, all_proxy and no_proxy say, for another machine; '' for none)",
            valueName: "URL"
        )
    )
    var proxy: String?

    @OptionGroup(title: "What is requested")
    var what: InputFlags

    @OptionGroup(title: "WebSockets")
    var webSocket: WebSocketFlags

    @OptionGroup(title: "When requests are sent")
    var pace: PaceFlags

    @OptionGroup(title: "Limits of connections")
    var limits: ConnectionFlags

    @OptionGroup(title: "TLS")
    var security: SecurityFlags

    @Option(
        help: ArgumentHelp(
            "text, wrk, json, html, hgrm (percentiles), csv (intervals), hlog (HdrHistogram's interval log), "
                + "requests (a line each), "
                + "markdown, junit or github (annotations, and the step's summary), to standard output or a file; "
                + "repeatable. "
                + "(default: text)",
            valueName: "FORMAT[=FILE]"
        )
    )
    var format: [String] = []

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp(
            "The file of the first --format without one that its name allows, or of a report in the format of its "
                + "suffix: .json, .html, .csv, "
                + ".hlog, .hgrm, .md, .xml (JUnit), .txt; repeatable.",
            valueName: "FILE"
        )
    )
    var output: [String] = []

    @Option(
        help: ArgumentHelp(
            "Run part I, counted from 0, of N parts: its share of connections, requests and rate. In a Kubernetes "
                + "Indexed Job "
                + "write /N: JOB_COMPLETION_INDEX is I. `volley merge` adds the parts' reports up.",
            valueName: "I/N"
        )
    )
    var shard: String?

    @Option(
        help: ArgumentHelp(
            "Start at this time, in seconds since 1970, so that all parts of a run start at once. (default: at once)",
            valueName: "SECONDS",
            visibility: .hidden
        )
    )
    var startAt: String?

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp(
            "How many times to make the run, from 1 to 1,000; the report combines them all, and says how far "
                + "they differ.",
            valueName: "N"
        )
    )
    var repeats = "1"

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Exit with 2 if this holds: p99>50ms, errors>0.1%, rps<1000, raw_p99.9>1s, max>2s …; of each stretch "
                + "of the run: "
                + "'p99>50ms over 30s'; repeatable.",
            valueName: "CONDITION"
        )
    )
    var failIf: [String] = []

    @Flag(help: "End the run as soon as a condition of --fail-if holds, once a second was measured.")
    var abortOnFail = false

    @Option(
        help: ArgumentHelp("How long an interval in csv, hlog, json and html lasts, at least 100ms.", valueName: "TIME")
    )
    var interval = LoadCommand.usualInterval
    static let usualInterval = "1s"

    @Option(
        help: ArgumentHelp(
            "Serve the counts so far under /metrics at this port, in Prometheus' text format; 0 takes any free port.",
            valueName: "PORT"
        )
    )
    var prometheus: String?

    @Option(
        help: ArgumentHelp(
            "Push the counts so far to an OpenTelemetry collector, each --interval and at the end (OTLP/HTTP, JSON).",
            valueName: "URL"
        )
    )
    var otlp: String?

    @Option(
        help: ArgumentHelp(
            "How long to wait after the end for one more scrape of --prometheus. (default: 0)",
            valueName: "TIME",
            visibility: .hidden
        )
    )
    var linger: String?

    @Flag(help: "Draw rate and latency on the terminal while the run goes on.")
    var live = false

    @Flag(help: "Show no progress line.")
    var noProgress = false

    @Flag(name: [.customShort("q"), .long], help: "Write only errors to standard error: no progress line, no notes.")
    var quiet = false

    @Flag(help: ArgumentHelp("Print the JSON report's schema and end.", visibility: .hidden))
    var schema = false

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
        let others =
            [
                ("-m", method != nil), ("-H", !header.isEmpty), ("--body", body != nil),
                ("--body-file", bodyFile != nil),
                ("--form", !what.form.isEmpty), ("--user", content.user != nil), ("--cookie", !content.cookie.isEmpty),
                ("--cookies", what.cookies), ("--redirects", what.redirects != nil), ("--input", !what.input.isEmpty),
                ("--scenario", what.scenario != nil), ("--replay", what.replay != nil),
                ("--pipeline", pipeline != "1"), ("--retry", limits.retry),
                ("--close", close != nil), ("--requests-per-connection", limits.requestsPerConnection != nil),
                ("--handshake-only", security.handshakeOnly), ("--websocket", webSocket.isWanted(url)),
            ] + content.contents
        if let flag = others.first(where: \.1)?.0 {
            throw UsageError("\(flag) and --raw exclude each other: the octets of the files are all that is sent")
        }
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
