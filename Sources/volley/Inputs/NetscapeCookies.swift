import UncurlLoad

/// Reads cookies in Netscape's format, as curl and browsers write it: one cookie per line, in seven fields separated by
/// tabs.
enum NetscapeCookies {
    /// The largest file of cookies, in bytes. A larger file is something else.
    private static let limit = 1 << 20

    /// - Parameter path: the file; `-` for standard input.
    static func read(_ path: String) throws(UsageError) -> [GivenCookie] {
        var cookies: [GivenCookie] = []
        for (text, place) in InputLines(try Files.read(path, for: "--cookie", limit: limit), path) {
            // curl marks cookies with this prefix that scripts must not read.
            let line = text.begins(with: "#HttpOnly_") ? String(Substring(text.utf8.dropFirst(10))) : text
            guard !line.begins(with: "#"), !line.trimmed.isEmpty else { continue }
            cookies.append(try cookie(line, place))
        }
        guard !cookies.isEmpty else {
            throw UsageError("--cookie \(quoted(path)) has no cookie in it: write NAME=VALUE")
        }
        return cookies
    }

    private static func isTrue(_ word: String) -> Bool { word.isASCII && word.uppercased() == "TRUE" }

    /// Reads a line's fields: domain, whether subdomains count, path, whether only https counts, expiry in seconds
    /// since 1970, name, value.
    private static func cookie(_ line: String, _ place: InputPlace) throws(UsageError) -> GivenCookie {
        let parts = line.parts(at: "\t").map(String.init)
        guard parts.count == 7, let expires = UInt64(parts[4]), parts[2].begins(with: "/"), !parts[0].isEmpty else {
            throw place.problem(
                "\(quoted(line)) is not a cookie in Netscape's format: use seven fields with tabs between"
            )
        }
        let domain = String(Substring(parts[0].utf8.drop { $0 == UInt8(ascii: ".") })).lowercased()
        let isForNames = isTrue(parts[1])
        var words = "\(parts[5])=\(parts[6]); Path=\(parts[2])"
        if isForNames { words += "; Domain=\(domain)" }
        if isTrue(parts[3]) { words += "; Secure" }
        return GivenCookie(words, host: domain, expires: expires == 0 ? nil : Double(expires))
    }
}
