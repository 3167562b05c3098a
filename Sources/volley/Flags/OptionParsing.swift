import HTTPEngine
import LoadGenerator
import Reactor

/// What a command line says of the load.
extension LoadOptions {
    init(_ command: LoadCommand) throws(UsageError) {
        var slots = TemplateSlots()
        let input = try InputFormat.read(command.what.input)
        let target = try Self.target(command, input, &slots)
        self.init(target, try Self.request(command, target, &slots))
        inputs = input
        names = .flags
        let isSecure = if case .url(let url) = target { url.isSecure } else { false }
        work = command.security.handshakeOnly ? .handshakes : .requests
        proxy = try Self.proxy(command.proxy, target)
        (duration, requests) = try Self.length(command)
        (connections, threads) = try Self.crowd(command, requests: requests)
        security = try SecurityOptions(
            command.security,
            isSecure: isSecure,
            throughSecureProxy: proxy?.kind == .https,
            connections: connections
        )
        timeout = try Quantity.time(command.timeout, for: "--timeout")
        warmup =
            try command.warmup.map { text throws(UsageError) in
                try Quantity.time(text, for: "--warmup", allowingZero: true)
            } ?? 0
        pipeline = try Self.count(command.pipeline, for: "--pipeline", limit: Self.pipelineLimit)
        connectRate = try Self.connectRate(command.connectRate)
        reuse = try Self.reuse(command.close, pipeline: pipeline, work)
        try setConnections(command.limits)
        sources = try SourceAddressList.parse(command.sourceAddress)
        unixSocket = try Self.unixName(command.unixSocket)
        connectTo = []
        for rule in command.connectTo { connectTo.append(try ConnectToRule(rule)) }
        showsDistribution = command.latency
        for condition in command.failIf { thresholds.append(try Threshold(condition)) }
        try setPace(command.pace, isTimed: command.duration != nil, isScheduled: command.isScheduled)
        try setInputs(command.what, command, slots: slots)
        try Threshold.check(thresholds, inputs)
        try checkCombinations(method: request.method)
        if work == .handshakes { try checkHandshakes(command) }
        if let text = command.shard {
            guard command.pace.searchMax == nil else {
                throw UsageError("--search-max and --shard exclude each other: each part would find a rate of its own")
            }
            try take(Shard(text, completionIndex: Environment.value("JOB_COMPLETION_INDEX")))
        }
    }

    /// `-c` and `-t`. wrk's ten connections and two threads are defaults, and give way to what was asked for:
    /// `-n 1` by itself is one connection on one thread. What was asked for is met or refused.
    private static func crowd(_ command: LoadCommand, requests: UInt64?) throws(UsageError) -> (Int, Int) {
        let asked = try command.connections.map { text throws(UsageError) in
            try count(text, for: "-c", limit: connectionLimit)
        }
        // By a schedule this is the most that a slow server makes it open, and few are opened for a fast one.
        let usual: UInt64 = command.isScheduled ? 256 : 10
        if let peak = command.pace.crowdPeak, let asked, UInt64(asked) != peak {
            throw UsageError("-c \(asked) and --stage with connections exclude each other: the stages say how many")
        }
        let connections = asked ?? Int(command.pace.crowdPeak ?? min(usual, requests ?? usual))
        if let requests, requests < connections {
            throw UsageError(
                "-n \(requests) is less than -c \(connections): each connection sends at least one, use -c \(requests)"
            )
        }
        guard let text = command.threads else { return (connections, min(2, connections)) }
        let threads = try count(text, for: "-t", limit: threadLimit)
        guard connections >= threads else {
            throw UsageError(
                "-c \(connections) is less than -t \(threads): each thread needs a connection, use -t \(connections)"
            )
        }
        return (connections, threads)
    }

    /// `-d` and `-n`: whichever is reached first; ten seconds when neither is given, as in wrk.
    private static func length(_ command: LoadCommand) throws(UsageError) -> (UInt64?, UInt64?) {
        let requests = try command.requests.map { text throws(UsageError) in try Quantity.count(text, for: "-n") }
        guard command.duration != nil || requests == nil else { return (nil, requests) }
        return (try Quantity.time(command.duration ?? "10s", for: "-d"), requests)
    }

    static func count(_ text: String, for flag: String, limit: UInt64) throws(UsageError) -> Int {
        let value = try Quantity.count(text, for: flag)
        guard value <= limit else { throw UsageError("\(flag) \(quoted(text)) is too many: at most \(limit)") }
        return Int(value)
    }

    /// `500`, `500/s`, `1k/s`.
    private static func connectRate(_ text: String?) throws(UsageError) -> UInt64? {
        guard let text else { return nil }
        let number = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
        let rate = try Quantity.count(number, for: "--connect-rate")
        // The gap between two connects is a whole number of nanoseconds.
        guard rate <= 1_000_000_000 else {
            throw UsageError("--connect-rate \(quoted(text)) is too high: at most 1G/s")
        }
        return rate
    }

    private static func reuse(_ text: String?, pipeline: Int, _ work: LoadKind) throws(UsageError) -> ConnectionReuse {
        switch text {
        case nil: return work == .requests ? .keepAlive : .fin
        case "fin" where pipeline == 1: return .fin
        case "rst" where pipeline == 1: return .rst
        case "fin", "rst":
            throw UsageError(
                "--close and --pipeline \(pipeline) exclude each other: a pipeline needs a kept connection"
            )
        case let other?: throw UsageError("--close \(quoted(other)) is unknown: use fin or rst")
        }
    }

