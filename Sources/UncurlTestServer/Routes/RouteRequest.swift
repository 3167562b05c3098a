import UncurlText

/// A request as routes see it. It has only values, so a test can call a route as a function.
struct RouteRequest: Sendable {
    var method = "GET"
    /// Whether the request's version is HTTP/1.0, which has neither upgrades nor 1xx (RFC 9110 §7.8, §15.2).
    var isHTTP10 = false
    /// The path of the target, not decoded.
    var path = "/"
    /// The query of the target, not decoded.
    var rawQuery = ""
    var fields: [Pair] = []
    /// The body; empty unless the route asks for it (``Intake/collect``).
    var body: [UInt8] = []
    /// The length of the body, even if it was not kept.
    var bodyLength: UInt64 = 0
    /// The client's address, without its port.
    var origin = "127.0.0.1"
    /// Host, or the authority of an absolute-form target, which takes precedence (RFC 9112 §3.2.2).
    var authority = "localhost"
    /// `https` on a server with certificates.
    var scheme = "http"
    /// A new random number. Routes use it, so they remain functions of the request.
    var random: UInt64 = 0
    /// The number of requests to this server so far, including this one.
    var requestCount: UInt64 = 1

    /// The path's parts, decoded; `/a//b` has an empty one.
    var segments: [String] {
        path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: percentDecodedOctets($0), as: UTF8.self) }
    }

    var arguments: [Pair] { formPairs(rawQuery) }

    func argument(_ name: String) -> String? {
        arguments.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The first field with this name.
    func field(_ name: String) -> String? { fields.first { $0.name.equalsIgnoringCase(name) }?.value }

    /// The values of all fields with this name, as one list (RFC 9110 §5.3); nil without such a field.
    func list(_ name: String) -> String? {
        let values = fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    var url: String { "\(scheme)://\(authority)\(path)" + (rawQuery.isEmpty ? "" : "?\(rawQuery)") }

    var cookies: [Pair] {
        (field("cookie") ?? "").utf8.split(separator: UInt8(ascii: ";")).compactMap { part in
            let pair = part.drop { $0 == 0x20 }
            guard let end = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return Pair(name: String(Substring(pair[..<end])), value: String(Substring(pair[end...].dropFirst())))
        }
    }
}

/// What the server does with a request's body before it calls the route.
enum Intake: Sendable {
    /// Counts it and drops it, whatever its length.
    case discard
    /// Keeps it up to the server's limit, because the route shows it.
    case collect
    /// Sends it back while it comes.
    case echo
    /// Adds it to a resumable upload if it is part of one; otherwise counts and drops it.
    case resume
}
