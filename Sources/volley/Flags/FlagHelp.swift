import ArgumentParser
import UncurlLoad

/// What `--help` says of each flag: its name, the name of its value, and a sentence. Only `--help-all` shows a flag
/// with a dot before its name.
private let page = """
    url <URL> What to request, such as https://127.0.0.1:8443/path.
    self Test volley's own server. Without a URL that is so, but --fail-if and --search-max want it said.
    connections <N> Connections of all threads together, from 1 to 1M; with a rate, the most that are opened.
      (default: 10, with a rate 256; at most -n)
    threads <N> Threads, each with an event loop of its own, from 1 to 1,024. (default: 2, at most -c)
    duration <TIME> How long to measure, at most 744h. (default: 10s, without -n)
    requests <N> How many requests to send, all threads together; with -d, the run ends with the first of both.
    header <'Name: value'> A header field for each request; as in curl, 'Name;' has no value, and 'Name:' leaves
      volley's own field out; repeatable.
    latency Report ten percentiles of the latencies, from 10 % to 99.999 %, their mean and deviation.
    timeout <TIME> The limit of a connect, and of a request until its response has ended, at most 744h. (default: 2s,
      with --stream none)
    method <METHOD> The method. (default: GET, or POST with a body)
    body <TEXT> The content of each request.
    body-file <FILE> A file with the content of each request, at most 256 MiB.
    pipeline <N> How many requests are under way on each connection (RFC 9112 §9.3.2), from 1 to 1,024.
    warmup <TIME> How long to load the server before measuring; no figure includes this time. (default: 0)
    .connect-rate <N[/s]> The most connections that are opened a second, all threads together, at most 1G. (default:
      no limit)
    close <fin|rst> Open a new connection for each request, and end it by FIN or RST. (default: keep connections)
    .source-address <LIST> Addresses of this machine to connect from, in turn: a comma list, with CIDR blocks, at most
      65,536; repeatable. (default: the kernel chooses)
    unix-socket <PATH> Connect to a unix socket in the place of the URL's host; @NAME is an abstract one.
    connect-to <HOST:PORT:HOST:PORT> For the first host and port connect to the second, as in curl; repeatable.
    ipv4 Look names up in IPv4 only.
    ipv6 Look names up in IPv6 only.
    proxy <URL> Reach the target by a proxy: http, https, socks5 or socks5h, with user and password if it requires
      them. (default: what http_proxy, https_proxy, all_proxy and no_proxy say, for another machine; '' for none)
    format <FORMAT[=FILE]> text, wrk, json, html, hgrm (percentiles), csv (intervals), hlog (HdrHistogram's interval
      log), requests (a line each), markdown, junit or github (annotations, and the step's summary), to standard output
      or a file; repeatable. (default: text)
    output <FILE> The file of the first --format without one that its name allows, or of a report in the format of its
      suffix: .json, .html, .csv, .hlog, .hgrm, .md, .xml (JUnit), .txt; repeatable.
    shard <I/N> Run part I, counted from 0, of N parts: its share of connections, requests and rate. In a Kubernetes
      Indexed Job write /N: JOB_COMPLETION_INDEX is I. `volley merge` adds the parts' reports up.
    .start-at <SECONDS> Start at this time, in seconds since 1970, so that all parts of a run start at once. (default:
      at once)
    repeat <N> How many times to make the run, from 1 to 1,000; the report combines them all, and says how far they
      differ.
    fail-if <CONDITION> Exit with 2 if this holds: p99>50ms, errors>0.1%, rps<1000, raw_p99.9>1s, max>2s …; of each
      stretch of the run: 'p99>50ms over 30s'; repeatable.
    abort-on-fail End the run as soon as a condition of --fail-if holds, once a second was measured.
    interval <TIME> How long an interval in csv, hlog, json and html lasts, at least 100ms.
    prometheus <PORT> Serve the counts so far under /metrics at this port, in Prometheus' text format; 0 takes any
      free port.
    otlp <URL> Push the counts so far to an OpenTelemetry collector, each --interval and at the end (OTLP/HTTP, JSON).
    .linger <TIME> How long to wait after the end for one more scrape of --prometheus. (default: 0)
    live Draw rate and latency on the terminal while the run goes on.
    no-progress Show no progress line.
    quiet Write only errors to standard error: no progress line, no notes.
    .schema Print the JSON report's schema and end.
    connect-timeout <TIME> The limit of a connect with its TLS handshake, less than --timeout. (default: --timeout)
    .first-byte-timeout <TIME> The limit from a request's last byte to its response's first, less than --timeout.
      (default: none)
    .idle-timeout <TIME> The longest time without a byte in either direction, at least 20ms and less than --timeout,
      exact to 10 ms. (default: no limit)
    requests-per-connection <N> Open a new connection after this many requests, and end the old one by FIN, or as
      --close says. (default: no limit)
    .connection-age <TIME[-TIME]> Replace a connection of this age after its answer has come; with 20s-40s each has an
      age of its own between these. (default: no limit)
    .limit-rate <[up:|down:]N> The most bytes a second that each connection sends and reads: 10k; up:1k or down:10k
      for one way; repeatable. (default: no limit)
    retry Send a request once more if its kept connection ends before any byte of the answer and its method may be
      repeated. Without this flag such a request counts as failed; with it the reports count how many were sent again.
    data <TEXT> As in curl: content of a form, its parts joined by &; @FILE for a file's without its line ends;
      repeatable. Sent as application/x-www-form-urlencoded unless -H says otherwise.
    json <TEXT> As in curl: JSON content, its parts one after the other; @FILE for a file's; repeatable. Sent as
      application/json, which is accepted too, unless -H says otherwise.
    user <USER:PASSWORD> Send these by Basic authentication (RFC 7617).
    cookie <NAME=VALUE[; …]|FILE> Send these cookies, or those of a file in Netscape's format where there is no =;
      repeatable. With --cookies, or a file, each user begins with them and keeps what it is given.
    input <FORMAT=FILE> Take the requests from a file in the format urls, vegeta, vegeta-json, har, access-log, curl
      or postman, at most 256 MiB; repeatable.
    .raw <[NAME=]FILE> Send the octets of this file unchanged as a request; several take turns, each with figures of
      its own, by the file's name or NAME; repeatable.
    scenario <FILE> Have each user follow the scenario in a file: steps with values from answers and data files,
      pauses, loops, checks. `volley check FILE` checks one.
    order <ORDER> Send the requests of --input or --raw in their order, all threads together, or at random by their
      weights. (default: in-order)
    replay <FACTOR> Send the requests of a HAR or a log at their recorded times: 1 at that speed, 2 twice as fast, up
      to 1M.
    template Fill in {{counter}}, {{random:1-9}}, {{uuid}}, {{line:FILE}} … for each request, in URL, fields and body.
    form <NAME=VALUE> Send a multipart form with this part; as in curl, @FILE is a file, <FILE its contents as a
      value, and ;type= may follow; repeatable.
    cookies Each connection is a user that keeps its cookies.
    redirects <N> How many redirections in a row are followed, at most 100; one more is a failure. -n does not count
      them. (default: 0, a redirection is an answer)
    expect-status <LIST> The statuses that are a success, such as 200,204, 2xx or 300-399; another is a failure.
      (default: no status is a failure; others than 2xx and 3xx are HTTP errors)
    expect-header <'Name[: value]'> A field that a response must have; without it the request counts as failed;
      repeatable.
    expect-body <TEXT> A text that a response's content must contain; without it the request counts as failed.
    stream <sse|ndjson|bytes> Answers are streams of server-sent events (sse), of lines (ndjson), or of whatever comes
      at once (bytes): count events, the time to the first, and the gaps between them.
    .stall <TIME> The shortest gap between two events that is a stall. (default: 1s)
    rate <RATE> Requests a second of all threads together, at most 1G: 1000, 2.5k, 0.2, 90/m, 100/h. The latency then
      begins when each was due. (default: as fast as answers come)
    stage <TIME@RATE[,…]> Rates one after the other, such as 30s@1k,1m@5k,linear: linear is a ramp from the rate
      before. Without a rate, numbers of connections: 30s@100c,1m@500c,linear; repeatable.
    .arrivals <even|poisson> With a rate: requests come due at equal distances, or by chance as in a Poisson process.
      (default: even)
    search-max <GOAL> Find the highest rate that keeps a goal such as 'p99<20ms,errors<0.1%', by runs of -d each; the
      first has the rate of --rate. (default rate: 1000)
    think <TIME> Without a rate: how long a connection rests after an answer: 100ms, evenly 50ms-150ms, or exp:100ms
      (exponential, that mean). (default: 0)
    .drain <TIME> How long to wait for late answers after the end. (default: 1s with a rate, otherwise 0)
    .spin <TIME> Poll for this time before each request is due, such as 50us, instead of sleeping: requests leave more
      punctually, and each thread occupies a core. (default: 0)
    .max-lag <TIME> With a rate: how far volley's own lateness may move a percentile before the run is invalid.
      (default: 1ms)
    .seed <N> The seed of all random choices, a whole number: the same seed makes the same choices. (default: 1)
    insecure Accept any certificate of the server and of an https proxy. With http it changes nothing.
    cacert <FILE> A file with the certificates of trusted authorities in PEM, in place of the system's.
    .capath <DIR> A directory of such files; with --cacert, both are used.
    cert <FILE> The client's certificate in PEM, or with its key in PKCS #12, at most 1 MiB.
    key <FILE> The private key of --cert in PEM, where it is not in the same file.
    pass <TEXT> The password of the private key.
    sni <NAME> The server name to send and to verify instead of the URL's host.
    tls-min <1.2|1.3> The oldest TLS version. (default: 1.2)
    tls-max <1.2|1.3> The newest TLS version. (default: 1.3)
    .ciphers <LIST> Cipher suites for TLS 1.2, in OpenSSL's notation.
    .tls13-ciphers <LIST> Cipher suites for TLS 1.3, in OpenSSL's notation.
    no-resume Make a full handshake for every connection; resume no session.
    handshake-only Only connect, make the TLS handshake and close again: send no request.
    websocket Open a WebSocket on each connection and send messages: a request is a message, and its answer the next
      that comes. URLs of ws and wss need no flag.
    message <TEXT> The content of each message, or @FILE for a file's content. (default: 64 letters)
    .message-size <N> The size of each message in bytes, at most 64M.
    .binary Send binary messages, not text in UTF-8.
    .expect-echo Count an answer that differs from its message as a failure.
    merge-format <FORMAT[=FILE]> text, json, html or hgrm; hlog from logs; repeatable. (default: text)
    merge-output <FILE> The file of the first --format without one, or of a report in the format of its suffix.
    merge-report <REPORT> JSON reports, or .hlog files.
    compare-tolerance <SHARE> Ignore changes below this share, even significant ones.
    compare-fail-if <CONDITION> Exit with 2 if this holds and not otherwise: p99>+10%, rps<-5%, errors>+0%,
      timeout>+0%; repeatable.
    compare-before <BEFORE> The earlier report.
    compare-after <AFTER> The later report.
    worker-master <HOST[:PORT]> Where the master listens for workers; its port is 5557 by default.
    worker-orphan <stop|run> Whether the load goes on (run) or ends (stop) while the worker looks for a lost master,
      for a minute. (default: run)
    lead-on <COMMAND> A command that runs `volley part`; repeatable, one part each.
    check-file <FILE> The scenario file.
    """

extension NameSpecification {
    /// A long name, and letters whose value may follow at once, as in `-n5`.
    static func joined(_ letters: Character...) -> NameSpecification {
        NameSpecification(letters.map { .customShort($0, allowingJoined: true) } + [.long])
    }
}

extension ArgumentHelp {
    private typealias Row = (value: String?, text: String, isHidden: Bool)

    private static let rows: [String: Row] = page.replacingEach("\n  ", by: " ").parts(at: "\n")
        .reduce(into: [:]) { rows, line in
            let words = line.parts(at: " ", most: 2)
            let isHidden = words[0].begins(with: ".")
            let value = words[1].begins(with: "<") ? words[1].prefix(before: ">").dropFirst() : nil
            let text = words[1].dropFirst(value.map { $0.count + 3 } ?? 0)
            rows[String(words[0].dropFirst(isHidden ? 1 : 0))] = (value.map(String.init), String(text), isHidden)
        }

    static func of(_ flag: String) -> ArgumentHelp {
        guard let row = rows[flag] else { preconditionFailure("the page of flags has no \(flag)") }
        return ArgumentHelp("\(row.text)", valueName: row.value, visibility: row.isHidden ? .hidden : .default)
    }
}
