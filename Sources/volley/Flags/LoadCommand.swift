import ArgumentParser
import LoadGenerator
import LoadReports
import Reactor
import TestServer

/// The command line of volley. Values stay text here: ``LoadOptions`` reads them, so that every complaint is one
/// line in the same words.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "volley",
        abstract: "A load tester for HTTP/1.1 servers over TCP and TLS, with wrk's flags.",
        usage: "volley [-t N] [-c N] [-d TIME | -n N] [options] [URL]",
        discussion: """
            Numbers may have fractions, powers of ten, and k, M or G (1.5k, 1e3); times us, ms, s, m or h, seconds without (0.2s, 1h30m); \
            shares are such as 0.1% or 0.001. A file named - is standard input or output. Without a URL, volley starts its own server and \
            tests that.

            Exit status: 0 all well; 1 the command line or the machine does not allow the run; 2 a condition of \
            --fail-if holds, or no rate keeps --search-max; 3 volley did not keep up with --rate or --stage, and nothing failed; 4 requests or connections failed, or nothing was \
            completed; 5 all answered, but some with a status other than 2xx or 3xx; 130 interrupted: \
            the first SIGINT ends the run and has it reported, a second one ends volley at once.

            Commands by the first word, each with --help: `volley worker` works for a Locust master, `volley merge` puts the \
            reports of a run's parts together, `volley compare` compares two reports, `volley schema` prints the JSON report's.

            An https server's certificate is verified unless --insecure says otherwise, and sessions are resumed unless \
            --no-resume does.
            """,
        version: "volley \(VolleyVersion.text)"
    )

    @Argument(help: ArgumentHelp("What to request, such as https://127.0.0.1:8443/path.", valueName: "URL"))
    var url: String?

    @Option(
        name: [.customShort("c", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Connections, all threads together; with a rate, the most of them. (default: 10, with a rate 256; at most -n)",
            valueName: "N"
        )
    )
    var connections: String?

    @Option(
        name: [.customShort("t", allowingJoined: true), .long],
        help: ArgumentHelp("Threads. (default: 2, at most -c)", valueName: "N")
    )
    var threads: String?

    @Option(
        name: [.customShort("d", allowingJoined: true), .long],
        help: ArgumentHelp("How long to measure. (default: 10s, without -n)", valueName: "TIME")
    )
    var duration: String?

    @Option(
        name: [.customShort("n", allowingJoined: true), .long],
        help: ArgumentHelp("How many requests to send; with -d, whichever ends first.", valueName: "N")
    )
    var requests: String?

    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header field for each request; repeatable.", valueName: "'Name: value'")
    )
    var header: [String] = []

    @Flag(name: [.customShort("L"), .long], help: "Report the distribution of latencies in more detail.")
    var latency = false

    @Option(
        name: [.customShort("T", allowingJoined: true), .long],
        help: ArgumentHelp("For a connect, and for a request until its response has ended.", valueName: "TIME")
    )
    var timeout = "2s"

    @Option(
        name: [.customShort("m", allowingJoined: true), .long],
        help: ArgumentHelp("The method. (default: GET, or POST with a body)", valueName: "METHOD")
    )
    var method: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The body of each request.", valueName: "TEXT")
    )
    var body: String?

    @Option(help: ArgumentHelp("A file with the body of each request.", valueName: "FILE"))
    var bodyFile: String?

    @Option(help: ArgumentHelp("Requests under way on each connection.", valueName: "N"))
    var pipeline = "1"

    @Option(help: ArgumentHelp("Load the server this long before measuring.", valueName: "TIME"))
    var warmup: String?

    @Option(help: ArgumentHelp("New connections a second, all threads together.", valueName: "N[/s]"))
    var connectRate: String?

    @Option(help: ArgumentHelp("A new connection for each request, ended by FIN or RST.", valueName: "fin|rst"))
    var close: String?

    @Option(
        help: ArgumentHelp(
            "Addresses to connect from, in turn; a comma list, CIDR blocks too; repeatable.",
            valueName: "LIST"
        )
    )
    var sourceAddress: [String] = []

    @Option(help: ArgumentHelp("Connect to a unix socket; @NAME for an abstract one.", valueName: "PATH"))
    var unixSocket: String?

    @Option(
        help: ArgumentHelp(
            "Connect elsewhere than the URL says, as in curl; repeatable.",
            valueName: "HOST:PORT:HOST:PORT"
        )
    )
    var connectTo: [String] = []

    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Reach the target by a proxy: http, https, socks5 or socks5h, with user and password if it wants them.",
            valueName: "URL"
        )
    )
    var proxy: String?

    @OptionGroup(title: "What is requested")
    var what: InputFlags

    @OptionGroup(title: "When requests are sent")
    var pace: PaceFlags

    @OptionGroup(title: "Limits of connections")
    var limits: ConnectionFlags

    @OptionGroup(title: "TLS")
    var security: SecurityFlags

    @Option(
        help: ArgumentHelp(
            "text, wrk, json, html, hgrm (percentiles), csv (intervals), hlog (HdrHistogram's interval log) or requests (a line "
                + "each), to standard output or a file; repeatable. (default: text)",
            valueName: "FORMAT[=FILE]"
        )
    )
    var format: [String] = []

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp(
            "The file of the first --format without one that its name allows, or a report in the form that it ends in: .json, .html, .csv, "
                + ".hlog, .hgrm, .txt; repeatable.",
            valueName: "FILE"
        )
    )
    var output: [String] = []

    @Option(
        help: ArgumentHelp(
            "Do part I of N (from 0) of the run: of its connections, requests and rate. /N in a Kubernetes Indexed Job, whose "
                + "JOB_COMPLETION_INDEX is I. `volley merge` adds the parts' reports up.",
            valueName: "I/N"
        )
    )
    var shard: String?

    @Option(
        help: ArgumentHelp(
            "Start at this time, in seconds since 1970: all parts of a run at once.",
            valueName: "SECONDS"
        )
    )
    var startAt: String?

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp("Make the run so often, and report all with their spread.", valueName: "N")
    )
    var repeats = "1"

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Exit with 2 if this holds: p99>50ms, errors>0.1%, rps<1000, raw_p99.9>1s, max>2s …; repeatable.",
            valueName: "CONDITION"
        )
    )
    var failIf: [String] = []

    @Option(help: ArgumentHelp("Length of an interval in csv, hlog, json and html.", valueName: "TIME"))
    var interval = LoadCommand.usualInterval
    static let usualInterval = "1s"

    @Option(
        help: ArgumentHelp("Serve Prometheus' text format at this port, under /metrics; 0 for any.", valueName: "PORT")
    )
    var prometheus: String?

    @Option(
        help: ArgumentHelp(
            "After the end, wait so long for one more scrape of --prometheus. (default: 0)",
            valueName: "TIME"
        )
    )
    var linger: String?

    @Flag(help: "Plots of rate and latency on the terminal while it runs.")
    var live = false

    @Flag(help: "No progress line.")
    var noProgress = false

    @Flag(name: [.customShort("q"), .long], help: "No progress line and no notes: standard error has errors only.")
    var quiet = false

    @Flag(help: "Print the JSON report's schema and end.")
    var schema = false

    /// Whether requests are due at instants of their own.
    var isScheduled: Bool { pace.isScheduled || what.replay != nil }
}
