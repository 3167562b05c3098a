import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Remembered authorizations")
struct AuthorizationMemoryTests {
    private func value(_ memory: inout AuthorizationMemory, _ place: String) throws -> String? {
        memory.authorization(for: try url(place), method: "GET", target: "/", content: nil)?.value
    }

    @Test("an accepted answer goes out unasked, to the same server and scope only")
    func scope() throws {
        var memory = AuthorizationMemory()
        #expect(try value(&memory, "http://h.example/dir/x") == nil)
        let place = "http://h.example/dir/index.html"
        memory.remember(try AuthorizerTests.authorizer("Basic realm=x", at: place), for: try url(place))
        #expect(try value(&memory, "http://h.example/dir/x")?.hasPrefix("Basic ") == true)
        #expect(try value(&memory, "HTTP://H.example:80/dir/x")?.hasPrefix("Basic ") == true)
        for other in [
            "http://h.example/other", "https://h.example/dir/x", "http://h.example:81/dir/x",
            "http://www.h.example/dir/x",
        ] {
            #expect(try value(&memory, other) == nil, "\(other)")
        }
    }

    @Test("a Digest answer counts on through the memory, and takes up the next nonce")
    func counting() throws {
        var memory = AuthorizationMemory()
        let place = try url("http://h.example/")
        memory.remember(try AuthorizerTests.authorizer(#"Digest realm="r", nonce="n", qop="auth""#), for: place)
        #expect(try value(&memory, "http://h.example/a")?.contains("nc=00000001") == true)
        #expect(try value(&memory, "http://h.example/b")?.contains("nc=00000002") == true)
        memory.note(fields(("Authentication-Info", #"nextnonce="m""#)), for: place)
        let next = try #require(try value(&memory, "http://h.example/c"))
        #expect(next.contains(#"nonce="m""#) && next.contains("nc=00000001"))
    }

    @Test("what was refused is forgotten; the rest is not")
    func forgetting() throws {
        var memory = AuthorizationMemory()
        let place = try url("http://h.example/")
        let first = try AuthorizerTests.authorizer(#"Digest realm="r", nonce="n", qop="auth""#)
        memory.remember(first, for: place)
        memory.forget(try AuthorizerTests.question("Basic realm=r").space, for: place)
        #expect(memory.authorizer(for: place, first.space) != nil)
        memory.forget(first.space, for: place)
        #expect(memory.isEmpty)
    }

    @Test("of two realms, the one whose scope covers more answers")
    func nested() throws {
        var memory = AuthorizationMemory()
        for (realm, place) in [("inner", "http://h.example/a/b/"), ("outer", "http://h.example/a/")] {
            memory.remember(try AuthorizerTests.authorizer("Basic realm=\(realm)", at: place), for: try url(place))
        }
        let place = try url("http://h.example/a/b/c")
        #expect(memory.authorization(for: place, method: "GET", target: "/", content: nil)?.space.realm == "inner")
        let above = try url("http://h.example/a/c")
        #expect(memory.authorization(for: above, method: "GET", target: "/", content: nil)?.space.realm == "outer")
    }

    @Test("the next nonce is for the realm that the request had answered")
    func nextNonceOfOuter() throws {
        var memory = AuthorizationMemory()
        let authorizers = try [("inner", "/a/b/"), ("outer", "/a/")].map { realm, path in
            let challenge = #"Digest realm="\#(realm)", domain="\#(path)", nonce="n", qop="auth""#
            let place = "http://h.example\(path)"
            let authorizer = try AuthorizerTests.authorizer(challenge, at: place)
            memory.remember(authorizer, for: try url(place))
            return authorizer
        }
        let news = fields(("Authentication-Info", #"nextnonce="m""#))
        memory.note(news, for: try url("http://h.example/a/b/c"), in: authorizers[1].space)
        #expect(try value(&memory, "http://h.example/a/b/c")?.contains(#"nonce="n""#) == true)
        #expect(try value(&memory, "http://h.example/a/c")?.contains(#"nonce="m""#) == true)
    }

    @Test("a server that makes up realms fills no memory")
    func limits() throws {
        var memory = AuthorizationMemory()
        let place = try url("http://h.example/dir/index.html")
        for number in 0..<100 {
            memory.remember(try AuthorizerTests.authorizer("Basic realm=r\(number)"), for: place)
        }
        #expect(memory.authorizer(for: place, try AuthorizerTests.question("Basic realm=r0").space) == nil)
        #expect(memory.authorizer(for: place, try AuthorizerTests.question("Basic realm=r99").space) != nil)
    }
}