    /// A path, or after `@` a name in Linux's abstract space.
    private static func unixName(_ text: String?) throws(UsageError) -> UnixName? {
        guard let text else { return nil }
        let name = text.hasPrefix("@") ? UnixName(abstract: String(text.dropFirst())) : UnixName(path: text)
        guard let name else {
            throw UsageError(
                "--unix-socket \(quoted(text)) is no socket name: use a path, or @NAME for an abstract one, of at most "
                    + "\(UnixName.maximumBytes) bytes"
            )
        }
        return name
    }

    private static func target(
        _ command: LoadCommand,
        _ input: RequestInput,
        _ slots: inout TemplateSlots
    ) throws(UsageError) -> Target {
        // Without a URL, the inputs' say whom the run is about; an https one, as only that makes ready for TLS.
        let absolute = input.drafts.lazy.filter { !$0.url.hasPrefix("/") }
        let first = absolute.first { $0.url.lowercased().hasPrefix("https:") } ?? absolute.first
        guard let url = command.url ?? first?.url else { return .embedded }
        let text = command.what.template ? try orUsage(template: try slots.protect(url)) : url
        let target = try orUsage(try TargetURL(text, typed: url))
        guard !slots.appears(in: target.hostField) else {
            throw UsageError("--template fills in what is requested, not of whom: use it behind the host")
        }
        return .url(target)
    }

    private static func request(
        _ command: LoadCommand,
        _ target: Target,
        _ slots: inout TemplateSlots
    ) throws(UsageError) -> RequestDescription {
        let bodies = [command.body != nil, command.bodyFile != nil, !command.what.form.isEmpty]
        guard bodies.count(where: { $0 }) <= 1 else {
            throw UsageError("--body, --body-file and --form exclude each other: use one of them")
        }
        var headers = command.header
        var body: [UInt8]? =
            if let text = command.body {
                Array(text.utf8)
            } else if let path = command.bodyFile { try Files.read(path, for: "--body-file") } else { nil }
        if !command.what.form.isEmpty {
            let form = try FormBody.body(command.what.form)
            body = form.bytes
            guard !headers.contains(where: { $0.lowercased().hasPrefix("content-type:") }) else {
                throw UsageError("-H sets Content-Type, and --form has one of its own: leave it out")
            }
            headers.append("Content-Type: \(form.type)")
        }
        if command.what.template {
            for index in headers.indices { headers[index] = try orUsage(template: try slots.protect(headers[index])) }
            if let plain = body { body = try orUsage(template: try slots.protect(plain)) }
        }
        let (path, hostField) =
            switch target {
            case .embedded: (RunPlan.embeddedTarget(command.method, hasBody: body != nil), "localhost")
            case .url(let url): (url.target, url.hostField)
            }
        return try orUsage(
            try RequestDescription(
                method: command.method,
                target: path,
                hostField: hostField,
                headers: headers,
                body: body
            )
        )
    }

    private func checkCombinations(method: String) throws(UsageError) {
        if target == .embedded {
            guard unixSocket == nil else {
                throw UsageError(
                    "--unix-socket needs a URL, for its path and Host field: add one such as http://localhost/"
                )
            }
            guard connectTo.isEmpty else {
                throw UsageError("--connect-to needs a URL to lead elsewhere: add one such as http://example.com/")
            }
        }
        guard unixSocket == nil || connectTo.isEmpty else {
            throw UsageError("--unix-socket and --connect-to exclude each other: use one of them")
        }
        guard unixSocket == nil || proxy == nil else {
            throw UsageError(
                "--unix-socket and --proxy exclude each other: a socket of this machine is behind no proxy"
            )
        }
        guard unixSocket == nil || sources.isEmpty else {
            throw UsageError("--unix-socket has no source address: leave --source-address out")
        }
        if let family = sources.first?.family, let wanted = destinationFamily, family != wanted {
            let name = wanted == .v4 ? "IPv4" : "IPv6"
            throw UsageError("--source-address cannot be of another family than the target: use \(name) addresses")
        }
        // RFC 9112 §9.3.2: after a method that is not idempotent, wait for the answer.
        if pipeline > 1, !["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"].contains(method) {
            throw UsageError(
                "--pipeline \(pipeline) with \(method): only idempotent methods may be pipelined, use GET or PUT"
            )
        }
    }

    /// What says how a request looks says nothing where none is sent.
    private func checkHandshakes(_ command: LoadCommand) throws(UsageError) {
        let ofRequests = [
            ("-m", command.method != nil), ("-H", !command.header.isEmpty), ("--body", command.body != nil),
            ("--body-file", command.bodyFile != nil), ("--pipeline", pipeline > 1),
        ]
        if let flag = ofRequests.first(where: \.1)?.0 {
            throw UsageError(
                "\(flag) says how to request, and --handshake-only requests nothing: leave one of them out"
            )
        }
    }

    /// The family a source address must have, as far as the command line tells.
    private var destinationFamily: SocketAddress.Family? {
        switch target {
        case .embedded: return .v4
        case .url:
            switch firstHop {
            case .v4: return .v4
            case .v6: return .v6
            case .name, nil: return nil
            }
        }
    }
}
