import TextCoding

/// A request as routes see it: values only, so that a route is a function one can call in a test.
struct RouteRequest: Sendable {
    var method = "GET"
    /// The target's path as it came, percent-encoding and all.
    var path = "/"
    /// What stands behind `?`, as it came.
    var rawQuery = ""
    var fields: [Pair] = []
    /// Empty unless the route asks for it (``Intake/collect``).
    var body: [UInt8] = []
    /// The body's length, also where it was not kept.
    var bodyLength: UInt64 = 0
    /// The client's address, without its port.
    var origin = "127.0.0.1"
    /// Host, or the authority of an absolute-form target, which wins over it (RFC 9112 §3.2.2).
    var authority = "localhost"
    /// https on a server with certificates.
    var scheme = "http"
    /// A fresh random number: routes draw from it and stay functions.
    var random: UInt64 = 0
    /// Requests this server has counted so far, this one included.
    var requestCount: UInt64 = 1

    /// The path's parts, decoded; `/a//b` has an empty one.
    var segments: [String] {
        path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: PercentCoding.decodeBytes($0), as: UTF8.self) }
    }

    var arguments: [Pair] { PercentCoding.pairs(rawQuery) }

    func argument(_ name: String) -> String? { arguments.first { $0.name == name }?.value }

    /// The first field of that name.
    func field(_ name: String) -> String? { fields.first { $0.name.equalsIgnoringCase(name) }?.value }

    var url: String { "\(scheme)://\(authority)\(path)" + (rawQuery.isEmpty ? "" : "?\(rawQuery)") }

    var cookies: [Pair] {
        (field("cookie") ?? "").split(separator: ";").compactMap { part in
            let pieces = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pieces.count == 2 else { return nil }
            return Pair(name: String(pieces[0]), value: String(pieces[1]))
        }
    }
}

/// What is done with a request's body before its route is asked.
enum Intake: Sendable {
    /// Counted and dropped, however long.
    case discard
    /// Kept, up to the server's limit: the route shows it.
    case collect
    /// Sent back as it comes.
    case echo
    /// Added to an upload that can be gone on with, if it is part of one; else counted and dropped.
    case resume
}
