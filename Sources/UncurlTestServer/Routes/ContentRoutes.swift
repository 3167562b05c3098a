import UncurlText

/// Routes that answer with certain kinds of content.
enum ContentRoutes {
    static func gzip(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        compressed(request, "gzipped", .gzip, "gzip")
    }

    /// Content in zlib's format, as RFC 9110 §8.4.1.2 defines it; with `?raw=1` the raw format that some servers send.
    static func deflate(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        compressed(request, "deflated", request.argument("raw") == "1" ? .raw : .zlib, "deflate")
    }

    private static func compressed(
        _ request: RouteRequest,
        _ mark: String,
        _ form: Compression.Form,
        _ coding: String
    ) -> RouteResponse {
        let members = [
            (mark, .bool(true)),
            ("headers", Inspection.headers(request)),
            ("method", .string(request.method)),
            ("origin", .string(request.origin)),
        ]
        guard let bytes = Compression.compress(JSONTree.object(members).serialized(), as: form) else {
            return RouteResponse(500)
        }
        return RouteResponse(200, type: "application/json", .bytes(bytes)).with("Content-Encoding", coding)
    }

    static func encoding(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        rest == ["utf8"] ? .text(Samples.utf8, type: "text/html; charset=utf-8") : .notFound
    }

    static func image(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        switch rest {
        case ["png"]: RouteResponse(200, type: "image/png", .bytes(Samples.png))
        case ["jpeg"]: RouteResponse(200, type: "image/jpeg", .bytes(Samples.jpeg))
        case ["svg"]: .text(Samples.svg, type: "image/svg+xml")
        default: .notFound
        }
    }

    /// `/base64/SFRUUA==` answers with the decoded text.
    static func base64(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard let bytes = Base64.decode(rest.joined(separator: "/")) else { return .bad("that is no Base64") }
        return RouteResponse(200, type: "text/html; charset=utf-8", .bytes(bytes))
    }

    /// A random UUID (RFC 9562 §5.4).
    static func uuid(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        var bytes = PseudoRandom.bytes(16, seed: request.random)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append("-") }
            if byte < 16 { text.append("0") }
            text.append(hex: UInt64(byte))
        }
        return .json(["uuid": .string(String(decoding: text, as: UTF8.self))])
    }

    /// `/links/n/i`: a page with links to the n - 1 others.
    static func links(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard let count = Arguments.count(rest.first, upTo: RouteLimits.links), count > 0, rest.count <= 2 else {
            return .bad("the links are a number from 1 to \(RouteLimits.links)")
        }
        guard rest.count == 2 else { return .redirect(302, to: "/links/\(count)/0") }
        guard let own = Arguments.count(rest[1], upTo: count - 1) else { return .notFound }
        let links = (0..<count).map { $0 == own ? "\($0)" : "<a href='/links/\(count)/\($0)'>\($0)</a>" }
        let page = "<html><head><title>Links</title></head><body>\(links.joined(separator: " "))</body></html>"
        return .text(page, type: "text/html; charset=utf-8")
    }
}
