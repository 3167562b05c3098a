import ArgumentParser
import UncurlLoad

/// What the help says of each flag. A group of flags begins with its question; that of another command than volley has
/// the command's name before it, and that of all commands `any`. A row is a flag's name, the name of its value, and its
/// words: those before the bar fit a line of `--help`, and `--help-all` has the others too. A flag with a dot before
/// its name is one of `--help-all` alone.
private let page = """
    # What to request
    url <URL> The target, such as https://127.0.0.1:8443/path.
    self Test volley's own server, as without a URL. | With --fail-if and --search-max it must be said.
    method <METHOD> The method. (default: GET, or POST with a body)
    header <NAME: VALUE> A header, as in -H 'X-Id: 7'; repeatable. | As in curl, 'Name;' has no value, and 'Name:' leaves
      volley's own header out.
    body <TEXT> The body of each request.
    json <TEXT> A JSON body, as in curl; @FILE for a file's. | Repeatable: the parts follow each other. Sent as
      application/json, which is accepted too, unless -H says otherwise.
    form <NAME=VALUE> A part of a multipart form; repeatable. | As in curl, @FILE is a file, <FILE the text of a file as
      a value, and ;type= may follow.
    user <USER:PASSWORD> Basic authentication (RFC 7617).
    input <FORMAT=FILE> Requests from a file: urls=F, har=F, curl=F … | The formats are urls, vegeta, vegeta-json, har,
      access-log, curl and postman; a file has at most 256 MiB; repeatable.
    scenario <FILE> Visits of several requests, from a file. | Each user follows its steps, with values from responses
      and data files, pauses, loops and checks. `volley check FILE` checks a file.
    template Fill in {{counter}}, {{uuid}}, {{line:FILE}} … | For each request, in URL, headers and body; also
      {{random:1-9}} and others.
    .body-file <FILE> A file with the body of each request, at most 256 MiB.
    .data <TEXT> As in curl: a form as the body, its parts joined by &; @FILE for a file's without its line ends;
      repeatable. Sent as application/x-www-form-urlencoded unless -H says otherwise.
    .cookie <NAME=VALUE[; …]|FILE> Send these cookies, or those of a file in Netscape's format where there is no =;
      repeatable. With --cookies, or a file, each user begins with them and keeps what it is given.
    .cookies Each connection is a user that keeps its cookies.
    .redirects <N> How many redirections in a row are followed, at most 100; one more is a failure. -n does not count
      them. (default: 0, the redirection is the response)
    .order <ORDER> Send the requests of --input or --raw in their order, all threads together, or at random by their
      weights. (default: in-order)
    .replay <FACTOR> Send the requests of a HAR or a log at their recorded times: 1 at that speed, 2 twice as fast, up
      to 1M.
    .raw <[NAME=]FILE> Send the bytes of this file unchanged as a request; several take turns, each with figures of its
      own, by the file's name or NAME; repeatable.
    .handshake-only Only connect, make the TLS handshake and close again: send no request.
    # Streams and WebSockets
    .stream <sse|ndjson|bytes> Responses are streams of server-sent events (sse), of lines (ndjson), or of whatever comes
      at once (bytes): count events, the time to the first, and the gaps between them.
    .stall <TIME> The shortest gap between two events that is a stall. (default: 1s)
    .websocket Open a WebSocket on each connection and send messages: a request is a message, and its response the next
      that comes. URLs of ws and wss need no flag.
    .message <TEXT> The text of each message, or @FILE for a file's. (default: 64 letters)
    .message-size <N> The size of each message in bytes, at most 64M.
    .binary Send binary messages, not text in UTF-8.
    # How much load
    connections <N> Connections of all threads. (default: 10) | With a rate, the most that are opened, 256 by default;
      from 1 to 1M, at most -n.
    threads <N> Threads, each with an event loop. (default: 2) | From 1 to 1,024, at most -c.
    rate <RATE> Requests a second: 1000, 2.5k, 90/m, 100/h. | Of all threads together, at most 1G. The latency then
      begins when each was due. (default: as fast as responses come)
    stage <TIME@RATE[,…]> Rates in turn: 30s@1k,1m@5k,linear. | linear is a ramp from the rate before. Without a rate,
      numbers of connections: 30s@100c,1m@500c,linear; repeatable.
    search-max <GOAL> Find the highest rate that keeps 'p99<20ms'. | Or several limits: 'p99<20ms,errors<0.1%'. It makes
      runs of -d each; the first has the rate of --rate. (default rate: 1000)
    .think <TIME> Without a rate: how long a connection rests after a response: 100ms, evenly 50ms-150ms, or exp:100ms
      (exponential, that mean). (default: 0)
    .arrivals <even|poisson> With a rate: requests come due at equal distances, or by chance as in a Poisson process.
      (default: even)
    .pipeline <N> How many requests are under way on each connection (RFC 9112 §9.3.2), from 1 to 1,024.
    .spin <TIME> Poll for this time before each request is due, such as 50us, instead of sleeping: requests leave more
      punctually, and each thread occupies a core. (default: 0)
    .seed <N> The seed of all random choices, a whole number: the same seed makes the same choices. (default: 1)
    # How long
    duration <TIME> How long to measure. (default: 10s, without -n) | At most 744h.
    requests <N> How many requests to send, all threads together. | With -d, the run ends with the first of both.
    warmup <TIME> How long to load the server before measuring. | No figure includes this time. (default: 0)
    .drain <TIME> How long to wait for late responses after the end. (default: 1s with a rate, otherwise 0)
    .repeat <N> How many times to make the run, from 1 to 1,000; the report combines them all, and says how far they
      differ.
    # How to connect
    timeout <TIME> The time limit of a request. (default: 2s) | It limits a connect, too; at most 744h; with --stream there is
      none by default.
    insecure Accept any certificate. | The server's and an https proxy's; with http it changes nothing.
    cacert <FILE> Trust these authorities, not the system's (PEM).
    proxy <URL> A proxy: http, https, socks5 or socks5h. | With user and password if it requires them. (default: what
      http_proxy, https_proxy, all_proxy and no_proxy say, for another machine; '' for none)
    .close <fin|rst> Open a new connection for each request, and end it by FIN or RST. (default: keep connections)
    .connect-to <HOST:PORT:HOST:PORT> For the first host and port connect to the second, as in curl; repeatable.
    .unix-socket <PATH> Connect to a unix socket in the place of the URL's host; @NAME is an abstract one.
    .ipv4 Look names up in IPv4 only.
    .ipv6 Look names up in IPv6 only.
    .source-address <LIST> Addresses of this machine to connect from, in turn: a comma list, with CIDR blocks, at most
      65,536; repeatable. (default: the kernel chooses)
    .connect-rate <N[/s]> The most connections that are opened a second, all threads together, at most 1G. (default:
      no limit)
    # Limits of a connection
    .connect-timeout <TIME> The limit of a connect with its TLS handshake, less than --timeout. (default: --timeout)
    .first-byte-timeout <TIME> The limit from a request's last byte to its response's first, less than --timeout.
      (default: none)
    .idle-timeout <TIME> The longest time without a byte in either direction, at least 20ms and less than --timeout,
      exact to 10 ms. (default: no limit)
    .requests-per-connection <N> Open a new connection after this many requests, and end the old one by FIN, or as
      --close says. (default: no limit)
    .connection-age <TIME[-TIME]> Replace a connection of this age after its response has come; with 20s-40s each has an
      age of its own between these. (default: no limit)
    .limit-rate <[up:|down:]N> The most bytes a second that each connection sends and reads: 10k; up:1k or down:10k
      for one way; repeatable. (default: no limit)
    # TLS
    .capath <DIR> A directory of files such as --cacert names; with --cacert, both are used.
    .cert <FILE> The client's certificate in PEM, or with its key in PKCS #12, at most 1 MiB.
    .key <FILE> The private key of --cert in PEM, where it is not in the same file.
    .pass <TEXT> The password of the private key.
    .sni <NAME> The server name to send and to verify instead of the URL's host.
    .tls-min <1.2|1.3> The oldest TLS version. (default: 1.2)
    .tls-max <1.2|1.3> The newest TLS version. (default: 1.3)
    .ciphers <LIST> Cipher suites for TLS 1.2, in OpenSSL's notation.
    .tls13-ciphers <LIST> Cipher suites for TLS 1.3, in OpenSSL's notation.
    .no-resume Make a full handshake for every connection; resume no session.
    # What counts as a failure
    expect-status <LIST> Statuses that succeed: 200,204, 2xx, 300-399. | Another is a failure. (default: no status is
      a failure; others than 2xx and 3xx are HTTP errors)
    expect-body <TEXT> A text that each response's body must contain. | Without it the request counts as failed.
    fail-if <CONDITION> Exit with 2 if p99>50ms, errors>0.1%, rps<1000 … | Also raw_p99.9>1s, max>2s and others; of each
      stretch of the run: 'p99>50ms over 30s'; repeatable.
    abort-on-fail End the run as soon as --fail-if holds. | Once a second was measured.
    .expect-header <NAME[: VALUE]> A header that a response must have; without it the request counts as failed;
      repeatable.
    .expect-echo Count a message that differs from the one it responds to as a failure.
    .retry Send a request once more if its kept connection ends before any byte of the response and its method may be
      repeated. Without this flag such a request counts as failed; with it the reports count how many were sent again.
    .max-lag <TIME> With a rate: how far volley's own lateness may move a percentile before the run is invalid.
      (default: 1ms)
    # What to write
    output <FILE> A report: FILE.json, .html, .csv, .md, .xml … | The suffix says the format: those, .hlog, .hgrm and
      .txt; .xml is JUnit's. Where a --format without a file allows that name, it is written there. Repeatable.
    format <FORMAT[=FILE]> json, html, wrk, github … (default: text) | The others are hgrm (percentiles), csv
      (intervals), hlog (HdrHistogram's interval log), requests (a line each), markdown and junit; github has annotations,
      and the step's summary. To standard output or a file; repeatable.
    latency Report ten percentiles, mean and deviation. | The percentiles are from 10 % to 99.999 %.
    live Draw rate and latency while the run goes on. | On the terminal, in its whole width.
    quiet Write only errors to standard error. | No progress line, no notes.
    .no-progress Show no progress line.
    .interval <TIME> How long an interval in csv, hlog, json and html lasts, at least 100ms.
    .prometheus <PORT> Serve the counts so far under /metrics at this port, in Prometheus' text format; 0 takes any
      free port.
    .linger <TIME> How long to wait after the end for one more scrape of --prometheus. (default: 0)
    .otlp <URL> Push the counts so far to an OpenTelemetry collector, each --interval and at the end (OTLP/HTTP, JSON).
    .schema Print the JSON report's schema and end.
    # Parts of a run
    .shard <I/N> Run part I, counted from 0, of N parts: its share of connections, requests and rate. In a Kubernetes
      Indexed Job write /N: JOB_COMPLETION_INDEX is I. `volley merge` adds the parts' reports up.
    .start-at <SECONDS> Start at this time, in seconds since 1970, so that all parts of a run start at once. (default:
      at once)
    # lead: Which parts
    on <COMMAND> A command that runs `volley part`; repeatable, one part each.
    # worker: Which master
    master <HOST[:PORT]> Where the master listens for workers; its port is 5557 by default.
    orphan <stop|run> Whether the load goes on (run) or ends (stop) while the worker looks for a lost master, for a
      minute.
    locust-coarse Count response times as coarsely as Locust's own workers do, for old dashboards.
    # merge: What to merge
    report <REPORT> JSON reports, or .hlog files.
    format <FORMAT[=FILE]> text, json, html or hgrm; hlog from logs; repeatable. (default: text)
    output <FILE> The file of the first --format without one, or of a report in the format of its suffix.
    # compare: What to compare
    before <BEFORE> The earlier report.
    after <AFTER> The later report.
    tolerance <SHARE> Ignore changes below this share, even significant ones.
    fail-if <CONDITION> Exit with 2 if this holds and not otherwise: p99>+10%, rps<-5%, errors>+0%, timeout>+0%;
      repeatable.
    # check: What to check
    file <FILE> The scenario file.
    # any: Help
    help The common flags.
    help-all Every flag, and every exit status.
    version The version.
    """

