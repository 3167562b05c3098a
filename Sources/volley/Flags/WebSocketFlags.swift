import ArgumentParser
import UncurlLoad

struct WebSocketFlags: ParsableArguments {
    @Flag(name: .customLong("websocket"), help: .of("websocket")) var isAsked = false
    @Option(parsing: .unconditional, help: .of("message")) var message: String?
    @Option(help: .of("message-size")) var messageSize: String?
    @Flag(help: .of("binary")) var binary = false
    @Flag(help: .of("expect-echo")) var expectEcho = false

    /// The longest message. A run keeps one in memory.
    static let sizeLimit: UInt64 = 64_000_000

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

extension LoadOptions {
    static func webSocket(
        _ command: LoadCommand,
        _ slots: inout TemplateSlots
    ) throws(UsageError) -> WebSocketOptions? {
        let flags = command.webSocket
        guard flags.isWanted(command.url) else {
            let words = "is about WebSockets: use it with --websocket, or a URL of ws or wss"
            try command.given.refuse(["--message", "--message-size", "--binary", "--expect-echo"], words)
            return nil
        }
        // Flags about HTTP requests and answers.
        let others = [
            "-m", "--body", "--body-file", "--form", "--pipeline", "--input", "--scenario", "--stream", "--cookies",
            "--redirects", "--expect-status", "--expect-header", "--retry", "--idle-timeout", "--first-byte-timeout",
            "--connection-age", "--limit-rate", "--handshake-only", "--stage with connections", "--data", "--json",
        ]
        try command.given.refuse(others, "is about requests of HTTP, and a WebSocket carries messages: leave it out")
        var message = try message(flags)
        if command.what.template { message = try slots.marked(message) }
        guard flags.binary || String(validating: message, as: UTF8.self) != nil else {
            throw UsageError("--message is not UTF-8, as a text message is: use --binary")
        }
        return (message, flags.binary, flags.expectEcho)
    }

    private static func message(_ flags: WebSocketFlags) throws(UsageError) -> [UInt8] {
        if let text = flags.messageSize {
            try need(flags.message == nil, "--message and --message-size exclude each other: use one of them")
            let size = try UInt64(count: text, for: "--message-size")
            try need(size <= WebSocketFlags.sizeLimit, "--message-size \(quoted(text)) is too large: at most 64M")
            return letters(Int(size))
        }
        guard let text = flags.message else { return letters(64) }
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        return try readFile(String(text.dropFirst()), for: "--message")
    }

    private static func letters(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    }
}
