import UncurlEngine
import UncurlHTTP1
import UncurlReactor
package import UncurlSemantics
package import UncurlText

/// The one request that a run sends again and again: validated, and not yet encoded.
package struct RequestDescription: Hashable, Sendable {
    package let method: String
    /// The request-target, in origin form (RFC 9112 §3.2.1).
    package let target: String
    /// The Host field's value: the user's own if there is one, the URL's otherwise.
    package let host: String
    /// The user's other fields, in order.
    package let fields: [Pair]
    /// The body. Nil for no body, which is not the same as an empty one.
    package let body: [UInt8]?

    /// Checks a request. A nil `method` means GET, or POST if there is a body, as in curl.
    package init(
        method: String?,
        target: String,
        hostField: String,
        headers: [String],
        body: [UInt8]?,
        defaults: [String] = []
    ) throws(LoadTestError) {
        self.method = try Self.validated(method: method ?? (body == nil ? "GET" : "POST"))
        var given: [Pair] = []
        for header in headers { given.append(try Self.field(header)) }
        // A field of the request itself takes precedence over the run's field of that name.
        let own = Set(given.map { $0.name.lowercased() })
        for header in defaults {
            let field = try Self.field(header)
            if !own.contains(field.name.lowercased()) { given.append(field) }
        }
        let hosts = given.filter { $0.name.lowercased() == "host" }
        guard hosts.count <= 1 else { throw .header("Host", .secondHost) }
        host = hosts.first?.value ?? hostField
        fields = given.filter { $0.name.lowercased() != "host" }
        self.target = target
        self.body = body
    }

    /// Returns the same request to another URL. A Host field of the user's own, one that is not `known`, stays.
    package func retargeted(to url: TargetURL, unlessOtherThan known: String) -> RequestDescription {
        RequestDescription(self, url.target, fields, body, host: host == known ? url.hostField : host)
    }

    func with(target: String, fields: [Pair], body: [UInt8]?) -> RequestDescription {
        RequestDescription(self, target, fields, body, host: host)
    }

    private init(_ other: RequestDescription, _ target: String, _ fields: [Pair], _ body: [UInt8]?, host: String) {
        (method, self.target, self.fields, self.body, self.host) = (other.method, target, fields, body, host)
    }

    /// Checks a method. RFC 9110 §9.1: method = token.
    private static func validated(method: String) throws(LoadTestError) -> String {
        guard method.isToken else {
            throw .method(method)
        }
        guard method != "CONNECT" else {
            throw .connectMethod
        }
        return method
    }

    /// Reads a field, `Name: value`; RFC 9110 §5.1, §5.5.
    private static func field(_ text: String) throws(LoadTestError) -> Pair {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            throw .header(text, .noColon)
        }
        let name = String(text[..<colon])
        guard name.isToken else {
            throw .header(text, .name)
        }
        let raw = text.utf8[text.utf8.index(after: colon)...]
        guard raw.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .header(text, .controlCharacter)
        }
        switch name.lowercased() {
        case "content-length", "transfer-encoding":
            throw .header(name, .framing)
        default: return Pair(name: name, value: String(decoding: raw.withoutBlanks, as: UTF8.self))
        }
    }
}

/// Header fields as lines, each as `Name: value`.
extension [String] {
    /// Returns these lines, and those of `others` whose names are not among theirs.
    package func adding(_ others: [String]) -> [String] {
        guard !others.isEmpty else { return self }
        let names = Set(map(Self.name))
        return self + others.filter { !names.contains(Self.name($0)) }
    }

    private static func name(_ line: String) -> OctetText { OctetText(line.prefix(before: ":").lowercased()) }
}

/// The URL of a run as it was typed, and the engine's reading of it.
package struct TargetURL: Hashable, Sendable {
    /// The URL as typed, for the report.
    package let text: String
    package let parts: HTTPURL

    package init(_ text: String, typed: String? = nil) throws(LoadTestError) {
        self.text = typed ?? text
        do throws(HTTPURL.Problem) {
            parts = try HTTPURL(text)
        } catch {
            throw .url(text, error)
        }
    }

    package var isSecure: Bool { parts.origin.scheme == .https }
    package var host: URLHost { parts.host }
    package var port: UInt16 { parts.port }
    package var target: String { parts.target }
    /// The Host field's value (RFC 9110 §7.2).
    package var hostField: String { parts.origin.authority }
}
