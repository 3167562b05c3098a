import UncurlEngine
import UncurlHTTP1
import UncurlLoad
import UncurlReactor
import UncurlSemantics

extension LoadOptions {
    init(_ command: LoadCommand) throws(UsageError) {
        let scenario = try command.what.scenario.map { path throws(UsageError) in try ScenarioFile(path: path) }
        var slots = scenario?.slots ?? TemplateSlots()
        try command.checkRaw()
        let input: RequestInput =
            if let scenario {
                scenario.input
            } else if !command.what.raw.isEmpty {
                try RequestInput.raw(command.what.raw)
            } else {
                try InputFormat.read(command.what.input)
            }
        let target = try Self.target(command, input, &slots)
        let sockets = try Self.webSocket(command, &slots)
        self.init(target, try Self.request(command, target, &slots))
        (inputs, webSocket) = (input, sockets)
        names = .flags
        let isSecure = target?.isSecure == true
        work = command.security.handshakeOnly ? .handshakes : .requests
        let found = try Self.proxy(
            command.proxy,
            target,
            isLocal: targetsThisMachine || command.unixSocket != nil,
            ProxyEnvironment()
        )
        proxy = found.proxy
        if let note = found.note { inputs.notes.append(note) }
        (duration, requests) = try Self.length(command)
        (connections, threads) = try Self.crowd(command, requests: requests)
        security = try SecurityOptions(
            command.security,
            given: command.given,
            isSecure: isSecure,
            throughSecureProxy: proxy?.kind == .https,
            connections: connections
        )
        stream = try command.what.streamOptions()
        timeout =
            try command.timeout.time(for: "--timeout")
            ?? (stream == nil ? 2_000_000_000 : LoadOptions.longest)
        warmup = try command.warmup.time(for: "--warmup", allowingZero: true) ?? 0
        pipeline = try Self.count(command.pipeline, for: "--pipeline", limit: Self.pipelineLimit)
        connectRate = try Self.connectRate(command.connectRate)
        reuse = try Self.reuse(command.close, pipeline: pipeline, work)
        try setConnections(command.limits, given: command.given)
        sources = try Self.sources(command.sourceAddress)
        unixSocket = try Self.unixName(command.unixSocket)
        connectTo = []
        for rule in command.connectTo { connectTo.append(try Self.connectToRule(rule)) }
        family = try Self.family(command)
        showsDistribution = command.latency
        for condition in command.failIf { thresholds.append(try Threshold(condition)) }
        try setPace(command.pace, isTimed: command.duration != nil, isScheduled: command.isScheduled)
        try setInputs(command.what, command, scenario, slots: slots)
        try Threshold.check(thresholds, inputs)
        try checkCombinations(method: request.method)
        if work == .handshakes { try checkHandshakes(command) }
        if let text = command.shard {
            guard command.pace.searchMax == nil else {
                throw UsageError("--search-max and --shard exclude each other: each part would find a rate of its own")
            }
            try take(Shard(text, completionIndex: environment("JOB_COMPLETION_INDEX")))
        }
    }

    /// Reads `-c` and `-t`. The defaults are wrk's ten connections and two threads, or fewer if `-n` asks for fewer
    /// requests: `-n 1` alone means one connection on one thread. A given value is used or refused.
    private static func crowd(_ command: LoadCommand, requests: UInt64?) throws(UsageError) -> (Int, Int) {
        let asked = try command.connections.map { text throws(UsageError) in
            try count(text, for: "-c", limit: connectionLimit)
        }
        // With a schedule this is the most connections that a slow server causes; a fast server needs few.
        let usual: UInt64 = command.isScheduled ? 256 : 10
        if let peak = command.pace.crowdPeak, let asked, UInt64(asked) != peak {
            throw UsageError("-c \(asked) and --stage with connections exclude each other: the stages say how many")
        }
        let connections = asked ?? Int(command.pace.crowdPeak ?? min(usual, requests ?? usual))
        // By a schedule, connections are only as many as requests wait at once.
        if let requests, requests < connections, !command.isScheduled {
            throw UsageError(
                "-n \(requests) is less than -c \(connections): each connection sends at least one, use -c \(requests)"
            )
        }
        guard let text = command.threads else { return (connections, min(2, connections)) }
        let threads = try count(text, for: "-t", limit: threadLimit)
        try need(
            connections >= threads,
            "-c \(connections) is less than -t \(threads): each thread needs a connection, use -t \(connections)"
        )
        return (connections, threads)
    }

    /// Reads `-d` and `-n`: the run ends with the first of both. Without either it lasts ten seconds, as in wrk.
    private static func length(_ command: LoadCommand) throws(UsageError) -> (UInt64?, UInt64?) {
        let requests = try command.requests.map { text throws(UsageError) in try UInt64(count: text, for: "-n") }
        guard command.duration != nil || requests == nil else { return (nil, requests) }
        return (try UInt64(time: command.duration ?? "10s", for: "-d"), requests)
    }

