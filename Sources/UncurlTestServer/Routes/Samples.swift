import UncurlText

/// The constant documents. They are small and free of others' rights.
enum Samples {
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

    private static func constant(_ base64: String) -> [UInt8] { Base64.decode(base64) ?? [] }
}
