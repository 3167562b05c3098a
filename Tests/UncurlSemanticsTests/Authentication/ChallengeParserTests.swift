import TestSupport
import Testing
import UncurlHTTP1
import UncurlSemantics

@Suite("Challenges")
struct ChallengeParserTests {
    struct Expected: Equatable, Sendable {
        var scheme: String
        var token68: String?
        var parameters: [String: String] = [:]
    }

    private func read(_ lines: [String]) throws -> [Expected] {
        var fields = HTTPFields()
        for line in lines { try fields.append("Proxy-Authenticate", line) }
        return AuthenticationChallenge.all(in: fields, "proxy-authenticate").map {
            Expected(scheme: $0.scheme, token68: $0.token68, parameters: $0.parameters)
        }
    }

    @Test(
        "challenges come apart at the commas that part challenges, and at no others",
        arguments: [
            (
                #"Basic realm="a, b", Digest realm=x, nonce="y""#,
                [
                    Expected(scheme: "basic", parameters: ["realm": "a, b"]),
                    Expected(scheme: "digest", parameters: ["realm": "x", "nonce": "y"]),
                ]
            ),
            ("Negotiate", [Expected(scheme: "negotiate")]),
            (
                "Negotiate, Basic realm=x",
                [Expected(scheme: "negotiate"), Expected(scheme: "basic", parameters: ["realm": "x"])]
            ),
            (
                #"Bearer abc==, Basic realm="""#,
                [Expected(scheme: "bearer", token68: "abc=="), Expected(scheme: "basic", parameters: ["realm": ""])]
            ),
            (#"Newauth a=b,, c="d\"e""#, [Expected(scheme: "newauth", parameters: ["a": "b", "c": #"d"e"#])]),
            (
                #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
                [
                    Expected(
                        scheme: "newauth",
                        parameters: ["realm": "apps", "type": "1", "title": #"Login to "apps""#]
                    ),
                    Expected(scheme: "basic", parameters: ["realm": "simple"]),
                ]
            ),
            ("BASIC REALM=x", [Expected(scheme: "basic", parameters: ["realm": "x"])]),
            (
                "Basic realm = \"x\"\t, charset=\t\"UTF-8\"",
                [Expected(scheme: "basic", parameters: ["realm": "x", "charset": "UTF-8"])]
            ),
            (", , Basic realm=x,", [Expected(scheme: "basic", parameters: ["realm": "x"])]),
            (
                "NTLM TlRMTVNTUAAC=, Basic realm=x",
                [
                    Expected(scheme: "ntlm", token68: "TlRMTVNTUAAC="),
                    Expected(scheme: "basic", parameters: ["realm": "x"]),
                ]
            ),
            ("A a=, B", [Expected(scheme: "a", token68: "a="), Expected(scheme: "b")]),
            ("", []),
        ]
    )
    func readable(line: String, expected: [Expected]) throws {
        #expect(try read([line]) == expected)
    }

    @Test(
        "a broken challenge takes the rest of its line with it, and nothing before",
        arguments: [
            #"Basic realm="x", Digest realm="open"#,
            #"Basic realm="x", Digest realm="open\"#,
            #"Basic realm="x", Digest realm="a" nonce="b", Negotiate"#,
            #"Basic realm="x", Digest realm=;, nonce=b"#,
            #"Basic realm="x", Digest realm="a"b"#,
            #"Basic realm="x", Two words here, Negotiate"#,
            #"Basic realm="x", Negotiate /;, Other"#,
            #"Basic realm="x", Digest/1 a=b"#,
        ]
    )
    func broken(line: String) throws {
        #expect(try read([line]) == [Expected(scheme: "basic", parameters: ["realm": "x"])])
    }

    @Test("a challenge that names a parameter twice is left out, and the next one is read")
    func repeated() throws {
        let line = #"Digest realm="a", REALM="b", Basic realm=x"#
        #expect(try read([line]) == [Expected(scheme: "basic", parameters: ["realm": "x"])])
    }

    @Test("a challenge of more parameters than any scheme has is left out")
    func many() throws {
        let flood = (0..<33).map { "p\($0)=1" }.joined(separator: ", ")
        #expect(try read(["Digest \(flood), Basic realm=x"]) == [Expected(scheme: "basic", parameters: ["realm": "x"])])
    }

    @Test("each line of the field is read by itself, in their order")
    func lines() throws {
        let lines = [#"Digest realm="a"#, "Negotiate", "Basic realm=x"]
        #expect(try read(lines).map(\.scheme) == ["negotiate", "basic"])
    }

    @Test("any mixture of a challenge's pieces is read to the same end twice, and names every scheme in lower case")
    func mixtures() throws {
        let pieces = [
            "Basic", "digest", " ", ",", "=", "\"", "\\", "realm", "a", "==", "\t", "/", ";", "x=y", "\u{FC}",
        ]
        var random = SplitMix(seed: 5)
        for _ in 0..<5_000 {
            let line = (0..<Int.random(in: 0...20, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            let once = try read([line])
            #expect(try read([line]) == once, "\(line)")
            #expect(once.allSatisfy { !$0.scheme.isEmpty && $0.scheme == $0.scheme.lowercased() }, "\(line)")
            // Written down in its plainest form, what was read is read again.
            for challenge in once where challenge.token68 == nil {
                let parameters = challenge.parameters.map { name, value in
                    let quoted = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                    return "\(name)=\"\(quoted)\""
                }
                let again = try read(["\(challenge.scheme) \(parameters.joined(separator: ", "))"])
                #expect(again == [challenge], "\(line)")
            }
        }
    }
}
