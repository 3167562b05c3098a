import UncurlHTTP1
import UncurlText

/// Caching, validators and ranges (RFC 9110 §13, §14; RFC 9111 §5.2).
extension RouteResponse {
    /// `/cache`: 304 to any validator; `/cache/n`: fresh for n seconds.
    static func cache(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        if let text = rest.first {
            guard rest.count == 1, let age = number(text, upTo: UInt64(UInt32.max)) else {
                return .bad("the age is a number of seconds")
            }
            return shown(request, []).with("Cache-Control", "public, max-age=\(age)")
        }
        if request.field("if-none-match") != nil || request.field("if-modified-since") != nil {
            return RouteResponse(304, .none, [Pair(name: "ETag", value: validator)])
        }
        return shown(request, []).with("Last-Modified", lastModified).with("ETag", validator)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let anyTag = Array("*".utf8)
    private static let validator = "\"uncurl-cache\""
    private static let lastModified = "Thu, 01 Jan 2026 00:00:00 GMT"

    /// `/etag/x`: If-Match by strong, If-None-Match by weak comparison (RFC 9110 §13.1.1, §13.1.2).
    static func etag(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.count == 1, isField(Pair(name: "etag", value: rest[0])), !rest[0].utf8.contains(quote)
        else {
            return .notFound
        }
        let tag = "\"\(rest[0])\""
        if let wanted = request.list("if-match") {
            let tags = list(wanted)
            if !tags.contains(anyTag), !tags.contains(Array(tag.utf8)) { return RouteResponse(412) }
        }
        if let known = request.list("if-none-match") {
            let tags = list(known)
            if tags.contains(anyTag) || tags.contains(Array(tag.utf8)) || tags.contains(Array("W/\(tag)".utf8)) {
                return RouteResponse(304, .none, [Pair(name: "ETag", value: tag)])
            }
        }
        return shown(request, []).with("ETag", tag)
    }

    /// `/range/n`: n octets of the repeated alphabet, as a whole or as one range.
    static func range(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard rest.count == 1 else { return .notFound }
        guard let total = number(rest[0], upTo: mostBytes) else {
            return .bad("the length is a number from 0 to \(mostBytes)")
        }
        let tag = "\"range\(total)\""
        let fields = [Pair(name: "ETag", value: tag), Pair(name: "Accept-Ranges", value: "bytes")]
        guard let part = wanted(request, tag, total) else { return slice(200, 0..<total, fields) }
        guard let last = part.last else {
            return RouteResponse(416, .bytes([]), fields + [Pair(name: "Content-Range", value: "bytes */\(total)")])
        }
        let range = Pair(name: "Content-Range", value: "bytes \(part.lowerBound)-\(last)/\(total)")
        return slice(206, part, fields + [range])
    }

    static let alphabet = Array("abcdefghijklmnopqrstuvwxyz".utf8)

    private static func slice(_ status: Int, _ part: Range<UInt64>, _ fields: [Pair]) -> RouteResponse {
        let count = UInt64(part.count)
        let body = BodyGenerator.cyclic(alphabet, from: part.lowerBound, count: count)
        return RouteResponse(status, type: "application/octet-stream", .generated(body, .length(count)), fields)
    }

    /// The requested range of `bytes`; nil for the whole content, and empty if none of it is there. A method other than
    /// GET, several ranges, another unit or a malformed range get the whole content, by RFC 9110 §14.2. If-Range must
    /// have the server's strong validator (§13.1.5).
    private static func wanted(_ request: RouteRequest, _ tag: String, _ total: UInt64) -> Range<UInt64>? {
        guard request.method == "GET", let value = request.field("range") else { return nil }
        if let condition = request.field("if-range"), !condition.utf8.elementsEqual(tag.utf8) { return nil }
        let parts = value.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
        guard parts.count == 2, String(Substring(parts[0])).equalsIgnoringCase("bytes") else { return nil }
        let ends = parts[1].split(separator: UInt8(ascii: "-"), maxSplits: 2, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let suffix = number(ends[1], upTo: .max) else { return nil }
            return total - min(suffix, total)..<total
        }
        guard let first = number(ends[0], upTo: .max), let last = last(ends[1]), last >= first else {
            return nil
        }
        return first < total ? first..<min(last, total - 1) + 1 : 0..<0
    }

    /// The last position of a range. Without one, or with one beyond the end, the range goes to the end (RFC 9110
    /// §14.1.2), however many digits it has.
    private static func last(_ text: String) -> UInt64? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return UInt64(text) ?? .max
    }

    /// The entity tags of a list. A comma within quotes is part of its tag (RFC 9110 §8.8.3).
    private static func list(_ value: String) -> [[UInt8]] {
        var isQuoted = false
        let parts = value.utf8.split { octet in
            if octet == quote { isQuoted.toggle() }
            return octet == UInt8(ascii: ",") && !isQuoted
        }
        return parts.map { $0.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed() }
    }
}
