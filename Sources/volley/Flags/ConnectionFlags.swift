import ArgumentParser
import UncurlLoad

/// The text of the flags about the lifetime of connections, and about the time limits of a request's parts.
struct ConnectionFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The limit of a connect with its TLS handshake, less than --timeout. (default: --timeout)",
            valueName: "TIME"
        )
    )
    var connectTimeout: String?

    @Option(
        help: ArgumentHelp(
            "The limit from a request's last byte to its response's first, less than --timeout. (default: none)",
            valueName: "TIME",
            visibility: .hidden
        )
    )
    var firstByteTimeout: String?

    @Option(
        help: ArgumentHelp(
            "The longest time without a byte in either direction, at least 20ms and less than --timeout, exact to "
                + "10 ms. (default: no limit)",
            valueName: "TIME",
            visibility: .hidden
        )
    )
    var idleTimeout: String?

    @Option(
        help: ArgumentHelp(
            "Open a new connection after this many requests, and end the old one by FIN, or as --close says. "
                + "(default: no limit)",
            valueName: "N"
        )
    )
    var requestsPerConnection: String?

    @Option(
        help: ArgumentHelp(
            "Replace a connection of this age after its answer has come; with 20s-40s each has an age of "
                + "its own between these. (default: no limit)",
            valueName: "TIME[-TIME]",
            visibility: .hidden
        )
    )
    var connectionAge: String?

    @Option(
        help: ArgumentHelp(
            "The most bytes a second that each connection sends and reads: 10k; up:1k or down:10k for one "
                + "way; repeatable. (default: no limit)",
            valueName: "[up:|down:]N",
            visibility: .hidden
        )
    )
    var limitRate: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Send a request once more if its kept connection ends before any byte of the answer and its method "
                + "may be repeated. Without "
                + "this flag such a request counts as failed; with it the reports count how many were sent again."
        )
    )
    var retry = false
}

extension LoadOptions {
    /// Reads the flags. ``timeout``, ``pipeline``, ``work`` and ``connectRate`` have been read before.
    mutating func setConnections(_ flags: ConnectionFlags) throws(UsageError) {
        retries = flags.retry
        limits.age = try flags.connectionAge.map { text throws(UsageError) in try Self.age(text) }
        for text in flags.limitRate { try setRate(text) }
        limits.connect = try part(flags.connectTimeout, "--connect-timeout")
        limits.responseStart = try part(flags.firstByteTimeout, "--first-byte-timeout")
        limits.idle = try part(flags.idleTimeout, "--idle-timeout")
        // The engine checks for idle connections with timers, so the limit is as coarse as the timers are.
        if let idle = limits.idle, idle < 20_000_000 {
            throw UsageError(
                "--idle-timeout \(quoted(flags.idleTimeout ?? "")) is finer than volley's timers: use 20ms or more"
            )
        }
        let ofRequests = [
            ("--first-byte-timeout", limits.responseStart != nil), ("--idle-timeout", limits.idle != nil),
            ("--requests-per-connection", flags.requestsPerConnection != nil),
            ("--connection-age", limits.age != nil), ("--limit-rate", !flags.limitRate.isEmpty),
        ]
        if work == .handshakes, retries {
            throw UsageError("--retry is about requests, and --handshake-only sends none: leave one of them out")
        }
        if work == .handshakes, let flag = ofRequests.first(where: \.1)?.0 {
            throw UsageError("\(flag) is about requests, and --handshake-only sends none: leave one of them out")
        }
        if pipeline > 1, let flag = ofRequests.first(where: \.1)?.0 {
            throw UsageError(
                "\(flag) is about one request at a time, and --pipeline sends several: leave one of them out"
            )
        }
        if let text = flags.requestsPerConnection { try setRequests(perConnection: text) }
        let ofKept = [("--connection-age", limits.age != nil), ("--retry", retries)]
        if reuse != .keepAlive, let flag = ofKept.first(where: \.1)?.0 {
            throw UsageError("\(flag) is about kept connections, and each request has one of its own: leave it out")
        }
    }

    private mutating func setRequests(perConnection text: String) throws(UsageError) {
        guard connectRate == nil else {
            throw UsageError(
                "--connect-rate and --requests-per-connection exclude each other: connections are replaced as "
                    + "soon as they end"
            )
        }
        let count = try Self.count(text, for: "--requests-per-connection", limit: 1_000_000_000)
        // One request per connection is what --close says.
        guard count > 1 else {
            reuse = reuse == .rst ? .rst : .fin
            return
        }
        limits.requests = count
        limits.resets = reuse == .rst
        reuse = .keepAlive
    }

    private static func age(_ text: String) throws(UsageError) -> ClosedRange<UInt64> {
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let low = try Quantity.time(ends[0], for: "--connection-age")
        let high = ends.count == 2 ? try Quantity.time(ends[1], for: "--connection-age") : low
        guard low <= high else {
            throw UsageError("--connection-age \(quoted(text)) ends before it begins: put the less first")
        }
        return low...high
    }

    private mutating func setRate(_ text: String) throws(UsageError) {
        let isUp = text.hasPrefix("up:")
        let isDown = text.hasPrefix("down:")
        var number = String(isUp ? text.dropFirst(3) : isDown ? text.dropFirst(5) : text[...])
        if number.hasSuffix("/s") { number.removeLast(2) }
        let rate = try Self.count(number, for: "--limit-rate", limit: 1_000_000_000_000)
        guard isDown || limits.sending == nil, isUp || limits.receiving == nil else {
            throw UsageError("--limit-rate \(quoted(text)) limits a way that another limits too: give each way one")
        }
        if !isDown { limits.sending = rate }
        if !isUp { limits.receiving = rate }
    }

    private func part(_ text: String?, _ flag: String) throws(UsageError) -> UInt64? {
        guard let text else { return nil }
        let limit = try Quantity.time(text, for: flag)
        guard limit < timeout else {
            throw UsageError(
                "\(flag) \(quoted(text)) is not below --timeout, which comes first: use less, or a longer --timeout"
            )
        }
        return limit
    }
}
