package import HTTPEngine
import Reactor

/// The URL of a run as it was typed, and what the engine makes of it.
package struct TargetURL: Hashable, Sendable {
    /// As typed; for the report.
    package let text: String
    package let parts: HTTPURL

    /// - Parameter typed: what the user wrote, where `text` has been prepared.
    package init(_ text: String, typed: String? = nil) throws(UsageError) {
        self.text = typed ?? text
        do throws(HTTPURL.Problem) {
            parts = try HTTPURL(text)
        } catch {
            throw error.advice(text)
        }
    }

    package var isSecure: Bool { parts.origin.scheme == .https }
    package var host: URLHost { parts.host }
    package var port: UInt16 { parts.port }
    package var target: String { parts.target }
    /// The Host field's value (RFC 9110 §7.2).
    package var hostField: String { parts.origin.authority }
}

extension HTTPURL.Problem {
    /// What is wrong with the URL, and what would be right.
    fileprivate func advice(_ text: String) -> UsageError {
        let url = "the URL \(quoted(text))"
        switch self {
        case .empty: return UsageError("the URL is empty: use one such as http://127.0.0.1:8080/")
        case .noScheme: return UsageError("\(url) has no scheme: write http://HOST:PORT/ in front")
        case .scheme(let scheme): return UsageError("\(url) has the scheme \(quoted(scheme)): use http:// or https://")
        case .userInformation:
            return UsageError("\(url) holds user information: leave it out and send -H 'Authorization: …' instead")
        case .host(let problem, _): return problem.advice(on: url)
        case .secondColon:
            return UsageError("\(url) has too many colons: an IPv6 address needs brackets, [::1]")
        case .portSyntax: return UsageError("\(url) has a port that is no number: use 1 to 65535")
        case .portRange: return UsageError("\(url) has a port out of range: use 1 to 65535")
        case .percent:
            return UsageError("\(url) has a % without two hex digits: write %25 for the sign itself")
        case .byte(let byte, let offset):
            let hex = String(byte, radix: 16, uppercase: true)
            let escape = hex.count == 1 ? "%0\(hex)" : "%\(hex)"
            return UsageError(
                "\(url) has a byte at position \(offset + 1) that may not stand there: write it as \(escape)"
            )
        }
    }
}

extension URLHost.Problem {
    /// - Parameter given: what the user typed around the host, and as what.
    func advice(on given: String) -> UsageError {
        switch self {
        case .empty: return UsageError("\(given) has no host: write one such as 127.0.0.1")
        case .character(let scalar, _):
            let better = scalar.isASCII ? "letters, digits, dots and hyphens only" : "the ASCII form, xn--…"
            return UsageError("\(given) has \(quoted(String(scalar))) in its host: use \(better)")
        case .length:
            return UsageError("\(given) has no usable host name: labels are 1 to 63 bytes, a name at most 253")
        case .number:
            return UsageError("\(given) has no IPv4 address for a host: write four numbers from 0 to 255")
        case .ipv6Literal:
            return UsageError("\(given) has no IPv6 address in its brackets: write [::1]")
        }
    }
}
