import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Challenges")
struct ChallengeRuleTests {
    private func questions(
        _ lines: String...,
        status: Int = 401,
        at place: String = "https://H.example/a"
    ) throws
        -> [ChallengeQuestion]
    {
        var all = HTTPFields()
        for line in lines { try all.append("WWW-Authenticate", line) }
        return ChallengeQuestion.all(status: status, fields: all, url: try url(place))
    }

    private static let digest = #"Digest realm="r", nonce="n", qop="auth", algorithm="#

    @Test("the strongest question comes first, whatever the server's order")
    func order() throws {
        let asked = try questions(
            #"Negotiate, Basic realm="b""#,
            Self.digest + "MD5",
            Self.digest + "SHA-256, NTLM",
            Self.digest + "SHA-512-256"
        )
        #expect(
            asked.map { $0.challenge.parameters["algorithm"] ?? $0.challenge.scheme }
                == ["SHA-256", "SHA-512-256", "MD5", "basic", "negotiate", "ntlm"]
        )
        #expect(asked.map(\.isAnswerable) == [true, true, true, true, false, false])
    }

    @Test("a repeated challenge is one question, and a response asks 16 at most, the strongest")
    func limit() throws {
        #expect(try questions(String(repeating: "ntlm,", count: 6348), "NTLM").map(\.space.scheme) == [.ntlm])
        let basics = (0..<40).map { "Basic realm=r\($0)" }.joined(separator: ", ")
        let asked = try questions(basics, basics, "Negotiate", Self.digest + "MD5")
        #expect(asked.map(\.challenge.realm) == ["r"] + (0..<15).map { "r\($0)" })
        let proxy = AuthenticationChallenge.all(in: fields(("Proxy-Authenticate", basics)), "Proxy-Authenticate")
        #expect(ChallengeQuestion.all(ofProxy: proxy, host: "p", port: 3128, isSecure: false).count == 16)
    }

    @Test("schemes have the names that delegates know; a challenge of an unknown scheme asks no question")
    func methods() throws {
        #expect(
            try questions(#"Basic realm="b", Digest realm="d", nonce="n", NTLM, Negotiate abc=="#).map(\.space.scheme)
                == [
                    .digest, .basic, .ntlm, .negotiate,
                ]
        )
        #expect(try questions(#"Bearer realm="x", error="invalid_token""#, "Hawk").isEmpty)
    }

    @Test("a Digest challenge that cannot be answered is reported to the user, and not answered")
    func unanswerable() throws {
        let asked = try questions(#"Digest realm="d", nonce="n", algorithm=WHIRLPOOL"#, #"Basic realm="b""#)
        #expect(asked.map(\.space.scheme) == [.basic, .digest])
        #expect(asked.map(\.isAnswerable) == [true, false])
    }

    @Test("the space is the server's, with its port and realm")
    func space() throws {
        let asked = try #require(try questions(#"Basic realm="a, b""#).first).space
        #expect(asked.host == "h.example" && asked.port == 443 && asked.isSecure)
        #expect(asked.realm == "a, b" && asked.scheme == .basic && asked.side == .origin)
        let other = try #require(try questions("Basic realm=x", at: "http://h.example:8080/").first).space
        #expect(other.port == 8080 && !other.isSecure && other.side == .origin)
    }

    @Test("other statuses ask nothing", arguments: [200, 400, 403, 407, 500])
    func otherStatuses(status: Int) throws {
        #expect(try questions("Basic realm=x", status: status).isEmpty)
    }

    @Test("a proxy's questions are about the proxy")
    func proxies() throws {
        let challenges = AuthenticationChallenge.all(
            in: fields(("Proxy-Authenticate", "Basic realm=p")),
            "Proxy-Authenticate"
        )
        let asked = try #require(
            ChallengeQuestion.all(ofProxy: challenges, host: "p", port: 3128, isSecure: false)
                .first
        )
        #expect(
            asked.side == .proxy && asked.space.side == .proxy && asked.space.host == "p" && asked.space.port == 3128
        )
    }

    @Test("realms are compared by their octets: two spellings of one text are two realms")
    func realms() throws {
        let whole = try #require(try questions("Basic realm=\"\u{E9}\"").first).space
        let same = try #require(try questions("Basic realm=\"\u{E9}\"").first).space
        let parts = try #require(try questions("Basic realm=\"e\u{301}\"").first).space
        #expect(whole == same && whole != parts)
        #expect(Set([whole, same, parts]).count == 2)
    }
}
