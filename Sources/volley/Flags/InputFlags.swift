import ArgumentParser
import UncurlLoad
import UncurlText

/// The text of the flags about the requests, and about the conditions for their responses.
struct InputFlags: ParsableArguments {
    @Option(help: .of("input")) var input: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: .of("raw")) var raw: [String] = []
    @Option(help: .of("scenario")) var scenario: String?
    @Option(help: .of("order")) var order: String?
    @Option(help: .of("replay")) var replay: String?
    @Flag(help: .of("template")) var template = false
    @Option(name: .joined("F"), parsing: .unconditionalSingleValue, help: .of("form")) var form: [String] = []
    @Flag(help: .of("cookies")) var cookies = false
    @Option(help: .of("redirects")) var redirects: String?
    @Option(help: .of("expect-status")) var expectStatus: String?
    @Option(parsing: .unconditionalSingleValue, help: .of("expect-header")) var expectHeader: [String] = []
    @Option(parsing: .unconditional, help: .of("expect-body")) var expectBody: String?
    @Option(help: .of("stream")) var stream: String?
    @Option(help: .of("stall")) var stall: String?

    /// The most redirections in a row; a browser stops at 20.
    static let redirectLimit: UInt64 = 100
}

extension LoadOptions {
    mutating func setInputs(
        _ flags: InputFlags,
        _ command: LoadCommand,
        _ scenario: ScenarioFile?,
        slots: TemplateSlots
    ) throws(UsageError) {
        self.slots = slots
        try setCookies(command, scenario)
        if let text = flags.redirects {
            redirects = try Self.count(text, for: "--redirects", limit: InputFlags.redirectLimit)
        }
        checks = try ResponseChecks(statuses: flags.expectStatus, headers: flags.expectHeader, body: flags.expectBody)
        guard !flags.input.isEmpty || !flags.raw.isEmpty || scenario != nil else {
            try command.given.refuse(["--order", "--replay"], "is about the requests of --input: add one")
            try checkTemplate(flags)
            return try checkUsers()
        }
        // A file of requests says what each of them is.
        let source = scenario == nil ? "--input" : "--scenario"
        let own = ["-m", "--body", "--body-file", "--form", "--data", "--json"]
        try command.given.refuse(own, "and \(source) exclude each other: the file says what each request is")
        if let scenario {
            let words = "and --scenario exclude each other: the scenario says which requests are sent"
            try command.given.refuse(["--input", "--order", "--replay", "--template"], words)
            scenarios = scenario.scenarios
            return try checkUsers()
        }
        if flags.template { try protectInputs() }
        try checkTemplate(flags)
        switch flags.order {
        case nil, "in-order": isRandom = false
        case "random": isRandom = true
        case let other?: throw UsageError("--order \(quoted(other)) is unknown: use in-order or random")
        }
        if let text = flags.replay { try setReplay(text, command) }
        try checkUsers()
    }

    private mutating func setCookies(_ command: LoadCommand, _ scenario: ScenarioFile?) throws(UsageError) {
        keepsCookies = command.keepsCookies || scenario?.keepsCookies == true
        guard keepsCookies == command.keepsCookies || command.content.cookie.isEmpty else {
            throw UsageError("--cookie is for users that keep cookies, as the scenario's do: add --cookies")
        }
        guard keepsCookies else { return }
        cookies = command.content.cookies.flatMap { text in
            text.split(separator: ";").map { ("\($0.trimmed); Path=/", nil, nil) }
        }
        for path in command.content.cookie where !path.contains("=") { cookies += try RequestInput.cookies(path) }
    }

    private func checkTemplate(_ flags: InputFlags) throws(UsageError) {
        try need(
            !flags.template || !slots.isEmpty,
            "--template finds no {{…}} in URL, fields, body or input: write one such as {{counter}}, or leave "
                + "it out"
        )
    }

    private mutating func protectInputs() throws(UsageError) {
        for index in inputs.drafts.indices {
            var draft = inputs.drafts[index]
            draft.url = try slots.marked(draft.url)
            for header in draft.headers.indices { draft.headers[header] = try slots.marked(draft.headers[header]) }
            if let octets = draft.verbatim { draft.verbatim = try slots.marked(octets) }
            if let body = draft.body { draft.body = try slots.marked(body) }
            inputs.drafts[index] = draft
        }
    }

