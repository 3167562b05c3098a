internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics
internal import UncurlText

/// The text of URLs, for the engine and for error messages.
package enum URLText {
    /// Returns the URL without its user information, query and fragment, which may be secrets.
    package static func redacted(_ url: URL) -> String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "?" }
        parts.user = nil
        parts.password = nil
        let end = parts.query == nil ? "" : "?…"
        (parts.query, parts.fragment) = (nil, nil)
        return parts.string.map { $0 + end } ?? "?"
    }

    /// Returns the URL with its scheme in lower case; nil for a URL that has no scheme.
    static func withLowercaseScheme(_ url: URL) -> URL? {
        let text = url.absoluteString
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return URL(string: text[..<colon].lowercased() + text[colon...])
    }

    /// Takes an http or https URL apart; for ws and wss, the URL of their handshake. User information is left out: it
    /// is a credential, not part of the place (RFC 9110 §4.2.4), and a caller that wants it reads it from the URL.
    ///
    /// - Parameter other: a place that is probably of the same origin.
    static func http(_ url: URL, near other: HTTPURL? = nil) throws(HTTPURL.Problem) -> HTTPURL {
        let text = url.absoluteString
        do throws(HTTPURL.Problem) {
            return try HTTPURL(text, near: other)
        } catch {
            // The usual case comes first: the rest is for one URL in a thousand.
            let other = URLText.handshakePlace(of: url) ?? url
            return try HTTPURL(mended(other.absoluteString))
        }
    }

    /// Returns the URL that a WebSocket's handshake is sent to: `http` for `ws` (RFC 6455 §3). Nil for other schemes.
    static func handshakePlace(of url: URL) -> URL? {
        let text = url.absoluteString
        guard let colon = text.firstIndex(of: ":") else { return nil }
        switch text[..<colon].lowercased() {
        case "ws", "http": return URL(string: "http" + text[colon...])
        case "wss", "https": return URL(string: "https" + text[colon...])
        default: return nil
        }
    }

    /// Percent-encodes octets that no URL may hold, as browsers do, and removes user information. Other faults stay.
    private static func mended(_ text: String) -> String {
        var text = text
        if let at = authority(of: text).lastIndex(of: "@"), let slashes = text.range(of: "://") {
            text.removeSubrange(slashes.upperBound...at)
        }
        guard let end = text.range(of: "://")?.upperBound else { return text }
        let path = text[end...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? text.endIndex
        let rest = Array(text[path...].utf8)
        let mended = PercentCoding.mended(rest[...]) { rest[$0].isPathOrQueryOctet || rest[$0] == UInt8(ascii: "#") }
        return text[..<path] + String(decoding: mended, as: UTF8.self)
    }

    private static func authority(of text: String) -> Substring {
        guard let start = text.range(of: "://")?.upperBound else { return "" }
        return text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    }
}

/// Foundation's URLs in the form that the rules take: compared by the parts that Foundation reads in them.
extension WebURL {
    init(_ url: URL) { self.init(url.absoluteString, origin: WebOrigin(url)) }

    /// Returns the URL of a text; nil if Foundation makes no URL of it.
    static func read(_ text: String) -> WebURL? { URL(string: text).map { WebURL($0) } }

    /// Foundation's URL of the same text; nil only for a text that did not come from one.
    var url: URL? { URL(string: text) }
}

extension WebOrigin {
    /// Nil for a URL without a host, and for schemes other than http, https, ws and wss.
    init?(_ url: URL) {
        guard let scheme = url.scheme, let host = url.host else { return nil }
        self.init(scheme: scheme, host: host, port: url.port)
    }
}
