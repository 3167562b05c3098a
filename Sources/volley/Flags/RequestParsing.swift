import UncurlHTTP1
import UncurlLoad

/// Reads the request and its target from a command line.
extension LoadOptions {
    static func target(
        _ command: LoadCommand,
        _ input: RequestInput,
        _ slots: inout TemplateSlots
    ) throws(UsageError) -> Target {
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
            return .embedded
        }
        guard !command.ownServer else {
            throw UsageError("--self and a URL exclude each other: --self tests volley's own server")
        }
        let text = command.what.template ? try orUsage(template: try slots.protect(url)) : url
        // The opening handshake of a WebSocket is an HTTP request.
        let scheme = WebSocketFlags.scheme(of: text)
        let asked = scheme.map { $0 + text.drop { $0 != ":" } } ?? text
        let target = try orUsage(try TargetURL(asked, typed: url))
        guard !slots.appears(in: target.hostField) else {
            throw UsageError("--template cannot fill in the host: use it in the path or the query")
        }
        return .url(target)
    }

    static func request(
        _ command: LoadCommand,
        _ target: Target,
        _ slots: inout TemplateSlots
    ) throws(UsageError) -> RequestDescription {
        let bodies =
            [
                ("--body", command.body != nil), ("--body-file", command.bodyFile != nil),
                ("--form", !command.what.form.isEmpty),
            ] + command.content.contents
        let given = bodies.filter(\.1).map(\.0)
        guard given.count <= 1 else {
            throw UsageError("\(given[0]) and \(given[1]) exclude each other: a request has one content")
        }
        let written = try WrittenFields(command.header)
        var headers = try ownFields(command, written)
        var body: [UInt8]? =
            if let text = command.body {
                Array(text.utf8)
            } else if let path = command.bodyFile { try Files.read(path, for: "--body-file") } else { nil }
        if !command.what.form.isEmpty {
            let form = try FormBody.body(command.what.form)
            body = form.bytes
            guard !written.have("Content-Type") else {
                throw UsageError("-H sets Content-Type, and --form has one of its own: leave it out")
            }
            headers.append("Content-Type: \(form.type)")
        }
        if let content = try command.content.content() {
            body = content.bytes
            headers += written.absent(content.fields)
        }
        if command.what.template {
            for index in headers.indices { headers[index] = try orUsage(template: try slots.protect(headers[index])) }
            if let plain = body { body = try orUsage(template: try slots.protect(plain)) }
        }
        let (path, hostField) =
            switch target {
            case .embedded:
                (
                    RunPlan.embeddedTarget(
                        command.method,
                        hasBody: body != nil,
                        isWebSocket: command.webSocket.isAsked
                    ), "localhost"
                )
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
        guard !written.have("Cookie") else {
            throw UsageError("--cookie and -H 'Cookie: …' exclude each other: use one of them")
        }
        return fields + ["Cookie: " + cookies.joined(separator: "; ")]
    }
}