    private mutating func setReplay(_ text: String, _ command: LoadCommand) throws(UsageError) {
        guard let factor = Double(text), factor.isFinite, factor > 0, factor <= 1_000_000 else {
            throw UsageError("--replay \(quoted(text)) is no factor: use such as 1, 2 or 0.5")
        }
        guard !command.pace.isScheduled, think == nil, command.duration == nil else {
            throw UsageError("--replay has its own times: leave --rate, --stage, --think and -d out")
        }
        try need(command.what.order == nil, "--replay and --order exclude each other: a replay has its order")
        try need(!isPoisson, "--replay and --arrivals poisson exclude each other: a replay has its own times")
        try need(warmup == 0, "--replay and --warmup exclude each other: a replay has no steady rate")
        try need(command.what.input.count == 1, "--replay takes one --input: times of several do not compare")
        let offsets = inputs.drafts.compactMap(\.offset)
        guard offsets.count == inputs.drafts.count else {
            throw UsageError("--replay: the input has no times: use a HAR or an access log, or --rate")
        }
        try need(
            Double(offsets.max() ?? 0) / factor <= Double(LoadOptions.longest),
            "--replay \(quoted(text)) makes a run of more than 744h: use a greater factor, or a part of the input"
        )
        let times = offsets.map { UInt64(Double($0) / factor) }
        profile = LoadProfile(recorded: times)
        duration = profile?.duration
    }

    private func checkUsers() throws(UsageError) {
        guard stream == nil || pipeline == 1 && work == .requests else {
            throw UsageError("--stream is about one answer at a time: leave --pipeline and --handshake-only out")
        }
        guard pipeline == 1 || hasPlainUsers && inputs.drafts.isEmpty else {
            throw UsageError("--pipeline repeats one request: leave it out, or the flags that make requests differ")
        }
        guard work == .requests || hasPlainUsers && inputs.drafts.isEmpty else {
            throw UsageError("--handshake-only sends no requests: leave it out, or the flags about requests")
        }
    }
}

extension InputFlags {
    func streamOptions() throws(UsageError) -> StreamOptions? {
        guard let text = stream else {
            guard stall == nil else { throw UsageError("--stall is about streams: use it with --stream") }
            return nil
        }
        guard let kind = StreamKind(rawValue: text) else {
            throw UsageError("--stream \(quoted(text)) is unknown: use sse, ndjson or bytes")
        }
        return (kind, try UInt64(time: stall ?? "1s", for: "--stall"))
    }
}

/// The text of those flags about a request's content and fields that curl, hey and oha have too.
struct ContentFlags: ParsableArguments {
    @Option(parsing: .unconditionalSingleValue, help: .of("data")) var data: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: .of("json")) var json: [String] = []
    @Option(name: .joined("u"), parsing: .unconditional, help: .of("user")) var user: String?
    @Option(name: .joined("b"), parsing: .unconditionalSingleValue, help: .of("cookie")) var cookie: [String] = []

    /// The arguments of `-b` that are cookies and not files.
    var cookies: [String] { cookie.filter { $0.contains("=") } }
}

extension ContentFlags {
    func content() throws(UsageError) -> (bytes: [UInt8], fields: [String])? {
        if !data.isEmpty {
            var parts: [[UInt8]] = []
            for text in data {
                // curl removes the line ends of a file, so that its last line may have one.
                parts.append(
                    try Self.bytes(text, "--data").filter { !text.hasPrefix("@") || ![0, 10, 13].contains($0) }
                )
            }
            return (Array(parts.joined(separator: "&".utf8)), ["Content-Type: application/x-www-form-urlencoded"])
        }
        guard !json.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for text in json { bytes += try Self.bytes(text, "--json") }
        return (bytes, ["Content-Type: application/json", "Accept: application/json"])
    }

    private static func bytes(_ text: String, _ flag: String) throws(UsageError) -> [UInt8] {
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        return try readFile(String(text.dropFirst()), for: flag)
    }

    /// `Authorization: Basic …`; nil without `-u`. No message contains the password.
    func authorization() throws(UsageError) -> String? {
        guard let user else { return nil }
        guard let colon = user.firstIndex(of: ":"), colon > user.startIndex else {
            throw UsageError("--user has no password: write USER:PASSWORD, or USER: for an empty one")
        }
        guard user.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }) else {
            throw UsageError("--user has a control character: RFC 7617 allows none")
        }
        return "Authorization: Basic \(base64Text(Array(user.utf8)))"
    }
}