    static func count(_ text: String, for flag: String, limit: UInt64) throws(UsageError) -> Int {
        let value = try UInt64(count: text, for: flag)
        guard value <= limit else { throw UsageError("\(flag) \(quoted(text)) is too many: at most \(limit)") }
        return Int(value)
    }

    /// Reads `500`, `500/s` or `1k/s`.
    private static func connectRate(_ text: String?) throws(UsageError) -> UInt64? {
        guard let text else { return nil }
        let number = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
        let rate = try UInt64(count: number, for: "--connect-rate")
        // The time between two connects is a whole number of nanoseconds.
        try need(rate <= 1_000_000_000, "--connect-rate \(quoted(text)) is too high: at most 1G/s")
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

    private static func family(_ command: LoadCommand) throws(UsageError) -> IPAddress.Family? {
        guard command.ipv4 || command.ipv6 else { return nil }
        try need(command.ipv4 != command.ipv6, "--ipv4 and --ipv6 exclude each other: leave both out for either family")
        try need(command.unixSocket == nil, "--unix-socket has no address: leave --ipv4 and --ipv6 out")
        return command.ipv4 ? .v4 : .v6
    }

    /// Reads a path, or a name in Linux's abstract namespace after `@`.
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

    private func checkCombinations(method: String) throws(UsageError) {
        if target == nil {
            try need(
                unixSocket == nil,
                "--unix-socket needs a URL, for its path and Host field: add one such as http://localhost/"
            )
            guard connectTo.isEmpty else {
                throw UsageError("--connect-to needs a URL to lead elsewhere: add one such as http://example.com/")
            }
        }
        guard unixSocket == nil || connectTo.isEmpty else {
            throw UsageError("--unix-socket and --connect-to exclude each other: use one of them")
        }
        try need(
            unixSocket == nil || proxy == nil,
            "--unix-socket and --proxy exclude each other: a socket of this machine is behind no proxy"
        )
        guard unixSocket == nil || sources.isEmpty else {
            throw UsageError("--unix-socket has no source address: leave --source-address out")
        }
        if let family, let found = destinationFamily, (family == .v4) != (found == .v4) {
            throw UsageError("\(family == .v4 ? "--ipv4" : "--ipv6") excludes the target's own address: leave it out")
        }
        if let family, let source = sources.first?.family, (family == .v4) != (source == .v4) {
            throw UsageError(
                "--source-address cannot be of another family than \(family == .v4 ? "--ipv4" : "--ipv6") says"
            )
        }
        if let family = sources.first?.family, let wanted = destinationFamily, family != wanted {
            let name = wanted == .v4 ? "IPv4" : "IPv6"
            throw UsageError("--source-address cannot be of another family than the target: use \(name) addresses")
        }
        // After a request whose method is not idempotent, a client waits for the answer (RFC 9112 §9.3.2).
        if pipeline > 1, !["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"].contains(method) {
            throw UsageError(
                "--pipeline \(pipeline) with \(method): only idempotent methods may be pipelined, use GET or PUT"
            )
        }
    }

    /// Refuses flags about requests where no request is sent.
    private func checkHandshakes(_ command: LoadCommand) throws(UsageError) {
        let ofRequests =
            ["-m", "-H", "--body", "--body-file"] + (pipeline > 1 ? ["--pipeline"] : [])
            + ["--user", "--cookie", "--data", "--json"]
        let words = "says how to request, and --handshake-only requests nothing: leave one of them out"
        try command.given.refuse(ofRequests, words)
    }

    private var destinationFamily: SocketAddress.Family? {
        guard target != nil else { return .v4 }
        return firstHop.flatMap { SocketAddress(numericHost: $0.bare, port: 0) }?.family
    }
}

extension LoadOptions {
    /// The proxy of `--proxy`, or of the environment, with a note for the report if no flag names it.
    ///
    /// - Parameters:
    ///   - text: the value of `--proxy`; empty means no proxy, whatever the environment says.
    ///   - environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, by curl's rules. They apply only to
    ///     other machines: a local server is behind no proxy.
    static func proxy(
        _ text: String?,
        _ target: TargetURL?,
        isLocal: Bool,
        _ environment: ProxyEnvironment
    ) throws(UsageError) -> (proxy: Proxy?, note: String?) {
        guard let text else {
            let proxy = isLocal ? nil : try proxy(of: environment, for: target)
            return (proxy, proxy.map { "by the proxy \($0), which the environment names: --proxy '' goes without" })
        }
        guard !text.isEmpty else { return (nil, nil) }
        guard target != nil else { throw UsageError("--proxy needs a URL to reach: add one") }
        do throws(Proxy.Problem) {
            return (try Proxy(url: text), nil)
        } catch {
            // The text may contain a password, so the message does not repeat it.
            throw UsageError("--proxy is no proxy's URL: \(error): use one such as http://127.0.0.1:3128")
        }
    }

