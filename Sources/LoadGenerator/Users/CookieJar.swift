/// One virtual user's cookies: RFC 6265 §5 as far as a load needs it. Nothing is written down, and no list of public suffixes is kept:
/// a server under test sets cookies for itself.
struct CookieJar: Sendable {
    private struct Cookie: Sendable {
        var name: String
        var value: String
        var domain: String
        var isHostOnly: Bool
        var path: String
        var isSecure: Bool
        /// Seconds since 1970.
        var expires: Int64
    }

    /// RFC 6265 §6.1 asks for at least 50 a domain of 4,096 bytes each.
    static let limit = 50
    static let longest = 4_096

    private var cookies: [Cookie] = []

    /// Takes a `Set-Cookie` value in; what it may not set is passed over.
    ///
    /// - Parameter now: seconds since 1970.
    mutating func store(_ line: String, host: String, path: String, now: Int64) {
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard let first = parts.first, line.utf8.count <= Self.longest, let sign = first.firstIndex(of: "=") else {
            return
        }
        let name = first[..<sign].trimmed
        let value = first[first.index(after: sign)...].trimmed
        guard !name.isEmpty, line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else { return }
        let host = host.lowercased()
        var cookie = Cookie(
            name: name,
            value: value,
            domain: host,
            isHostOnly: true,
            path: Self.directory(of: path),
            isSecure: false,
            expires: .max
        )
        var hasAge = false
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { $0.trimmed }
            let argument = pair.count == 2 ? pair[1] : ""
            switch pair[0].lowercased() {
            case "domain" where !argument.isEmpty:
                let domain = (argument.hasPrefix(".") ? String(argument.dropFirst()) : argument).lowercased()
                guard Self.matches(host, domain) else { return }
                (cookie.domain, cookie.isHostOnly) = (domain, false)
            case "path" where argument.hasPrefix("/"): cookie.path = argument
            case "secure": cookie.isSecure = true
            case "max-age":
                guard let seconds = Int64(argument) else { continue }
                let (end, overflow) = now.addingReportingOverflow(seconds)
                cookie.expires = seconds <= 0 ? .min : overflow ? .max : end
                hasAge = true
            case "expires" where !hasAge:
                if let time = Timestamp.httpDate(argument) { cookie.expires = time }
            default: continue
            }
        }
        cookies.removeAll { $0.name == name && $0.domain == cookie.domain && $0.path == cookie.path }
        guard cookie.expires > now else { return }
        if cookies.count >= Self.limit { cookies.removeFirst() }
        cookies.append(cookie)
    }

    /// The Cookie field for a request; nil for none.
    func field(host: String, path: String, isSecure: Bool, now: Int64) -> String? {
        let host = host.lowercased()
        let path = String(path.prefix { $0 != "?" })
        let fitting = cookies.filter { cookie in
            (cookie.isHostOnly ? cookie.domain == host : Self.matches(host, cookie.domain))
                && Self.covers(cookie.path, path) && (isSecure || !cookie.isSecure) && cookie.expires > now
        }
        guard !fitting.isEmpty else { return nil }
        // RFC 6265 §5.4: longer paths first; among equals the order they were set in.
        let order = fitting.indices.sorted {
            (fitting[$1].path.count, $0) < (fitting[$0].path.count, $1)
        }
        return order.map { "\(fitting[$0].name)=\(fitting[$0].value)" }.joined(separator: "; ")
    }

    var isEmpty: Bool { cookies.isEmpty }

    /// §5.1.3: the same, or a host below the domain; an address has nothing below it.
    private static func matches(_ host: String, _ domain: String) -> Bool {
        host == domain || host.hasSuffix("." + domain) && host.contains { $0.isLetter } && !host.contains(":")
    }

    /// §5.1.4.
    private static func directory(of path: String) -> String {
        let path = path.prefix { $0 != "?" }
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func covers(_ cookie: String, _ path: String) -> Bool {
        path == cookie
            || path.hasPrefix(cookie) && (cookie.hasSuffix("/") || path.dropFirst(cookie.count).hasPrefix("/"))
    }
}
