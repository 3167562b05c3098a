import ArgumentParser
import UncurlLoad

/// The text of the flags about the lifetime of connections, and about the time limits of a request's parts.
struct ConnectionFlags: ParsableArguments {
    @Option(help: .of("connect-timeout")) var connectTimeout: String?
    @Option(help: .of("first-byte-timeout")) var firstByteTimeout: String?
    @Option(help: .of("idle-timeout")) var idleTimeout: String?
    @Option(help: .of("requests-per-connection")) var requestsPerConnection: String?
    @Option(help: .of("connection-age")) var connectionAge: String?
    @Option(help: .of("limit-rate")) var limitRate: [String] = []
    @Flag(help: .of("retry")) var retry = false
}

extension LoadOptions {
    /// Reads the flags. ``timeout``, ``pipeline``, ``work`` and ``connectRate`` have been read before.
    mutating func setConnections(_ flags: ConnectionFlags, given: Set<String>) throws(UsageError) {
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
            "--first-byte-timeout", "--idle-timeout", "--requests-per-connection", "--connection-age", "--limit-rate",
        ]
        if work == .handshakes {
            let words = "is about requests, and --handshake-only sends none: leave one of them out"
            try given.refuse(["--retry"] + ofRequests, words)
        }
        if pipeline > 1 {
            let words = "is about one request at a time, and --pipeline sends several: leave one of them out"
            try given.refuse(ofRequests, words)
        }
        if let text = flags.requestsPerConnection { try setRequests(perConnection: text) }
        if reuse != .keepAlive {
            let words = "is about kept connections, and each request has one of its own: leave it out"
            try given.refuse(["--connection-age", "--retry"], words)
        }
    }

    private mutating func setRequests(perConnection text: String) throws(UsageError) {
        try need(
            connectRate == nil,
            "--connect-rate and --requests-per-connection exclude each other: connections are replaced as "
                + "soon as they end"
        )
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
        let low = try UInt64(time: ends[0], for: "--connection-age")
        let high = ends.count == 2 ? try UInt64(time: ends[1], for: "--connection-age") : low
        try need(low <= high, "--connection-age \(quoted(text)) ends before it begins: put the less first")
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
        let limit = try UInt64(time: text, for: flag)
        try need(
            limit < timeout,
            "\(flag) \(quoted(text)) is not below --timeout, which comes first: use less, or a longer --timeout"
        )
        return limit
    }
}