/// The rows of the flags, in their groups. The common ones of a group come first.
struct FlagGroup: Sendable {
    struct Row: Sendable {
        /// The flag's long name without its dashes, or an argument's name in small letters.
        let name: String
        let value: String?
        /// What fits a line of `--help`, and what else there is to say.
        let words: String
        let more: String
        let isCommon: Bool
    }

    /// The name of the command that has these flags: empty for volley itself, `any` for all commands.
    let command: String
    let question: String
    private(set) var rows: [Row] = []

    static let all: [FlagGroup] = page.replacingEach("\n  ", by: " ").parts(at: "\n")
        .reduce(into: []) { groups, line in
            if line.begins(with: "# ") {
                groups.append(FlagGroup(heading: line.dropFirst(2)))
            } else if !groups.isEmpty {
                groups[groups.count - 1].rows.append(Row(line))
            }
        }

    private init(heading: Substring) {
        let parts = heading.parts(at: ":", most: 2)
        (command, question) = parts.count == 2 ? (String(parts[0]), parts[1].trimmed) : ("", heading.trimmed)
    }
}

extension FlagGroup.Row {
    fileprivate init(_ line: Substring) {
        let words = line.parts(at: " ", most: 2)
        let isCommon = !words[0].begins(with: ".")
        let value = words[1].begins(with: "<") ? words[1].prefix(before: ">").dropFirst() : nil
        let texts = words[1].dropFirst(value.map { $0.count + 3 } ?? 0).replacingEach(" | ", by: "|")
            .parts(at: "|", most: 2)
        self.init(
            name: String(words[0].dropFirst(isCommon ? 0 : 1)),
            value: value.map(String.init),
            words: String(texts[0]),
            more: texts.count == 2 ? String(texts[1]) : "",
            isCommon: isCommon
        )
    }
}

extension NameSpecification {
    /// A long name, and letters whose value may follow at once, as in `-n5`.
    static func joined(_ letters: Character...) -> NameSpecification {
        NameSpecification(letters.map { .customShort($0, allowingJoined: true) } + [.long])
    }
}

extension ArgumentHelp {
    private static let rows: [String: FlagGroup.Row] = FlagGroup.all.reduce(into: [:]) { rows, group in
        for row in group.rows { rows["\(group.command) \(row.name)"] = row }
    }

    /// - Parameter command: Empty for volley.
    static func of(_ flag: String, _ command: String = "") -> ArgumentHelp {
        guard let row = rows["\(command) \(flag)"] else { preconditionFailure("the page of flags has no \(flag)") }
        return ArgumentHelp("\(row.words)", valueName: row.value)
    }
}
