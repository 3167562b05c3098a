import UncurlText

/// Routes that answer with certain kinds of content.
extension RouteResponse {
    static func compressed(
        _ request: RouteRequest,
        _ mark: String,
        _ windowBits: CInt,
        _ coding: String
    ) -> RouteResponse {
        let members = [
            (mark, .bool(true)),
            ("headers", headers(request)),
            ("method", .string(request.method)),
            ("origin", .string(request.origin)),
        ]
        guard let bytes = JSONTree.object(members).serialized().compressed(windowBits: windowBits) else {
            return RouteResponse(500)
        }
        return RouteResponse(200, type: "application/json", .bytes(bytes)).with("Content-Encoding", coding)
    }

    static func image(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        switch rest {
        case ["png"]: RouteResponse(200, type: "image/png", .bytes(png))
        case ["jpeg"]: RouteResponse(200, type: "image/jpeg", .bytes(jpeg))
        case ["svg"]: .text(svg, type: "image/svg+xml")
        default: .notFound
        }
    }

    /// `/base64/SFRUUA==` answers with the decoded text.
    static func base64(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        guard let bytes = base64Octets(rest.joined(separator: "/")) else { return .bad("that is no Base64") }
        return RouteResponse(200, type: "text/html; charset=utf-8", .bytes(bytes))
    }

    /// A random UUID (RFC 9562 §5.4).
    static func uuid(_ request: RouteRequest, _ rest: [String]) -> RouteResponse {
        var bytes = [UInt8].random(16, seed: request.random)
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
        guard let count = number(rest.first, upTo: mostLinks), count > 0, rest.count <= 2 else {
            return .bad("the links are a number from 1 to \(mostLinks)")
        }
        guard rest.count == 2 else { return .redirect(302, to: "/links/\(count)/0") }
        guard let own = number(rest[1], upTo: count - 1) else { return .notFound }
        let links = (0..<count).map { $0 == own ? "\($0)" : "<a href='/links/\(count)/\($0)'>\($0)</a>" }
        let page = "<html><head><title>Links</title></head><body>\(links.joined(separator: " "))</body></html>"
        return .text(page, type: "text/html; charset=utf-8")
    }
}

/// The constant documents. They are small and free of others' rights.
extension RouteResponse {
    static let home = "Uncurl test server\n"

    static let html = """
        <!DOCTYPE html>
        <html>
          <head><title>A page</title></head>
          <body><h1>A page</h1><p>Long enough to look like one, short enough to read in a test's output.</p></body>
        </html>

        """

    static let xml = """
        <?xml version='1.0' encoding='us-ascii'?>
        <!-- A sample set of slides -->
        <slideshow title="Sample Slide Show" date="Date of publication" author="Yours Truly">
          <slide type="all"><title>Wake up to WonderWidgets!</title></slide>
          <slide type="all"><title>Overview</title><item>Why <em>WonderWidgets</em> are great</item></slide>
        </slideshow>

        """

    static let json = JSONTree.object([
        "slideshow": .object([
            "title": .string("Sample Slide Show"),
            "date": .string("date of publication"),
            "author": .string("Yours Truly"),
            "slides": .array([
                .object(["title": .string("Wake up to WonderWidgets!"), "type": .string("all")]),
                .object([
                    "title": .string("Overview"), "type": .string("all"),
                    "items": .array([.string("Why <em>WonderWidgets</em> are great")]),
                ]),
            ]),
        ])
    ])

    static let robots = "User-agent: *\nDisallow: /deny\n"
    static let deny = "YOU SHOULDN'T BE HERE\n"

    static let utf8 = """
        <h1>Unicode</h1>
        <pre>
        ∮ E⋅da = Q, n → ∞, ∑ f(i) = ∏ g(i), ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋
        Ὦ ξεῖν’, ἀγγέλλειν · Зарегистрируйтесь · ガラスを食べられます · 👩‍🚀 · e\u{301}
        </pre>

        """

    static let svg = """
        <svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="#e65028"/></svg>

        """

    /// 8 by 8 pixels of one colour.
    static let png = constant(
        "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFUlEQVR42mN8FqDBgA0wMeAAg1MCABaJAW6uId+vAAAAAElFTkSuQmCC"
    )

    /// 8 by 8 grey pixels.
    static let jpeg = constant(
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////"
            + "////////////////wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8A"
            + "H//Z"
    )

    private static func constant(_ base64: String) -> [UInt8] { base64Octets(base64) ?? [] }
}