    private static func proxy(
        of environment: ProxyEnvironment,
        for target: TargetURL?
    ) throws(UsageError) -> Proxy? {
        guard let url = target, !environment.exceptions.covers(url.parts.origin.host) else { return nil }
        do throws(ProxyEnvironment.Problem) {
            return try (url.isSecure ? environment.https : environment.http).get()
        } catch {
            throw UsageError(
                "\(error.variable) of the environment is no proxy's URL: \(error.problem): unset it, or use --proxy"
            )
        }
    }
}

extension LoadOptions {
    static func target(
        _ command: LoadCommand,
        _ input: RequestInput,
        _ slots: inout TemplateSlots
    ) throws(UsageError) -> TargetURL? {
        // Without a URL, the first input's URL names the target. An https URL is preferred, because only it prepares
        // TLS.
        let absolute = input.drafts.lazy.filter { !$0.url.hasPrefix("/") }
        let first = absolute.first { $0.url.lowercased().hasPrefix("https:") } ?? absolute.first
        guard let url = command.url ?? input.url ?? first?.url else {
            // Such a gate would pass whatever the server does that was meant.
            guard command.ownServer || command.failIf.isEmpty && command.pace.searchMax == nil else {
                let flag = command.failIf.isEmpty ? "--search-max" : "--fail-if"
                throw UsageError("\(flag) has no URL to judge: add one, or --self for volley's own server")
            }
            return nil
        }
        try need(!command.ownServer, "--self and a URL exclude each other: --self tests volley's own server")
        let text = command.what.template ? try slots.marked(url) : url
        // The opening handshake of a WebSocket is an HTTP request.
        let scheme = WebSocketFlags.scheme(of: text)
        let asked = scheme.map { $0 + text.drop { $0 != ":" } } ?? text
        let target = try orUsage(try TargetURL(asked, typed: url))
        guard !slots.appears(in: target.hostField) else {
            throw UsageError("--template cannot fill in the host: use it in the path or the query")
        }
        return target
    }

    static func request(
        _ command: LoadCommand,
        _ target: TargetURL?,
        _ slots: inout TemplateSlots
    ) throws(UsageError) -> RequestDescription {
        let given = ["--body", "--body-file", "--form", "--data", "--json"].filter(command.given.contains)
        try need(given.count <= 1, "\(given[0]) and \(given[1]) exclude each other: a request has one content")
        let written = try WrittenFields(command.header)
        var headers = try ownFields(command, written)
        var body: [UInt8]? =
            if let text = command.body {
                Array(text.utf8)
            } else if let path = command.bodyFile { try readFile(path, for: "--body-file") } else { nil }
        if !command.what.form.isEmpty {
            let form = try FormPart.body(command.what.form)
            body = form.bytes
            try need(!written.have("Content-Type"), "-H sets Content-Type, and --form has one of its own: leave it out")
            headers.append("Content-Type: \(form.type)")
        }
        if let content = try command.content.content() {
            body = content.bytes
            headers += written.absent(content.fields)
        }
        if command.what.template {
            for index in headers.indices { headers[index] = try slots.marked(headers[index]) }
            if let plain = body { body = try slots.marked(plain) }
        }
        let isWebSocket = command.webSocket.isAsked
        let own = RunPlan.embeddedTarget(command.method, hasBody: body != nil, isWebSocket: isWebSocket)
        let (path, host) = (target?.target ?? own, target?.hostField ?? "localhost")
        let method = command.method
        return try orUsage(
            try RequestDescription(method: method, target: path, hostField: host, headers: headers, body: body)
        )
    }

    /// The fields that flags add to each request, with volley's own User-Agent unless `-H` names one.
    private static func ownFields(_ command: LoadCommand, _ written: WrittenFields) throws(UsageError) -> [String] {
        var fields = written.absent(["User-Agent: volley/\(PackageVersion.text)"]) + written.lines
        if let authorization = try command.content.authorization() {
            guard !written.have("Authorization") else {
                throw UsageError("--user and -H 'Authorization: …' exclude each other: use one of them")
            }
            fields.append(authorization)
        }
        let cookies = command.content.cookies
        guard !cookies.isEmpty, !command.keepsCookies else { return fields }
        try need(!written.have("Cookie"), "--cookie and -H 'Cookie: …' exclude each other: use one of them")
        return fields + ["Cookie: " + cookies.joined(separator: "; ")]
    }
}

extension LoadOptions {
    /// Reduces these options to those of one part: its share of connections and requests, and no more threads than
    /// connections. A rate stays whole, because the parts take turns in its schedule.
    mutating func take(_ shard: Shard) throws(UsageError) {
        guard connections >= shard.count else {
            throw UsageError(
                "-c \(connections) is less than the \(shard.count) parts of --shard: each needs a connection, use -c \(shard.count)"
            )
        }
        self.shard = shard
        connections = shard.part(of: connections)
        threads = min(threads, connections)
        requests = requests.map { shard.part(of: $0) }
        if let requests, requests < connections {
            throw UsageError(
                "-n leaves part \(shard.index) of --shard \(requests) requests for \(connections) connections: use a smaller -c"
            )
        }
    }
}
