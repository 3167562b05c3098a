public import URLLoading

/// A request as a command line for curl: pasted into a shell, it sends the same request.
public struct CURLCommand: Hashable, Sendable, CustomStringConvertible {
    public enum Credentials: Hashable, Sendable {
        /// Values of Authorization, Proxy-Authorization and Cookie are left out.
        case redacted
        case shown
    }

    public let description: String

    /// - Parameters:
    ///   - session: adds what its configuration sends besides: headers, cookies, credentials.
    public init(_ request: URLRequest, session: URLSession? = nil, credentials: Credentials = .redacted) {
        let configuration = session?.configuration
        var words = ["curl", "--globoff"]
        var source: String?
        let method = request.httpMethod ?? "GET"
        switch method {
        case "GET": break
        case "HEAD": words.append("--head")
        default: words += ["--request", Self.quoted(method)]
        }
        var fields = (request.allHTTPHeaderFields ?? [:]).map { ($0.key, $0.value) }
        for (name, value) in configuration?.httpAdditionalHeaders ?? [:] {
            let name = "\(name)"
            if !fields.contains(where: { $0.0.caseInsensitiveCompare(name) == .orderedSame }) {
                fields.append((name, "\(value)"))
            }
        }
        if request.httpShouldHandleCookies, let url = request.url,
            let cookies = configuration?.httpCookieStorage?.cookies(for: url), !cookies.isEmpty,
            let line = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
        {
            fields.append(("Cookie", line))
        }
        for (name, value) in fields.sorted(by: { $0.0.lowercased() < $1.0.lowercased() }) {
            let isSecret = ["authorization", "proxy-authorization", "cookie"].contains(name.lowercased())
            let shown = isSecret && credentials == .redacted ? "…" : value
            // curl takes `Name;` for a field without a value: `Name:` would remove it.
            words += ["--header", Self.quoted(shown.isEmpty ? "\(name);" : "\(name): \(shown)")]
        }
        if let body = request.httpBody, !body.isEmpty {
            if let text = String(data: body, encoding: .utf8), !text.utf8.contains(0) {
                words += ["--data-raw", Self.quoted(text)]
            } else {
                // Octets that are no text cannot stand on a command line.
                source = "printf %s \(Self.quoted(body.base64EncodedString())) | base64 -d | "
                words += ["--data-binary", "@-"]
            }
        }
        words.append(Self.quoted(request.url?.absoluteString ?? ""))
        description = (source ?? "") + words.joined(separator: " ")
    }

    /// For a POSIX shell: within single quotes nothing is special but the quote.
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { octet in
                (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet) || (0x61...0x7A).contains(octet)
                    || [0x2D, 0x2E, 0x2F, 0x3A, 0x5F].contains(octet)
            }
        return isPlain ? text : "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}

extension URLRequest {
    /// See ``CURLCommand``.
    public func cURL(
        session: URLSession? = nil,
        credentials: CURLCommand.Credentials = .redacted
    ) -> CURLCommand {
        CURLCommand(self, session: session, credentials: credentials)
    }
}
