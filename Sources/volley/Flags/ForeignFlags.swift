/// What to write here for flags of curl, wrk, hey, oha, ab and k6 that volley lacks.
enum ForeignFlags {
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
