import ArgumentParser
import UncurlLoad

/// The text of the flags about WebSockets.
struct WebSocketFlags: ParsableArguments {
    @Flag(
        name: .customLong("websocket"),
        help: ArgumentHelp(
            "Open a WebSocket on each connection and send messages: a request is a message, and its answer the "
                + "next that comes. URLs of "
                + "ws and wss need no flag."
        )
    )
    var isAsked = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The content of each message, or @FILE for a file's content. (default: 64 letters)",
            valueName: "TEXT"
        )
    )
    var message: String?

    @Option(help: ArgumentHelp("The size of each message in bytes, at most 64M.", valueName: "N", visibility: .hidden))
    var messageSize: String?

    @Flag(help: ArgumentHelp("Send binary messages, not text in UTF-8.", visibility: .hidden))
    var binary = false

    @Flag(help: ArgumentHelp("Count an answer that differs from its message as a failure.", visibility: .hidden))
    var expectEcho = false

    /// The longest message. A run keeps one in memory.
    static let sizeLimit: UInt64 = 64_000_000

    /// Whether the URL or a flag asks for WebSockets.
    func isWanted(_ url: String?) -> Bool { isAsked || Self.scheme(of: url) != nil }

    /// `http` for `ws`, `https` for `wss` (RFC 6455 §3); nil for other schemes.
    static func scheme(of url: String?) -> String? {
        switch url.map({ $0.prefix { $0 != ":" }.lowercased() }) {
        case "ws": "http"
        case "wss": "https"
        default: nil
        }
    }
}

extension WebSocketOptions {
    /// Nil where nothing asks for WebSockets.
    init?(_ command: LoadCommand, _ slots: inout TemplateSlots) throws(UsageError) {
        let flags = command.webSocket
        guard flags.isWanted(command.url) else {
            let idle = [
                ("--message", flags.message != nil), ("--message-size", flags.messageSize != nil),
                ("--binary", flags.binary), ("--expect-echo", flags.expectEcho),
            ]
            if let flag = idle.first(where: \.1)?.0 {
                throw UsageError("\(flag) is about WebSockets: use it with --websocket, or a URL of ws or wss")
            }
            return nil
        }
        try Self.checkAlone(command)
        var message = try Self.message(flags)
        if command.what.template { message = try orUsage(template: try slots.protect(message)) }
        guard flags.binary || String(validating: message, as: UTF8.self) != nil else {
            throw UsageError("--message is not UTF-8, as a text message is: use --binary")
        }
        self.init(message: message, isBinary: flags.binary, expectsEcho: flags.expectEcho)
    }

    private static func message(_ flags: WebSocketFlags) throws(UsageError) -> [UInt8] {
        if let text = flags.messageSize {
            guard flags.message == nil else {
                throw UsageError("--message and --message-size exclude each other: use one of them")
            }
            let size = try Quantity.count(text, for: "--message-size")
            guard size <= WebSocketFlags.sizeLimit else {
                throw UsageError("--message-size \(quoted(text)) is too large: at most 64M")
            }
            return letters(Int(size))
        }
        guard let text = flags.message else { return letters(64) }
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        return try Files.read(String(text.dropFirst()), for: "--message")
    }

    private static func letters(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    }

    /// Refuses flags about HTTP requests and answers.
    private static func checkAlone(_ command: LoadCommand) throws(UsageError) {
        let others =
            [
                ("-m", command.method != nil), ("--body", command.body != nil),
                ("--body-file", command.bodyFile != nil), ("--form", !command.what.form.isEmpty),
                ("--pipeline", command.pipeline != "1"), ("--input", !command.what.input.isEmpty),
                ("--scenario", command.what.scenario != nil), ("--stream", command.what.stream != nil),
                ("--cookies", command.keepsCookies), ("--redirects", command.what.redirects != nil),
                ("--expect-status", command.what.expectStatus != nil),
                ("--expect-header", !command.what.expectHeader.isEmpty),
                ("--retry", command.limits.retry), ("--idle-timeout", command.limits.idleTimeout != nil),
                ("--first-byte-timeout", command.limits.firstByteTimeout != nil),
                ("--connection-age", command.limits.connectionAge != nil),
                ("--limit-rate", !command.limits.limitRate.isEmpty),
                ("--handshake-only", command.security.handshakeOnly),
                ("--stage with connections", command.pace.crowdPeak != nil),
            ] + command.content.contents
        if let flag = others.first(where: \.1)?.0 {
            throw UsageError("\(flag) is about requests of HTTP, and a WebSocket carries messages: leave it out")
        }
    }
}
