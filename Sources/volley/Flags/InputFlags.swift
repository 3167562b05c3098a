import ArgumentParser
import UncurlLoad

/// The text of the flags about the requests, and about the conditions for their responses.
struct InputFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take the requests from a file in the format urls, vegeta, vegeta-json, har, access-log, curl or "
                + "postman, at most 256 MiB; repeatable.",
            valueName: "FORMAT=FILE"
        )
    )
    var input: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send the octets of this file unchanged as a request; several take turns, each with figures of its "
                + "own, by the "
                + "file's name or NAME; repeatable.",
            valueName: "[NAME=]FILE",
            visibility: .hidden
        )
    )
    var raw: [String] = []

    @Option(
        help: ArgumentHelp(
            "Have each user follow the scenario in a file: steps with values from answers and data files, pauses, "
                + "loops, checks. "
                + "`volley check FILE` checks one.",
            valueName: "FILE"
        )
    )
    var scenario: String?

    @Option(
        help: ArgumentHelp(
            "Send the requests of --input or --raw in their order, all threads together, or at random by their "
                + "weights. "
                + "(default: in-order)",
            valueName: "ORDER"
        )
    )
    var order: String?

    @Option(
        help: ArgumentHelp(
            "Send the requests of a HAR or a log at their recorded times: 1 at that speed, 2 twice as fast, up to 1M.",
            valueName: "FACTOR"
        )
    )
    var replay: String?

    @Flag(
        help: ArgumentHelp(
            "Fill in {{counter}}, {{random:1-9}}, {{uuid}}, {{line:FILE}} … for each request, in URL, fields and body."
        )
    )
    var template = false

    @Option(
        name: [.customShort("F", allowingJoined: true), .long],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send a multipart form with this part; as in curl, @FILE is a file, <FILE its contents as a value, and "
                + ";type= may follow; repeatable.",
            valueName: "NAME=VALUE"
        )
    )
    var form: [String] = []

    @Flag(help: "Each connection is a user that keeps its cookies.")
    var cookies = false

    @Option(
        help: ArgumentHelp(
            "How many redirections in a row are followed, at most 100; one more is a failure. -n does not count "
                + "them. (default: 0, a redirection is an answer)",
            valueName: "N"
        )
    )
    var redirects: String?

    @Option(
        help: ArgumentHelp(
            "The statuses that are a success, such as 200,204, 2xx or 300-399; another is a failure. (default: no "
                + "status is a "
                + "failure; others than 2xx and 3xx are HTTP errors)",
            valueName: "LIST"
        )
    )
    var expectStatus: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A field that a response must have; without it the request counts as failed; repeatable.",
            valueName: "'Name[: value]'"
        )
    )
    var expectHeader: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "A text that a response's content must contain; without it the request counts as failed.",
            valueName: "TEXT"
        )
    )
    var expectBody: String?

    @Option(
        help: ArgumentHelp(
            "Answers are streams of server-sent events (sse), of lines (ndjson), or of whatever comes at once "
                + "(bytes): count events, the time to "
                + "the first, and the gaps between them.",
            valueName: "sse|ndjson|bytes"
        )
    )
    var stream: String?

    @Option(
        help: ArgumentHelp(
            "The shortest gap between two events that is a stall. (default: 1s)",
            valueName: "TIME",
            visibility: .hidden
        )
    )
    var stall: String?

    /// The most redirections in a row; a browser stops at 20.
    static let redirectLimit: UInt64 = 100
}

extension LoadOptions {
    /// Reads the flags, except those of the request itself.
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
        checks = try ResponseChecks(
            statuses: flags.expectStatus,
            headers: flags.expectHeader,
            body: flags.expectBody
        )
        guard !flags.input.isEmpty || !flags.raw.isEmpty || scenario != nil else {
            let idle = [("--order", flags.order != nil), ("--replay", flags.replay != nil)].first(where: \.1)?.0
            if let idle { throw UsageError("\(idle) is about the requests of --input: add one") }
            try checkTemplate(flags)
            return try checkUsers()
        }
        try checkContent(flags, command, isScenario: scenario != nil)
        if let scenario {
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
            text.split(separator: ";").map { GivenCookie("\($0.trimmed); Path=/") }
        }
        for path in command.content.cookie where !path.contains("=") { cookies += try GivenCookie.read(path) }
    }

    /// Refuses flags that define a request together with a file that does.
    private func checkContent(_ flags: InputFlags, _ command: LoadCommand, isScenario: Bool) throws(UsageError) {
        let own =
            [
                ("-m", command.method != nil), ("--body", command.body != nil),
                ("--body-file", command.bodyFile != nil), ("--form", !flags.form.isEmpty),
            ] + command.content.contents
        if let flag = own.first(where: \.1)?.0 {
            let source = isScenario ? "--scenario" : "--input"
            throw UsageError("\(flag) and \(source) exclude each other: the file says what each request is")
        }
        let others = [
            ("--input", !flags.input.isEmpty), ("--order", flags.order != nil), ("--replay", flags.replay != nil),
            ("--template", flags.template),
        ]
        if isScenario, let flag = others.first(where: \.1)?.0 {
            throw UsageError("\(flag) and --scenario exclude each other: the scenario says which requests are sent")
        }
    }

    private func checkTemplate(_ flags: InputFlags) throws(UsageError) {
        guard !flags.template || !slots.isEmpty else {
            throw UsageError(
                "--template finds no {{…}} in URL, fields, body or input: write one such as {{counter}}, or leave "
                    + "it out"
            )
        }
    }

    private mutating func protectInputs() throws(UsageError) {
        for index in inputs.drafts.indices {
            var draft = inputs.drafts[index]
            draft.url = try orUsage(template: try slots.protect(draft.url))
            for header in draft.headers.indices {
                draft.headers[header] = try orUsage(
                    template: try slots.protect(draft.headers[header])
                )
            }
            if let octets = draft.verbatim {
                draft.verbatim = try orUsage(template: try slots.protect(octets))
            }
            if let body = draft.body { draft.body = try orUsage(template: try slots.protect(body)) }
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
        guard command.what.order == nil else {
            throw UsageError("--replay and --order exclude each other: a replay has its order")
        }
        guard !isPoisson else {
            throw UsageError("--replay and --arrivals poisson exclude each other: a replay has its own times")
        }
        guard warmup == 0 else {
            throw UsageError("--replay and --warmup exclude each other: a replay has no steady rate")
        }
        guard command.what.input.count == 1 else {
            throw UsageError("--replay takes one --input: times of several do not compare")
        }
        let offsets = inputs.drafts.compactMap(\.offset)
        guard offsets.count == inputs.drafts.count else {
            throw UsageError("--replay: the input has no times: use a HAR or an access log, or --rate")
        }
        guard Double(offsets.max() ?? 0) / factor <= Double(Quantity.longest) else {
            throw UsageError(
                "--replay \(quoted(text)) makes a run of more than 744h: use a greater factor, or a part of the input"
            )
        }
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

extension StreamOptions {
    /// Nil where answers are not streams.
    init?(_ flags: InputFlags) throws(UsageError) {
        guard let text = flags.stream else {
            guard flags.stall == nil else { throw UsageError("--stall is about streams: use it with --stream") }
            return nil
        }
        guard let kind = StreamKind(rawValue: text) else {
            throw UsageError("--stream \(quoted(text)) is unknown: use sse, ndjson or bytes")
        }
        self.init(kind, stall: try Quantity.time(flags.stall ?? "1s", for: "--stall"))
    }
}
