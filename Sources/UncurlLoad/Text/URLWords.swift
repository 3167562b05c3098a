import UncurlEngine

extension HTTPURL.Problem {
    /// Returns what is wrong with the URL, and what would be right.
    func words(on text: String, _ names: SettingNames) -> String {
        let url = "the URL \(quoted(text))"
        switch self {
        case .empty: return "the URL is empty: use one such as http://127.0.0.1:8080/"
        case .noScheme: return "\(url) has no scheme: write http://HOST:PORT/ in front"
        case .scheme(let scheme): return "\(url) has the scheme \(quoted(scheme)): use http:// or https://"
        case .userInformation:
            return "\(url) holds user information: leave it out and send \(names[.headers]) 'Authorization: …' instead"
        case .host(let problem, _): return problem.words(on: url)
        case .secondColon: return "\(url) has too many colons: an IPv6 address needs brackets, [::1]"
        case .portSyntax: return "\(url) has a port that is no number: use 1 to 65535"
        case .portRange: return "\(url) has a port out of range: use 1 to 65535"
        case .percent: return "\(url) has a % without two hex digits: write %25 for the sign itself"
        case .byte(let byte, let offset):
            let hex = String(byte, radix: 16, uppercase: true)
            let escape = hex.count == 1 ? "%0\(hex)" : "%\(hex)"
            return "\(url) has a byte at position \(offset + 1) that may not stand there: write it as \(escape)"
        }
    }
}

extension URLHost.Problem {
    /// Returns what is wrong with a host, and what would be right.
    ///
    /// - Parameter given: The text that contains the host, with a word for its kind.
    package func words(on given: String) -> String {
        switch self {
        case .empty: return "\(given) has no host: write one such as 127.0.0.1"
        case .character(let scalar, _):
            let better = scalar.isASCII ? "letters, digits, dots and hyphens only" : "the ASCII form, xn--…"
            return "\(given) has \(quoted(String(scalar))) in its host: use \(better)"
        case .length:
            return "\(given) has no usable host name: labels are 1 to 63 bytes, a name at most 253"
        case .number: return "\(given) has no IPv4 address for a host: write four numbers from 0 to 255"
        case .ipv6Literal: return "\(given) has no IPv6 address in its brackets: write [::1]"
        case .zone: return "\(given) has a zone in its IPv6 address, which no URL can hold: leave it out"
        }
    }
}
