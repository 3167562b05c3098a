import Testing
import UncurlHTTP1
import UncurlTLS

@testable import UncurlSemantics

@Suite("Authorizers")
struct AuthorizerTests {
    static let mufasa = Credentials(user: "Mufasa", password: "Circle of Life")

    static func question(
        _ line: String,
        at place: String = "http://h.example/dir/index.html"
    ) throws -> ChallengeQuestion {
        let found = ChallengeQuestion.all(
            status: 401,
            fields: fields(("WWW-Authenticate", line)),
            url: try url(place)
        )
        return try #require(found.first)
    }

    static func authorizer(_ line: String, at place: String = "http://h.example/dir/index.html") throws -> Authorizer {
        try #require(Authorizer(question(line, at: place), mufasa, url: try url(place)))
    }

    private func part(_ name: String, _ value: String) -> String? {
        AuthenticationChallenge.all(in: fields(("X", value)), "X").first?.parameters[name]
    }

    @Test("Basic is name and password")
    func basic() throws {
        var authorizer = try Self.authorizer("Basic realm=x")
        let value = try authorizer.value(method: "GET", target: "/", content: nil)
        #expect(value == "Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl")
    }

    @Test("a next nonce that is no UTF-8 goes back in its own octets")
    func octets() throws {
        var authorizer = try Self.authorizer(#"Digest realm="r", nonce="n", qop="auth""#)
        authorizer.note(fields("Authentication-Info", octets: Array("nextnonce=\"m".utf8) + [0xE8, 0x22]))
        let value = try authorizer.octets(method: "GET", target: "/", content: nil)
        #expect(value.contains(Array("nonce=\"m".utf8) + [0xE8, 0x22]))
    }

    @Test("Digest counts each answer to a nonce")
    func counting() throws {
        var authorizer = try Self.authorizer(#"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#)
        for number in 1...3 {
            let value = try authorizer.value(method: "GET", target: "/x?y", content: nil)
            #expect(part("nc", value) == "0000000\(number)")
            #expect(part("uri", value) == "/x?y")
        }
        authorizer.note(fields(("Authentication-Info", #"nextnonce="m", qop=auth"#)))
        let value = try authorizer.value(method: "GET", target: "/", content: nil)
        #expect(part("nonce", value) == "m" && part("nc", value) == "00000001")
    }

    @Test("a stale nonce is replaced without a question to the user; a wrong password is not")
    func staleness() throws {
        var authorizer = try Self.authorizer(#"Digest realm="r", nonce="n", qop="auth""#)
        #expect(authorizer.renew(try Self.question(#"Digest realm="r", nonce="m", qop="auth""#)) == false)
        #expect(
            authorizer.renew(try Self.question(#"Digest realm="other", nonce="m", qop="auth", stale=true"#)) == false
        )
        #expect(authorizer.renew(try Self.question(#"Digest realm="r", nonce="m", qop="auth", stale=TRUE"#)) == true)
        #expect(part("nonce", try authorizer.value(method: "GET", target: "/", content: nil)) == "m")
        var basic = try Self.authorizer("Basic realm=r")
        #expect(basic.renew(try Self.question(#"Digest realm="r", nonce="m", stale=true"#)) == false)
    }

    @Test("auth-int covers the content, and needs it")
    func contentProtection() throws {
        var authorizer = try Self.authorizer(#"Digest realm="r", nonce="n", qop="auth-int""#)
        #expect(part("qop", try authorizer.value(method: "PUT", target: "/", content: [1])) == "auth-int")
        #expect(throws: AuthenticationError.contentNeeded) {
            try authorizer.value(method: "PUT", target: "/", content: nil)
        }
    }

    @Test("auth-int takes a hash in the place of content that is not in memory, for one answer")
    func contentHash() throws {
        var authorizer = try Self.authorizer(#"Digest realm="r", nonce="n", qop="auth-int", algorithm=SHA-256"#)
        let function = try #require(authorizer.contentDigest)
        #expect(function == .sha256)
        authorizer.take(contentHash: function.hash([1].span))
        let value = try authorizer.value(method: "PUT", target: "/", content: nil)
        #expect(part("qop", value) == "auth-int")
        #expect(throws: AuthenticationError.contentNeeded) {
            try authorizer.value(method: "PUT", target: "/", content: nil)
        }
        #expect(try Self.authorizer(#"Digest realm="r", nonce="n", qop="auth""#).contentDigest == nil)
        #expect(try Self.authorizer("Basic realm=r").contentDigest == nil)
    }

    @Test("no password answers what needs an operating system", arguments: ["NTLM", "Negotiate", "Digest realm=x"])
    func unanswerable(line: String) throws {
        #expect(Authorizer(try Self.question(line), Self.mufasa, url: try url("http://h/")) == nil)
    }
}

@Suite("Authorization scopes")
struct AuthorizationScopeTests {
    @Test(
        "Basic is sent unasked at and below the folder that asked (RFC 7617 §2.2)",
        arguments: [
            ("http://h/a/b/c", "http://h/a/b/d/e", true), ("http://h/a/b/c", "http://h/a/b/", true),
            ("http://h/a/b/c", "http://h/a/b", false), ("http://h/a/b/c", "http://h/a/bc", false),
            ("http://h/a/b/c", "http://h/a/b/../x", false), ("http://h/a", "http://h/x?y", true),
            ("http://h", "http://h/x", true), ("http://h/a/?p=/x/", "http://h/b", false),
        ]
    )
    func folders(asked: String, wanted: String, isCovered: Bool) throws {
        #expect(
            (Authorizer.covered(of: try url(wanted), by: Authorizer.folder(of: try url(asked))) != nil) == isCovered
        )
    }

    @Test(
        "Digest is sent unasked where `domain` says, on the same server, else on all of it (RFC 7616 §3.3)",
        arguments: [
            (nil, "http://h/x", true), ("", "http://h/x", true), ("/a", "http://h/a/b", true),
            ("/a", "http://h/b", false),
            ("/a http://h:80/b", "http://h/b/c", true), ("http://other/a", "http://h/a", false),
        ] as [(String?, String, Bool)]
    )
    func domains(list: String?, wanted: String, isCovered: Bool) throws {
        let paths = Authorizer.domain(list, try url("http://h/x/y"))
        #expect((Authorizer.covered(of: try url(wanted), by: paths) != nil) == isCovered)
    }

    @Test("a `domain` of more than 32 URLs, or of more than 8 KiB of paths, is the whole server")
    func longDomains() throws {
        let place = try url("http://h/x/y")
        func paths(_ count: Int, _ place: HTTPURL) -> [String] {
            Authorizer.domain((0..<count).map { "p\($0)" }.joined(separator: "  "), place)
        }
        #expect(paths(32, place) == (0..<32).map { "/x/p\($0)" })
        #expect(paths(33, place) == ["/"])
        // Each relative URL repeats the path of the request.
        let folder = String(repeating: "f", count: 1000)
        let long = try url("http://h/\(folder)/y")
        #expect(paths(8, long) == (0..<8).map { "/\(folder)/p\($0)" })
        #expect(paths(9, long) == ["/"])
        #expect(Authorizer.domain("a", try url("http://h/\(String(repeating: "f/", count: 15_000))")) == ["/"])
        // URLs of other servers are not kept.
        let other = String(repeating: "o", count: 9000)
        #expect(Authorizer.domain("http://other/\(other) /a", place) == ["/a"])
    }
}
