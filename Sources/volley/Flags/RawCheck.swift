import UncurlLoad

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
