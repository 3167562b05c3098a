@testable import UncurlHTTP1
@testable import UncurlSemantics
@testable import UncurlText

/// What fields and URLs say.
extension Reader {
    static let messages = [
        Reader("set-cookie", of: "UncurlSemantics/Cookies/SetCookieLine", text: setCookie),
        Reader("cookie-date", of: "UncurlSemantics/Cookies/SetCookieLine", text: { _ = Cookie.date($0) }),
        Reader("http-date", of: "UncurlHTTP1/Fields/HTTPDate") { octets in
            for now in [0, 1_700_000_000] as [Int64] { _ = HTTPDate.parse(octets.span, now: now) }
        },
        Reader("challenges", of: "UncurlSemantics/Authentication/AuthenticationChallenge", text: challenges),
        Reader("cache-control", of: "UncurlSemantics/Caching/CacheControl", text: cacheControl),
        Reader("content-range", of: "UncurlSemantics/Resumption/ResumeRule", text: contentRange),
        Reader(
            "retry-after",
            of: "UncurlSemantics/Retries/RetryAfter",
            text: { text in
                guard let time = RetryAfter(text, now: 1_700_000_000) else { return }
                require(time.delay(at: 1_700_000_000) >= .zero, "a delay is not below zero: \(text)")
            }
        ),
        Reader("url", of: "UncurlSemantics/URLs/URIReference", text: url),
        Reader("redirect", of: "UncurlSemantics/Redirects/RedirectRule", text: redirect),
        Reader("json", of: "UncurlText/JSONReader") { octets in _ = try? JSONReader.read(octets) },
        Reader("base64", of: "UncurlText/Base64", text: base64),
    ]

    private static func setCookie(_ text: String) {
        guard let line = SetCookieLine(text) else { return }
        require(!holdsLineEnd(line.name) && !holdsLineEnd(line.value), "a cookie ends no line")
        require(line.name.utf8.count + line.value.utf8.count <= SetCookieLine.maximumSize, "a cookie has its limit")
        guard let scope = (try? HTTPURL("https://a.test/b/c")).map({ CookieScope($0) }) else { return }
        let cookie = line.cookie(from: scope, now: 1_700_000_000)
        require((cookie.ports ?? []).allSatisfy { (1...65_535).contains($0) }, "a port is one: \(text)")
    }

    private static func challenges(_ text: String) {
        var fields = HTTPFields()
        // The parser lets no control come as far.
        guard (try? fields.append("WWW-Authenticate", text)) != nil else { return }
        for challenge in AuthenticationChallenge.all(in: fields, "WWW-Authenticate") {
            require(!challenge.scheme.isEmpty, "a challenge has a scheme")
            guard let digest = DigestChallenge(challenge) else { continue }
            var answer = DigestAuthentication(digest, Credentials(user: "u\"", password: "p"))
            guard let value = try? answer.authorization(method: "GET", target: "/", content: []) else { continue }
            require(!holdsLineEnd(value), "an answer ends no line: \(value)")
            require((try? fields.append("Authorization", value)) != nil, "an answer is a field's value: \(value)")
        }
    }

    private static func cacheControl(_ text: String) {
        var fields = HTTPFields()
        for value in text.utf8.split(separator: 10) { try? fields.append("Cache-Control", String(Substring(value))) }
        let control = CacheControl(fields)
        for seconds in [control.maxAge, control.minFresh, control.staleIfError].compactMap(\.number) {
            require(seconds >= 0 && seconds <= 1 << 31, "an age is within its limits: \(seconds)")
        }
    }

    /// A part is added to what is there only if it continues it.
    private static func contentRange(_ text: String) {
        let tags = [nil, text, "\"e\""] as [String?]
        for (status, tag) in [(206, tags[0]), (206, tags[1]), (206, tags[2]), (416, nil), (200, nil)] {
            let decision = ResumeRule.decide(
                status: status,
                contentRange: text,
                entityTag: tag,
                lastModified: tag,
                contentLength: -1,
                validator: status == 206 ? "\"e\"" : text,
                received: 5,
                expected: -1
            )
            if case .rest(let total) = decision { require(status == 206 && total > 5, "a part has a rest: \(text)") }
            let whole = ResumeRule.wholeLength(
                ofPart: 5...9,
                status: status,
                contentRange: text,
                entityTag: tag,
                lastModified: tag,
                validator: tag,
                total: nil
            )
            if let whole { require(whole > 5, "a part lies within the whole: \(text)") }
        }
        _ = ResumeRule.validator(entityTag: text, lastModified: text, date: 1_800_000_000, now: 1_800_000_000)
        for start in [0, 1, 5, 500] as [Int64] {
            let whole = ResumeRule.wholeLength(
                ofPart: start...(.max),
                status: 206,
                contentRange: text,
                entityTag: nil,
                lastModified: nil,
                validator: nil,
                total: nil
            )
            if let whole { require(whole > start, "a range has a beginning and an end: \(text)") }
        }
    }

    /// A URL is split and put together again as it was. Resolved, it has no dot segments; encoded twice, it is as
    /// encoded once.
    private static func url(_ text: String) {
        let reference = URIReference(text)
        _ = (reference.origin, reference.text)
        require(reference.bytes == Array(text.utf8), "a reference keeps its octets")
        let encoded = reference.percentEncoded
        require(encoded.percentEncoded == encoded, "what is encoded stays as it is: \(text)")
        for base in ["http://a.test/b/c/d?e#f", "http://a.test", "c:d"] {
            let target = reference.resolved(against: URIReference(Array(base.utf8)))
            require(target.scheme != nil, "a target has a scheme")
            let segments = target.path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            require(!segments.contains([0x2E]) && !segments.contains([0x2E, 0x2E]), "no dot segment stays: \(text)")
        }
    }

    private static func redirect(_ text: String) {
        var fields = HTTPFields()
        guard (try? fields.append("Location", text)) != nil else { return }
        for base in ["http://a.test/b/c?d#e", "https://[::1]:8443/", "http://a.test"] {
            guard let target = RedirectRule.target(of: fields, against: URIReference(base)) else { continue }
            require(!holdsLineEnd(target.text), "a target ends no line")
        }
    }

    private static func base64(_ text: String) {
        guard let octets = canonicalBase64Octets(text) else { return }
        require(base64Octets(base64Text(octets)) == octets, "what was decoded is encoded and decoded to the same")
    }
}
