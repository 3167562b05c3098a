import UncurlEngine
import UncurlLoad

extension ConnectToRule {
    /// Reads `HOST1:PORT1:HOST2:PORT2`, as in curl. An empty HOST1 or PORT1 matches any; an empty HOST2 or PORT2 keeps
    /// the URL's. An IPv6 address has brackets.
    init(_ text: String) throws(UsageError) {
        let parts = try Self.split(text)
        self.init(
            host: try Self.host(parts[0], text),
            port: try Self.port(parts[1], text),
            newHost: try Self.host(parts[2], text),
            newPort: try Self.port(parts[3], text)
        )
    }

    /// Splits the text into four fields. Colons in brackets are part of an address.
    private static func split(_ text: String) throws(UsageError) -> [String] {
        var parts = [""]
        var inBrackets = false
        for character in text {
            switch character {
            case "[": inBrackets = true
            case "]": inBrackets = false
            default: break
            }
            if character == ":" && !inBrackets { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        guard parts.count == 4, !inBrackets else {
            throw UsageError(
                "--connect-to \(quoted(text)) is not HOST1:PORT1:HOST2:PORT2: use one such as example.com:80:127.0.0.1:8080"
            )
        }
        return parts
    }

    private static func host(_ part: String, _ text: String) throws(UsageError) -> URLHost? {
        guard !part.isEmpty else { return nil }
        do throws(URLHost.Problem) {
            return try URLHost(part)
        } catch {
            throw UsageError(error.words(on: "--connect-to \(quoted(text))"))
        }
    }

    private static func port(_ part: String, _ text: String) throws(UsageError) -> UInt16? {
        guard !part.isEmpty else { return nil }
        guard part.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }), let port = UInt16(part),
            port > 0
        else { throw UsageError("--connect-to \(quoted(text)) has a port out of range: use 1 to 65535") }
        return port
    }
}
